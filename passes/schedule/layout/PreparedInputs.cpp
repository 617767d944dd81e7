//===- PreparedInputs.cpp - inputs that the model prepares before their layout changes ----------------------------===//
//
// Networks of images often normalise or quantise what they are given, channel by channel, in front of a convolution
// that wants the channels innermost. The copy into that order can do the work on its way.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/layout/PreparedInputs.h"
#include "passes/Constants.h"
#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k {

/// Wider pixels are copied tile by tile, which work on the way would hinder.
static constexpr int64_t mostChannels = 8;

/// Longer chains are no preparation.
static constexpr int mostOperations = 16;

/// Elementwise work in the order of its result, read by one operation.
static linalg::GenericOp stepOf(Value value) {
  auto step = value.getDefiningOp<linalg::GenericOp>();
  return step && step->hasOneUse() && step->getNumResults() == 1 && step.getNumDpsInputs() > 0 && isPlain(step) &&
                 step.getNumReductionLoops() == 0 && !step.hasIndexSemantics() &&
                 step.getMatchingIndexingMap(step.getDpsInitOperand(0)).isIdentity() &&
                 !step.payloadUsesValueFromOperand(step.getDpsInitOperand(0))
             ? step
             : nullptr;
}

/// The step that makes an operand in the same order.
static linalg::GenericOp stepBefore(linalg::GenericOp step, OpOperand &input) {
  linalg::GenericOp const before = stepOf(input.get());
  return before && before->getBlock() == step->getBlock() && step.getMatchingIndexingMap(&input).isIdentity() ? before
                                                                                                              : nullptr;
}

/// The steps behind the last one, the last first; none if they start from more than arguments and weights.
static SmallVector<linalg::GenericOp> stepsOf(linalg::GenericOp last) {
  SmallVector<linalg::GenericOp> steps{last};
  for (size_t i = 0; i < steps.size(); ++i)
    for (OpOperand *input : steps[i].getDpsInputOperands())
      if (linalg::GenericOp const before = stepBefore(steps[i], *input))
        steps.push_back(before);
      else if (steps.size() > mostOperations ||
               !(isa<BlockArgument>(input->get()) || isUniform(input->get()) || weightBehind(input->get()) ||
                 matchPattern(input->get(), m_Constant())))
        return {};
  return steps;
}

bool prepareInNewOrder(linalg::TransposeOp transpose) {
  if (!transpose.hasPureTensorSemantics())
    return false;
  auto const type = cast<RankedTensorType>(transpose->getResult(0).getType());
  linalg::GenericOp const last = stepOf(transpose.getInput());
  int64_t const channels = type.getRank() == 0 ? 0 : type.getShape().back();
  if (!last || last->getBlock() != transpose->getBlock() || ShapedType::isDynamic(channels) || channels > mostChannels)
    return false;
  SmallVector<linalg::GenericOp> const steps = stepsOf(last);
  if (steps.empty() || llvm::none_of(steps, [](linalg::GenericOp step) {
        return llvm::any_of(step.getInputs(), llvm::IsaPred<BlockArgument>);
      }))
    return false;

  IRRewriter builder(transpose);
  // Loop p of the old order is loop i of the new one where dimension i of the result was dimension p
  AffineMap const turn =
      AffineMap::getPermutationMap(invertPermutationVector(transpose.getPermutation()), type.getContext());
  SmallVector<OpFoldResult> const sizes = tensor::getMixedSizes(builder, transpose.getLoc(), transpose.getInit());
  IRMapping made;
  for (linalg::GenericOp step : llvm::reverse(steps)) { // each before those that read it
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : step.getDpsInputOperands()) {
      bool const isMade = made.contains(input->get()) && step.getMatchingIndexingMap(input).isIdentity();
      inputs.push_back(isMade ? made.lookup(input->get()) : input->get());
      maps.push_back(isMade ? step.getMatchingIndexingMap(input) : step.getMatchingIndexingMap(input).compose(turn));
    }
    maps.push_back(builder.getMultiDimIdentityMap(step.getNumLoops()));
    Type const element = getElementTypeOrSelf(step->getResult(0).getType());
    Location const loc = step == last ? builder.getFusedLoc({step.getLoc(), transpose.getLoc()}) : step.getLoc();
    Value const init = builder.create<tensor::EmptyOp>(loc, sizes, element);
    auto turned = builder.create<linalg::GenericOp>(loc, TypeRange(init.getType()), inputs, init, maps,
                                                    step.getIteratorTypesArray());
    builder.cloneRegionBefore(step.getRegion(), turned.getRegion(), turned.getRegion().begin());
    made.map(step->getResult(0), turned->getResult(0));
  }
  builder.replaceOp(transpose, made.lookup(last->getResult(0)));
  for (linalg::GenericOp step : steps)
    builder.eraseOp(step);
  return true;
}

} // namespace ml2k
