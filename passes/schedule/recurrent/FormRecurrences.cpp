//===- FormRecurrences.cpp - loops over the steps of a recurrent layer become one kernel --------------------------===//
//
// LSTM, RNN and most GRU: each step multiplies the state by a constant and does elementwise work on the result. As one
// kernel the weights stay in a cache from step to step, and no step is launched. The elementwise kernels of a step are
// read backwards from what it yields, and become the scalar code of one element (n, j) of the state.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/schedule/recurrent/Recurrence.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORMRECURRENCES
#include "passes/Passes.h.inc"

namespace {

void setRole(Operation *op, StringRef role) { op->setAttr("nest.role", StringAttr::get(op->getContext(), role)); }

/// What a value is a part of, or another shape of; null for others.
Value wholeOf(Value value) {
  Operation *const op = value.getDefiningOp();
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op) ? op->getOperand(0)
                                                                                                     : Value();
}

/// The number that all of `init` is; null if it is not the same everywhere, or known.
TypedAttr numberOf(Value init) {
  while (Value const whole = wholeOf(init))
    init = whole;
  if (auto fill = init.getDefiningOp<nest::MapOp>()) {
    Operation *yield = fill.getBody().front().getTerminator();
    auto constant = yield->getOperand(cast<OpResult>(init).getResultNumber()).getDefiningOp<arith::ConstantOp>();
    return constant ? constant.getValue() : TypedAttr();
  }
  auto weight = init.getDefiningOp<nest::WeightOp>();
  auto const value = weight ? dyn_cast<SplatElementsAttr>(weight.getValue()) : SplatElementsAttr();
  return value ? cast<TypedAttr>(value.getSplatValue<Attribute>()) : TypedAttr();
}

/// The sizes of a part of a larger tensor, whose extents of 1 are gone; none if they are not told so.
std::optional<SmallVector<OpFoldResult>> sizesOfPart(Value part) {
  auto const type = cast<RankedTensorType>(part.getType());
  while (part.getDefiningOp<tensor::ExpandShapeOp>() || part.getDefiningOp<tensor::CollapseShapeOp>())
    part = part.getDefiningOp()->getOperand(0);
  auto slice = part.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return std::nullopt;
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  llvm::erase_if(sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); });
  if (int64_t(sizes.size()) != type.getRank())
    return std::nullopt;
  for (auto [size, extent] : llvm::zip(sizes, type.getShape()))
    if (getConstantIntValue(size).value_or(ShapedType::kDynamic) != extent)
      return std::nullopt;
  return sizes;
}

/// Memory that nobody reads before the kernel writes it.
Value unwritten(OpBuilder &builder, Location location, Value init) {
  auto const type = cast<RankedTensorType>(init.getType());
  if (type.hasStaticShape())
    return builder.create<tensor::EmptyOp>(location, type.getShape(), type.getElementType());
  if (auto const sizes = sizesOfPart(init))
    return builder.create<tensor::EmptyOp>(location, *sizes, type.getElementType());
  auto fill = init.getDefiningOp<nest::MapOp>();
  Value const target = fill ? fill.getOutputs()[cast<OpResult>(init).getResultNumber()] : init;
  auto empty = target.getDefiningOp<tensor::EmptyOp>();
  return empty ? builder.create<tensor::EmptyOp>(location, empty.getMixedSizes(), type.getElementType()) : target;
}

/// States that begin with a number: the kernel itself sets them. Nothing if there is none.
ArrayAttr startsOf(Recurrence &recurrence, Builder &builder) {
  SmallVector<Attribute> starts;
  bool hasNumber = false;
  for (auto const &output : recurrence.outputs) {
    Value const init = recurrence.loop.getInitArgs()[output.number];
    bool const isState = cast<RankedTensorType>(init.getType()).getRank() == 2;
    TypedAttr const number = isState ? numberOf(init) : TypedAttr();
    hasNumber |= bool(number);
    starts.push_back(number ? Attribute(number) : builder.getUnitAttr());
  }
  return hasNumber ? builder.getArrayAttr(starts) : ArrayAttr();
}

/// The product of the whole sequence with W belongs to the layer.
void nameProjections(nest::RecurrentOp kernel) {
  for (Value extra : kernel.getExtras()) {
    while (auto expand = extra.getDefiningOp<tensor::ExpandShapeOp>())
      extra = expand.getSrc();
    auto projection = extra.getDefiningOp<nest::ContractOp>();
    if (projection && nameFromLocation(projection.getLoc()) == nameFromLocation(kernel.getLoc()))
      setRole(projection, "projected");
  }
}

void replaceLoop(Recurrence &recurrence) {
  scf::ForOp loop = recurrence.loop;
  OpBuilder builder(loop);
  Location const location = recurrence.location();
  ArrayAttr const starts = startsOf(recurrence, builder);
  SmallVector<Value> outputs;
  SmallVector<AffineMap> maps = recurrence.extraMaps;
  for (auto const &[number, output] : llvm::enumerate(recurrence.outputs)) {
    Value const init = loop.getInitArgs()[output.number];
    bool const hasNumber = starts && !isa<UnitAttr>(starts[number]);
    outputs.push_back(hasNumber || output.isWhole ? unwritten(builder, location, init) : init);
    maps.push_back(output.map);
  }
  IntegerAttr const steps = recurrence.count ? IntegerAttr() : builder.getI64IntegerAttr(recurrence.steps);
  auto kernel = builder.create<nest::RecurrentOp>(
      location, TypeRange(ValueRange(outputs)), "", recurrence.product.getInputs()[1], recurrence.extras,
      recurrence.count, outputs, builder.getAffineMapArrayAttr(maps), steps, starts, 1);
  kernel.getNext().front().takeBody(recurrence.next);
  nameGates(kernel);
  nameProjections(kernel);
  for (auto [output, result] : llvm::zip(recurrence.outputs, kernel.getResults()))
    loop.getResult(output.number).replaceAllUsesWith(result);
  loop.erase();
}

struct FormRecurrences : impl::FormRecurrencesBase<FormRecurrences> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      Recurrence recurrence(loop);
      if (succeeded(recurrence.match()))
        replaceLoop(recurrence);
    }
  }
};

} // namespace
} // namespace ml2k
