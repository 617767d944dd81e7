//===- FuseChains.cpp - elementwise operations join the one that uses them ----------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/fuse/ConcatParts.h"
#include "passes/schedule/fuse/FusedPositions.h"
#include "passes/schedule/fuse/SparseOperands.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FUSECHAINS
#include "passes/Passes.h.inc"

namespace {

/// True if nothing but `user` reads the value: joining computes nothing twice and leaves no buffer behind.
bool isReadOnlyBy(Value value, Operation *user) {
  return llvm::all_of(value.getUsers(), [&](Operation *other) { return other == user; });
}

bool isProductOrWindow(Operation *op) { return isa_and_nonnull<nest::ConvOp, nest::ContractOp, nest::WindowOp>(op); }

/// True for elementwise work on the result of a kernel, or on such work, that nobody else reads.
bool followsKernel(linalg::GenericOp generic) {
  return generic && generic.getNumReductionLoops() == 0 && llvm::any_of(generic.getDpsInputs(), [](Value input) {
           return hasOneReader(input) &&
                  (isProductOrWindow(input.getDefiningOp()) || followsKernel(input.getDefiningOp<linalg::GenericOp>()));
         });
}

/// Whether the reader takes every element several times, as an image that grows does.
bool repeats(linalg::GenericOp reader, OpOperand &operand) {
  AffineMap const map = reader.getMatchingIndexingMap(&operand);
  return llvm::any_of(llvm::enumerate(reader.getStaticLoopRanges()),
                      [&](auto loop) { return loop.value() != 1 && !map.isFunctionOfDim(loop.index()); });
}

/// What follows one kernel belongs to that kernel, even if its reader joins the results of two, repeats them, or puts
/// them in another order: a bias stays with its convolution.
bool isEpilogue(linalg::GenericOp producer, OpOperand &operand) {
  auto reader = cast<linalg::GenericOp>(operand.getOwner());
  llvm::SmallPtrSet<Value, 4> joined;
  for (Value input : reader.getDpsInputs())
    if (!isUniform(input) && !isa_and_nonnull<nest::WeightOp>(input.getDefiningOp()))
      joined.insert(input);
  bool const rearranges = llvm::any_of(reader.getMatchingIndexingMap(&operand).getResults(),
                                       [](AffineExpr expr) { return !isa<AffineDimExpr, AffineConstantExpr>(expr); });
  return (joined.size() > 1 || rearranges || repeats(reader, operand)) && followsKernel(producer);
}

struct FuseChains : impl::FuseChainsBase<FuseChains> {
  void runOnOperation() override {
    if (hasSparseOperands(getOperation())) // all on memrefs
      return;
    workOnParts(getOperation());
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      // Reductions are joined later, by rows; here chains stay elementwise
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      return consumer && producer && consumer.getNumReductionLoops() == 0 && isReadOnlyBy(operand->get(), consumer) &&
             fitOneKernel(*producer.getBody(), *consumer.getBody()) && !isEpilogue(producer, *operand) &&
             !finishesTotal(producer, consumer);
    });
    populateFusedPositions(patterns);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
