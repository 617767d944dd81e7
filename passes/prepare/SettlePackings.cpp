//===- SettlePackings.cpp - the extents of packed weights ---------------------------------------------------------===//

#include "passes/prepare/Prepare.h"
#include "translator/ir/StoredSums.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_SETTLEPACKINGS
#include "passes/prepare/Passes.h.inc"

/// Hosts may multiply bf16 in pairs where both factors are, and so integers of 16 bits, or bytes and such, that are
/// summed up in 32.
static bool isPaired(nest::WeightOp weight) {
  auto const isBfloat = [](Value value) { return getElementTypeOrSelf(value).isBF16(); };
  auto const isShort = [](Value value) { return getElementTypeOrSelf(value).isInteger(16); };
  auto const sumOf = [](Operation *user) {
    return cast<nest::Kernel>(user).getStoringRegion().getArgument(0).getType();
  };
  if (isBfloat(weight.getResult()))
    return llvm::all_of(weight->getUsers(), [&](Operation *user) { return isBfloat(user->getOperand(0)); });
  return (isShort(weight.getResult()) || getElementTypeOrSelf(weight.getResult()).isInteger(8)) &&
         llvm::all_of(weight->getUsers(), [&](Operation *user) {
           return isa<nest::ConvOp, nest::ContractOp>(user) && isShort(user->getOperand(0)) &&
                  sumOf(user).isInteger(32);
         });
}

/// Of O (C / groups) R S; the phases of a transposed convolution are groups, too. Where channels come first they stay
/// in front of rows and columns.
static nest::PanelExtents extentsOf(nest::WeightOp weight, nest::ConvOp conv) {
  ArrayRef<int64_t> const shape = cast<MemRefType>(weight.getType()).getShape();
  if (conv.getChannelsFirst())
    return {.outputs = shape[0], .depth = shape[1] * shape[2] * shape[3]};
  return {.outputs = shape[0],
          .depth = shape[1],
          .rows = shape[2],
          .columns = shape[3],
          .groups = int64_t(conv.getGroups()) * conv.getPhases()};
}

/// Of the loops that address the weight: those over n side by side, and those over k.
static FailureOr<nest::PanelExtents> extentsOf(nest::WeightOp weight, nest::ContractOp contract) {
  nest::PanelExtents extents;
  SmallVector<nest::Role> order;
  auto const type = cast<MemRefType>(weight.getType());
  for (auto [expr, extent] : llvm::zip(contract.getMaps()[1].getResults(), type.getShape())) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return contract.emitError("a packed weight is not addressed by loops alone");
    nest::Role const role = contract.getRole(dim.getPosition());
    (role == nest::Role::K ? extents.depth : extents.outputs) *= extent;
    if (order.empty() || order.back() != role)
      order.push_back(role);
  }
  bool const isMatrix = llvm::all_of(order, [](nest::Role r) { return r == nest::Role::N || r == nest::Role::K; });
  if (order.empty() || order.size() > 2 || !isMatrix)
    return contract.emitError("a packed weight requires its n loops side by side and its k loops side by side");
  extents.depthFirst = order.size() == 2 && order[0] == nest::Role::K;
  if (std::optional<int64_t> const columns = nest::columnsOfPart(contract))
    extents.groups = extents.outputs / *columns;
  return extents;
}

/// As the first convolution or contraction that reads the weight requires.
static FailureOr<nest::PanelExtents> extentsOf(nest::WeightOp weight) {
  for (Operation *user : weight->getUsers()) {
    if (auto conv = dyn_cast<nest::ConvOp>(user))
      return extentsOf(weight, conv);
    if (auto contract = dyn_cast<nest::ContractOp>(user))
      return extentsOf(weight, contract);
  }
  return weight.emitError("packed in panels, but read by no convolution or contraction");
}

namespace {
struct SettlePackings : impl::SettlePackingsBase<SettlePackings> {
  void runOnOperation() override {
    WalkResult const result = getOperation().walk([](nest::WeightOp weight) {
      auto const packing = weight.getPacking();
      if (!packing || packing->getKind() != nest::PackingKind::Panels || packing->isSettled())
        return WalkResult::advance();
      FailureOr<nest::PanelExtents> const extents = extentsOf(weight);
      if (failed(extents))
        return WalkResult::interrupt();
      weight.setPackingAttr(packing->with(*extents, isPaired(weight)));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

} // namespace ml2k
