//===- JoinBiases.cpp - a bias lies with the weights whose sums it is added to ------------------------------------===//
//
// A block that adds the bias to its sums as it starts them spares the epilogue an addition and a read. The epilogue
// keeps the addition: comments of the printed code show it, and the operation verifies by itself.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINBIASES
#include "passes/prepare/Passes.h.inc"

/// The loop of a kernel that runs along the outputs of its weights; none if several do.
static std::optional<unsigned> outputLoop(nest::ContractOp contract) {
  std::optional<unsigned> loop;
  for (AffineExpr expr : contract.getMaps()[1].getResults()) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || contract.getRole(dim.getPosition()) != nest::Role::N)
      continue;
    if (loop)
      return std::nullopt;
    loop = dim.getPosition();
  }
  return loop;
}

static std::optional<unsigned> outputLoop(nest::ConvOp conv) {
  return conv.getTransposed() ? std::nullopt : std::optional<unsigned>(3); // phases share one bias
}

/// The extra that the epilogue adds to the sum before anything else, along the outputs of the weights.
template <class Kernel> static std::optional<unsigned> firstAddend(Kernel kernel) {
  std::optional<unsigned> const loop = outputLoop(kernel);
  std::optional<unsigned> const extra = nest::addedToSum(kernel.getEpilogue());
  if (!loop || !extra)
    return std::nullopt;
  unsigned const inputs = isa<nest::ContractOp>(*kernel) ? 2 : 0; // that have maps
  AffineMap const map = kernel.getMaps()[inputs + *extra];
  bool const isAlong = map.getNumResults() == 1 && map.getResult(0) == getAffineDimExpr(*loop, map.getContext());
  return isAlong ? extra : std::nullopt;
}

template <class Kernel> static bool canJoin(Kernel kernel, unsigned extra) {
  auto weight = kernel.getInputs()[1].template getDefiningOp<nest::WeightOp>();
  auto bias = kernel.getExtras()[extra].template getDefiningOp<nest::WeightOp>();
  auto const elementType = [](nest::WeightOp op) { return cast<MemRefType>(op.getType()).getElementType(); };
  return weight && weight.getPacking() && weight.getPacking()->getKind() == nest::PackingKind::Panels &&
         weight->hasOneUse() && bias && !bias.getPacking() && bias->hasOneUse() &&
         elementType(bias) == elementType(weight);
}

template <class Kernel> static void join(Kernel kernel) {
  std::optional<unsigned> const extra =
      kernel.getBias() ? std::optional<unsigned>(*kernel.getBias()) : firstAddend(kernel);
  if (!extra || !canJoin(kernel, *extra))
    return;
  kernel.setBias(*extra);
  Operation *weight = kernel.getInputs()[1].getDefiningOp();
  kernel.getExtras()[*extra].getDefiningOp()->moveAfter(weight);
}

namespace {
struct JoinBiases : impl::JoinBiasesBase<JoinBiases> {
  void runOnOperation() override {
    getOperation().walk([](nest::ConvOp conv) { join(conv); });
    getOperation().walk([](nest::ContractOp contract) { join(contract); });
  }
};
} // namespace

} // namespace ml2k
