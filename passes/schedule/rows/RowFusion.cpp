//===- RowFusion.cpp - operations that share rows become one kernel -----------------------------------------------===//
//
// Softmax, layer norm, means: whatever reduces along the last loop takes what is computed before and after it per
// element into one kernel.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/rows/RowFusion.h"
#include "passes/Passes.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORMROWS
#include "passes/Passes.h.inc"

namespace {
/// The group of a reduction with a plan that computes nothing expensive twice.
std::optional<std::pair<RowGroup, RowPlan>> groupOf(linalg::GenericOp reduction) {
  auto group = RowGroup::start(reduction);
  if (!group)
    return std::nullopt;
  group->grow();
  if (group->isForAllThreads())
    return std::nullopt;
  RowPlan plan = RowPlan::of(*group);
  while (plan.tooExpensive) {
    group->remove(plan.tooExpensive);
    plan = RowPlan::of(*group);
  }
  if (plan.outputs.empty())
    return std::nullopt;
  return std::make_pair(*group, plan);
}

/// A reshape of a reshape as one: between them the shapes of a group's members may differ by more than extents of 1.
void joinReshapes(RewriterBase &rewriter, Operation *root) {
  root->walk([&](Operation *op) {
    Operation *first = op->getNumOperands() != 0 ? op->getOperand(0).getDefiningOp() : nullptr;
    auto const isReshape = [](Operation *o) {
      return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(o);
    };
    if (!isReshape(op) || !isReshape(first))
      return;
    auto const from = cast<RankedTensorType>(first->getOperand(0).getType());
    auto const to = cast<RankedTensorType>(op->getResult(0).getType());
    auto const groups = from.hasStaticShape() && to.hasStaticShape() && from.getRank() != to.getRank()
                            ? getReassociationIndicesForReshape(from, to)
                            : std::nullopt;
    rewriter.setInsertionPoint(op);
    if (from == to)
      rewriter.replaceAllUsesWith(op->getResult(0), first->getOperand(0));
    else if (groups && from.getRank() < to.getRank())
      rewriter.replaceAllUsesWith(
          op->getResult(0),
          rewriter.create<tensor::ExpandShapeOp>(op->getLoc(), to, first->getOperand(0), *groups).getResult());
    else if (groups)
      rewriter.replaceAllUsesWith(
          op->getResult(0),
          rewriter.create<tensor::CollapseShapeOp>(op->getLoc(), to, first->getOperand(0), *groups).getResult());
  });
  eraseDead(rewriter, root);
}

struct FormRows : impl::FormRowsBase<FormRows> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    joinReshapes(rewriter, getOperation());
    llvm::SetVector<Operation *> reductions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() != 0)
        reductions.insert(op);
    });
    llvm::DenseSet<Operation *> taken;
    for (Operation *op : reductions) {
      if (taken.contains(op))
        continue;
      auto const found = groupOf(cast<linalg::GenericOp>(op));
      if (!found)
        continue;
      std::vector<RowMember> const members = found->first.ordered();
      if (emitRow(rewriter, found->first, found->second))
        for (RowMember const &member : members)
          taken.insert(const_cast<RowMember &>(member).op);
    }
    eraseDead(rewriter, getOperation());
  }
};
} // namespace
} // namespace ml2k
