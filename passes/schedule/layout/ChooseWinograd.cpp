//===- ChooseWinograd.cpp - which 3 x 3 convolutions are computed by Winograd's method ----------------------------===//
//
// A square of n x n results costs (n + 2)^2 multiplications for every pair of channels instead of 9 n^2, but its window
// and its products are transformed, and (n + 2)^2 / 9 times the weights come from memory. Weights are transformed at
// load.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "translator/ir/StoredSums.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CHOOSEWINOGRAD
#include "passes/Passes.h.inc"

namespace {

/// Costs in multiply-adds of a core, fitted on AVX2 and AVX-512 machines; docs/performance.md has the figures.
constexpr int64_t transformCost = 6;  ///< of an element of a window or a product
constexpr int64_t weightCost = 12;    ///< of an element of the weights
constexpr int64_t leastGain = 6;      ///< in fifths of the cost: 20 % pay for the larger error
constexpr int64_t leastChannels = 16; ///< the transforms work on so many channels at a time

bool isCandidate(nest::ConvOp conv) {
  auto const isAll = [](ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [=](int64_t value) { return value == wanted; });
  };
  auto const filter = cast<ShapedType>(conv.getInputs()[1].getType());
  auto const out = cast<ShapedType>(conv.getOutputs()[0].getType());
  return filter.getElementType().isF32() && !conv.getTransposed() && !out.isDynamicDim(1) && !out.isDynamicDim(2) &&
         isAll(conv.getKernel(), 3) && isAll(conv.getStrides(), 1) && isAll(conv.getDilations(), 1) &&
         conv.getGroups() == 1 && nest::channelsPerSum(conv) == 1 && filter.getDimSize(0) % leastChannels == 0 &&
         filter.getDimSize(1) % leastChannels == 0;
}

/// Of squares of size x size results; size 1 is the direct method.
int64_t costOf(nest::ConvOp conv, int64_t size) {
  auto const out = cast<ShapedType>(conv.getOutputs()[0].getType()).getShape();
  auto const filter = cast<ShapedType>(conv.getInputs()[1].getType()).getShape();
  int64_t const images = ShapedType::isDynamic(out[0]) ? 1 : out[0];
  int64_t const squares = images * llvm::divideCeil(out[1], size) * llvm::divideCeil(out[2], size);
  int64_t const elements = (size + 2) * (size + 2);
  int64_t const channels = filter[1] * conv.getPlaneTaps(); // of all planes of a sum
  int64_t const pairs = filter[0] * channels;
  int64_t const transforms = size == 1 ? 0 : transformCost * (filter[0] + channels);
  return elements * (squares * (pairs + transforms) + weightCost * pairs);
}

/// The cheaper size, 0 if neither is cheaper than the direct method by enough.
int64_t chooseSize(nest::ConvOp conv) {
  int64_t const size = costOf(conv, 2) < costOf(conv, 4) ? 2 : 4;
  return costOf(conv, size) * leastGain < costOf(conv, 1) * 5 ? size : 0;
}

struct ChooseWinograd : impl::ChooseWinogradBase<ChooseWinograd> {
  void runOnOperation() override {
    getOperation().walk([](nest::ConvOp conv) {
      auto weight = conv.getInputs()[1].getDefiningOp<nest::WeightOp>();
      if (!weight || !weight->hasOneUse() || !weight.getPackingAttr() || !isCandidate(conv))
        return;
      int64_t const size = chooseSize(conv);
      if (size == 0)
        return;
      weight.setPackingAttr(nest::PackingAttr::get(conv.getContext(), nest::PackingKind::Panels, size));
    });
  }
};

} // namespace
} // namespace ml2k
