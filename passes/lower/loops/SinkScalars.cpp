//===- SinkScalars.cpp - kernels compute their scalars themselves -------------------------------------------------===//
//
// Common subexpression elimination moves scalar code out of kernels to the host. A kernel is to capture nothing but
// memory, sizes, arguments and loop indices; the rest it computes again, which costs less than a parameter.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_SINKSCALARS
#include "passes/Passes.h.inc"

/// Sums and products of sizes are computed once, by forward().
static bool isHostIndex(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::IndexCastOp, memref::DimOp>(op) &&
         op->getResult(0).getType().isIndex();
}

/// Whether `kernel` computes `op` itself. Structured kernels have positions for sizes of any kind.
static bool isSunk(Operation *op, Operation *kernel) {
  bool const isIndex = op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
  return isRecomputable(op) && !matchPattern(op, m_Constant()) &&
         (isa<nest::LoopKernelOp>(kernel) ? !isHostIndex(op) : !isIndex);
}

static void sinkInto(RewriterBase &rewriter, Operation *kernel) {
  for (Region &region : kernel->getRegions()) {
    SmallVector<Operation *> work;
    auto const gather = [&] {
      llvm::SmallSetVector<Operation *, 8> outside;
      region.walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (Operation *def = operand.getDefiningOp(); def && !kernel->isAncestor(def) && isSunk(def, kernel))
            outside.insert(def);
      });
      work = outside.takeVector();
    };
    for (gather(); !work.empty(); gather())
      for (Operation *op : work) {
        rewriter.setInsertionPointToStart(&region.front());
        Operation *copy = rewriter.clone(*op);
        rewriter.replaceOpUsesWithIf(op, copy->getResults(), [&](OpOperand &use) {
          return region.isAncestor(use.getOwner()->getParentRegion());
        });
      }
  }
}

namespace {
struct SinkScalars : impl::SinkScalarsBase<SinkScalars> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> kernels;
    getOperation().walk([&](Operation *op) {
      if (isa<nest::Kernel>(op))
        kernels.push_back(op);
    });
    for (Operation *kernel : kernels)
      sinkInto(rewriter, kernel);
    if (kernels.empty())
      return;
    SmallVector<Operation *> host;
    getOperation().walk([&](Operation *op) { host.push_back(op); });
    for (Operation *op : llvm::reverse(host)) // users before what they use
      if (isRecomputable(op) && op->use_empty())
        rewriter.eraseOp(op);
  }
};
} // namespace
} // namespace ml2k
