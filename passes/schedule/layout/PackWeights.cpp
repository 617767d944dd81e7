//===- PackWeights.cpp - how each weight is laid out for the kernel that streams it -------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"

#include "llvm/ADT/MapVector.h"

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

/// The operands that read a weight in one layout.
using Readers = llvm::MapVector<nest::PackingKind, SmallVector<OpOperand *>>;

struct PackWeights : impl::PackWeightsBase<PackWeights> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto conv = dyn_cast<nest::ConvOp>(op))
        note(conv.getInputsMutable()[1], isDepthwise(conv) ? nest::PackingKind::Taps : nest::PackingKind::Panels);
      else if (auto contract = dyn_cast<nest::ContractOp>(op); contract && isPackable(contract))
        note(contract.getInputsMutable()[1], nest::PackingKind::Panels);
      else if (auto recurrent = dyn_cast<nest::RecurrentOp>(op))
        for (OpOperand &weight : recurrent.getInputsMutable())
          note(weight, nest::PackingKind::Gates);
    });
    for (auto &[weight, layouts] : readers)
      for (auto &[kind, operands] : layouts)
        pack(cast<nest::WeightOp>(weight), kind, operands);
    readers.clear();
  }

  void note(OpOperand &operand, nest::PackingKind kind) {
    if (auto weight = operand.get().getDefiningOp<nest::WeightOp>())
      readers[weight][kind].push_back(&operand);
  }

  /// A weight that others read in another layout is kept for them and copied, once, for these.
  static void pack(nest::WeightOp weight, nest::PackingKind kind, ArrayRef<OpOperand *> operands) {
    auto const packing = nest::PackingAttr::get(weight.getContext(), kind);
    if (weight.getPackingAttr() == packing)
      return;
    if (llvm::hasNItems(weight->getUses(), operands.size())) {
      weight.setPackingAttr(packing);
      return;
    }
    auto own = cast<nest::WeightOp>(OpBuilder(weight).clone(*weight));
    own.setPackingAttr(packing);
    own.setName((weight.getName() + "." + stringifyPackingKind(kind)).str());
    for (OpOperand *operand : operands)
      operand->set(own.getResult());
  }

  llvm::MapVector<Operation *, Readers> readers;
};

} // namespace
} // namespace ml2k
