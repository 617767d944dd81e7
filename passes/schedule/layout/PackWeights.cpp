//===- PackWeights.cpp - how each weight is laid out for the kernel that streams it -------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/Passes.h.inc"

namespace {

bool isDepthwise(nest::ConvOp conv) {
  auto const filter = cast<ShapedType>(conv.getInputs()[1].getType());
  return conv.getGroups() > 1 && filter.getDimSize(1) == 1 && filter.getDimSize(0) == int64_t(conv.getGroups());
}

/// A contraction streams panels of a constant [n, k]; anything else reads it in order.
bool isPackable(nest::ContractOp contract) {
  return contract.getIterators().size() <= 3 && cast<ShapedType>(contract.getInputs()[1].getType()).getRank() == 2 &&
         contract.getRole(0) != nest::Role::Batch;
}

struct PackWeights : impl::PackWeightsBase<PackWeights> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto conv = dyn_cast<nest::ConvOp>(op))
        pack(conv.getInputsMutable()[1], isDepthwise(conv) ? nest::PackingKind::Taps : nest::PackingKind::Panels);
      else if (auto contract = dyn_cast<nest::ContractOp>(op); contract && isPackable(contract))
        pack(contract.getInputsMutable()[1], nest::PackingKind::Panels);
      else if (auto recurrent = dyn_cast<nest::RecurrentOp>(op))
        pack(recurrent.getInputsMutable()[0], nest::PackingKind::Gates);
    });
  }

  /// A weight that others read in another layout is kept for them and copied for this one.
  static void pack(OpOperand &operand, nest::PackingKind kind) {
    auto weight = operand.get().getDefiningOp<nest::WeightOp>();
    if (!weight)
      return;
    auto const packing = nest::PackingAttr::get(weight.getContext(), kind);
    if (weight.getPackingAttr() == packing)
      return;
    if (weight->hasOneUse()) {
      weight.setPackingAttr(packing);
      return;
    }
    auto own = cast<nest::WeightOp>(OpBuilder(weight).clone(*weight));
    own.setPackingAttr(packing);
    own.setName((weight.getName() + "." + stringifyPackingKind(kind)).str());
    operand.set(own.getResult());
  }
};

} // namespace
} // namespace ml2k
