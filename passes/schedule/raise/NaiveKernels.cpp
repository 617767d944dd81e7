//===- NaiveKernels.cpp - every structured operation is to be a kernel of its own ---------------------------------===//
//
// --schedule=naive: no layouts, no packing, no fusion. The operations stay as the front end made them; what has a
// structured form gets it, and every fill gets one user, so that bufferization copies nothing.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_NAIVEKERNELS
#include "passes/Passes.h.inc"

namespace {

template <class Op> LogicalResult toStructured(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Op> found;
  function.walk([&](Op op) { found.push_back(op); });
  for (Op op : found) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::rewriteInDestinationPassingStyle(rewriter, op)))
      return op.emitError("has no structured form; --schedule=naive does not serve it");
  }
  return success();
}

/// Each user of a fill reads, or writes over, a tensor of its own, filled where it is wanted.
void cloneFills(func::FuncOp function) {
  SmallVector<linalg::FillOp> fills;
  function.walk([&](linalg::FillOp fill) { fills.push_back(fill); });
  for (linalg::FillOp fill : fills) {
    for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
      OpBuilder builder(use.getOwner());
      Operation *copy = builder.clone(*fill);
      copy->setLoc(use.getOwner()->getLoc());
      use.set(copy->getResult(0));
    }
    fill->erase();
  }
}

/// Fills are called after the layer that they start.
void nameFills(func::FuncOp function) {
  function.walk([](linalg::FillOp fill) { fill->setAttr("nest.role", StringAttr::get(fill.getContext(), "fill")); });
}

struct NaiveKernels : impl::NaiveKernelsBase<NaiveKernels> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    IRRewriter rewriter(&getContext());
    if (failed(toStructured<tensor::GenerateOp>(rewriter, function)) ||
        failed(toStructured<tensor::PadOp>(rewriter, function)))
      return signalPassFailure();
    cloneFills(function);
    nameFills(function);
    function->setAttr("nest.naive", rewriter.getUnitAttr());
  }
};

} // namespace
} // namespace ml2k
