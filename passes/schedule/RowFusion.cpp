//===- RowFusion.cpp - operations that share rows become one kernel -------------------------------------*- C++ -*-===//
//
// Softmax, layer norm, means: whatever reduces along the last loop takes what is computed before and after it per
// element into one kernel.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/RowFusion.h"
#include "passes/Passes.h"

#include "translator/ir/Nest.h"

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
  RowPlan plan = RowPlan::of(*group);
  while (plan.tooExpensive) {
    group->remove(plan.tooExpensive);
    plan = RowPlan::of(*group);
  }
  if (plan.outputs.empty())
    return std::nullopt;
  return std::make_pair(*group, plan);
}

struct FormRows : impl::FormRowsBase<FormRows> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> reductions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() != 0)
        reductions.insert(op);
    });
    IRRewriter rewriter(&getContext());
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
