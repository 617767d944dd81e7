//===- Evaluate.cpp - runs small operations at import -------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k::frontend {

namespace {

using Elements = llvm::SmallVector<Attribute>;

/// The elements of a tensor: a constant as it is, however large, or what was computed one by one.
struct Tensor {
  DenseElementsAttr constant;
  Elements computed;

  Attribute at(int64_t offset) const {
    return !constant            ? computed[offset]
           : constant.isSplat() ? constant.getSplatValue<Attribute>()
                                : constant.getValues<Attribute>()[offset];
  }
};

using Position = llvm::SmallVector<int64_t>;

/// More steps than this are left to run time.
constexpr int64_t maxSteps = 1 << 16;

class Evaluator {
public:
  Evaluator(bool hasUnknown, Extents &extents) : hasUnknown(hasUnknown), extents(extents) {}
  LogicalResult run(Operation &op);
  Tensor const *tensor(Value value) const {
    auto const found = tensors.find(value);
    return found == tensors.end() ? nullptr : &found->second;
  }

private:
  LogicalResult runConstant(arith::ConstantOp op);
  LogicalResult runEmpty(tensor::EmptyOp op);
  LogicalResult runReshape(Operation &op);
  LogicalResult runSlice(tensor::ExtractSliceOp op);
  LogicalResult runInsert(tensor::InsertSliceOp op);
  LogicalResult runConcat(tensor::ConcatOp op);
  LogicalResult runLinalg(linalg::LinalgOp op);
  LogicalResult runPoint(linalg::LinalgOp op, ArrayRef<int64_t> loops);
  LogicalResult runScalar(Operation &op, ArrayRef<int64_t> loops);
  LogicalResult startFrom(Value result, Value other);
  Attribute element(Value tensor, ArrayRef<int64_t> position) const;
  Attribute &computed(Value tensor, ArrayRef<int64_t> position);

  bool isUnknown(Attribute value) const {
    auto const integer = dyn_cast_or_null<IntegerAttr>(value);
    return hasUnknown && integer && integer.getValue().getSignificantBits() <= 64 && Extents::isCode(integer.getInt());
  }
  /// A scalar operation on sizes that are known at run time only; null if its result cannot be told.
  Attribute compute(Operation &op, Elements const &operands);

  bool hasUnknown;
  Extents &extents;
  llvm::DenseMap<Value, Tensor> tensors;
  llvm::DenseMap<Value, Attribute> scalars;
};

} // namespace

static ArrayRef<int64_t> shapeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

static int64_t offsetOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> position) {
  int64_t offset = 0;
  for (auto [extent, index] : llvm::zip(shape, position))
    offset = offset * extent + index;
  return offset;
}

/// Calls `visit` at every position of a box, the last index fastest.
static LogicalResult forEach(ArrayRef<int64_t> shape, llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> visit) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (ShapedType::isDynamic(extent) || (count *= extent) > maxSteps)
      return failure();
  Position position(shape.size(), 0);
  for (int64_t step = 0; step < count; ++step) {
    if (failed(visit(position)))
      return failure();
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0 && ++position[dim] == shape[dim]; --dim)
      position[dim] = 0;
  }
  return success();
}

Attribute Evaluator::element(Value tensor, ArrayRef<int64_t> position) const {
  return tensors.find(tensor)->second.at(offsetOf(shapeOf(tensor), position));
}

Attribute &Evaluator::computed(Value tensor, ArrayRef<int64_t> position) {
  return tensors.find(tensor)->second.computed[offsetOf(shapeOf(tensor), position)];
}

/// The elements of another tensor, to be overwritten.
LogicalResult Evaluator::startFrom(Value result, Value other) {
  Tensor const *from = tensor(other);
  if (!from || (from->constant && from->constant.getNumElements() > maxSteps))
    return failure();
  Elements elements = from->constant ? llvm::to_vector(from->constant.getValues<Attribute>()) : from->computed;
  tensors[result] = {{}, std::move(elements)};
  return success();
}

LogicalResult Evaluator::runConstant(arith::ConstantOp op) {
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
    tensors[op] = {dense, {}};
  else
    scalars[op] = op.getValue();
  return success();
}

LogicalResult Evaluator::runEmpty(tensor::EmptyOp op) {
  if (!op.getType().hasStaticShape() || op.getType().getNumElements() > maxSteps)
    return failure();
  tensors[op] = {{}, Elements(op.getType().getNumElements())};
  return success();
}

LogicalResult Evaluator::runReshape(Operation &op) {
  if (!tensor(op.getOperand(0)))
    return failure();
  Tensor same = *tensor(op.getOperand(0));
  tensors[op.getResult(0)] = std::move(same);
  return success();
}

/// Where a position of the slice lies in the whole; nothing if the slice is dynamic.
static std::optional<std::function<Position(ArrayRef<int64_t>)>> positionInWhole(OffsetSizeAndStrideOpInterface op,
                                                                                 llvm::SmallBitVector dropped) {
  auto const offsets = getConstantIntValues(op.getMixedOffsets()), strides = getConstantIntValues(op.getMixedStrides());
  if (!offsets || !strides)
    return std::nullopt;
  return [=](ArrayRef<int64_t> position) {
    Position whole;
    size_t next = 0;
    for (size_t dim = 0; dim < offsets->size(); ++dim)
      whole.push_back((*offsets)[dim] + (dropped.test(dim) ? 0 : position[next++]) * (*strides)[dim]);
    return whole;
  };
}

LogicalResult Evaluator::runSlice(tensor::ExtractSliceOp op) {
  auto const toWhole = positionInWhole(op, op.getDroppedDims());
  if (!toWhole || !tensor(op.getSource()))
    return failure();
  Elements elements;
  LogicalResult const done = forEach(op.getType().getShape(), [&](ArrayRef<int64_t> position) {
    elements.push_back(element(op.getSource(), (*toWhole)(position)));
    return success();
  });
  tensors[op] = {{}, std::move(elements)};
  return done;
}

LogicalResult Evaluator::runInsert(tensor::InsertSliceOp op) {
  auto const toWhole = positionInWhole(op, op.getDroppedDims());
  if (!toWhole || !tensor(op.getSource()) || failed(startFrom(op, op.getDest())))
    return failure();
  return forEach(op.getSourceType().getShape(), [&](ArrayRef<int64_t> position) {
    computed(op, (*toWhole)(position)) = element(op.getSource(), position);
    return success();
  });
}

LogicalResult Evaluator::runConcat(tensor::ConcatOp op) {
  if (!op.getResultType().hasStaticShape() || op.getResultType().getNumElements() > maxSteps)
    return failure();
  tensors[op] = {{}, Elements(op.getResultType().getNumElements())};
  int64_t offset = 0;
  for (Value part : op.getInputs()) {
    if (!tensor(part))
      return failure();
    LogicalResult const done = forEach(shapeOf(part), [&](ArrayRef<int64_t> position) {
      Position whole(position);
      whole[op.getDim()] += offset;
      computed(op, whole) = element(part, position);
      return success();
    });
    if (failed(done))
      return failure();
    offset += shapeOf(part)[op.getDim()];
  }
  return success();
}

/// Whether a < b, a == b and so on holds for all sizes, or for none.
static std::optional<bool> compared(Extents const &extents, arith::CmpIPredicate predicate, Extent const &a,
                                    Extent const &b) {
  Extent const less = b - a, more = a - b;
  bool const isLess = extents.isNatural(less - 1), isMore = extents.isNatural(more - 1);
  bool const isAtMost = extents.isNatural(less), isAtLeast = extents.isNatural(more);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
  case arith::CmpIPredicate::ne:
    if (a == b || isLess || isMore)
      return (a == b) == (predicate == arith::CmpIPredicate::eq);
    return std::nullopt;
  case arith::CmpIPredicate::slt:
    return isLess ? std::optional(true) : isAtLeast ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sle:
    return isAtMost ? std::optional(true) : isMore ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sgt:
    return isMore ? std::optional(true) : isAtMost ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sge:
    return isAtLeast ? std::optional(true) : isLess ? std::optional(false) : std::nullopt;
  default:
    return std::nullopt;
  }
}

Attribute Evaluator::compute(Operation &op, Elements const &operands) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto const condition = dyn_cast<IntegerAttr>(operands[0]);
    return condition && !isUnknown(condition) ? operands[condition.getValue().isZero() ? 2 : 1] : Attribute();
  }
  llvm::SmallVector<Extent> values;
  for (Attribute operand : operands) {
    auto const integer = dyn_cast<IntegerAttr>(operand);
    if (!integer)
      return {};
    values.push_back(extents.decode(integer.getInt()));
  }
  Builder builder(op.getContext());
  Type const type = op.getResult(0).getType();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto const holds = compared(extents, compare.getPredicate(), values[0], values[1]);
    return holds ? builder.getIntegerAttr(type, *holds) : Attribute();
  }
  bool const isNatural = llvm::all_of(values, [&](Extent const &value) { return extents.isNatural(value); });
  bool const isDivision = values.size() == 2 && isNatural && !(values[1] == Extent());
  std::optional<Extent> const result =
      llvm::TypeSwitch<Operation *, std::optional<Extent>>(&op)
          .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>([&](Operation *) { return values[0]; })
          .Case([&](arith::AddIOp) { return values[0] + values[1]; })
          .Case([&](arith::SubIOp) { return values[0] - values[1]; })
          .Case([&](arith::MulIOp) { return values[0] * values[1]; })
          .Case<arith::DivSIOp, arith::FloorDivSIOp>([&](Operation *) {
            return isDivision ? std::optional(extents.quotient(values[0], values[1])) : std::nullopt;
          })
          .Case([&](arith::RemSIOp) {
            return isDivision ? std::optional(values[0] - values[1] * extents.quotient(values[0], values[1]))
                              : std::nullopt;
          })
          .Case<arith::MaxSIOp, arith::MinSIOp>([&](Operation *op) -> std::optional<Extent> {
            auto const isLess = compared(extents, arith::CmpIPredicate::sle, values[0], values[1]);
            return isLess ? std::optional(values[*isLess == isa<arith::MaxSIOp>(op)]) : std::nullopt;
          })
          .Default([](Operation *) { return std::nullopt; });
  bool const fits = type.isIndex() || type.getIntOrFloatBitWidth() >= 32;
  return result && fits ? builder.getIntegerAttr(type, extents.encode(*result)) : Attribute();
}

static bool isTrue(Attribute value) {
  auto const integer = dyn_cast_or_null<IntegerAttr>(value);
  return integer && integer.getType().isInteger(1) && integer.getValue().isOne();
}

/// A scalar operation, by its folder.
LogicalResult Evaluator::runScalar(Operation &op, ArrayRef<int64_t> loops) {
  Builder builder(op.getContext());
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    scalars[index] = builder.getIndexAttr(loops[index.getDim()]);
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Position position;
    for (Value index : extract.getIndices()) {
      auto const at = dyn_cast_or_null<IntegerAttr>(scalars.lookup(index));
      int64_t const extent = shapeOf(extract.getTensor())[position.size()];
      if (!at || at.getInt() < 0 || at.getInt() >= extent)
        return failure();
      position.push_back(at.getInt());
    }
    if (!tensor(extract.getTensor()))
      return failure();
    scalars[extract] = element(extract.getTensor(), position);
    return success();
  }
  if (op.getNumRegions() != 0 || op.getNumResults() != 1)
    return failure();
  Elements operands;
  for (Value operand : op.getOperands())
    operands.push_back(scalars.lookup(operand));
  if (isa<arith::OrIOp>(op)) // one that is known to hold is enough
    if (auto const *known = llvm::find_if(operands, isTrue); known != operands.end()) {
      scalars[op.getResult(0)] = *known;
      return success();
    }
  if (llvm::is_contained(operands, Attribute()))
    return failure();
  if (llvm::any_of(operands, [&](Attribute a) { return isUnknown(a); })) {
    Attribute const value = compute(op, operands);
    scalars[op.getResult(0)] = value;
    bool const mayBeOpen = isa<arith::CmpIOp>(op) && llvm::all_of(op.getUsers(), llvm::IsaPred<arith::OrIOp>);
    return success(value != Attribute() || mayBeOpen);
  }
  if (auto narrow = dyn_cast<arith::TruncFOp>(op)) { // whose folder wants a value that needs no rounding
    auto const value = dyn_cast<FloatAttr>(operands[0]);
    if (!value)
      return failure();
    auto type = cast<FloatType>(narrow.getType());
    APFloat rounded = value.getValue();
    bool isInexact = false;
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
    scalars[narrow] = FloatAttr::get(type, rounded);
    return success();
  }
  llvm::SmallVector<OpFoldResult> results;
  // A folder may replace a value by an operand, or change its operation in place and return nothing
  if (failed(op.fold(operands, results)) || results.size() != 1)
    return failure();
  Attribute const value =
      isa<Attribute>(results[0]) ? cast<Attribute>(results[0]) : scalars.lookup(cast<Value>(results[0]));
  scalars[op.getResult(0)] = value;
  return success(value != Attribute());
}

LogicalResult Evaluator::runPoint(linalg::LinalgOp op, ArrayRef<int64_t> loops) {
  Block &body = op->getRegion(0).front();
  auto positionOf = [&](OpOperand &operand) { return op.getMatchingIndexingMap(&operand).compose(loops); };
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument const argument = body.getArgument(operand.getOperandNumber());
    if (!isa<RankedTensorType>(operand.get().getType()))
      scalars[argument] = scalars.lookup(operand.get());
    else if (op.isDpsInit(&operand))
      scalars[argument] = element(
          op->getResult(op->getNumResults() - op->getNumOperands() + operand.getOperandNumber()), positionOf(operand));
    else
      scalars[argument] = element(operand.get(), positionOf(operand));
  }
  for (Operation &scalar : body.without_terminator())
    if (failed(isa<arith::ConstantOp>(scalar) ? runConstant(cast<arith::ConstantOp>(scalar))
                                              : runScalar(scalar, loops)))
      return failure();
  for (auto [result, yielded, init] :
       llvm::zip(op->getResults(), body.getTerminator()->getOperands(), op.getDpsInitsMutable())) {
    Attribute const value = scalars.lookup(yielded);
    if (!value)
      return failure();
    computed(result, positionOf(init)) = value;
  }
  return success();
}

LogicalResult Evaluator::runLinalg(linalg::LinalgOp op) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !tensor(operand))
      return failure();
  for (auto [result, init] : llvm::zip(op->getResults(), op.getDpsInits()))
    if (failed(startFrom(result, init)))
      return failure();
  return forEach(op.getStaticLoopRanges(), [&](ArrayRef<int64_t> loops) { return runPoint(op, loops); });
}

LogicalResult Evaluator::run(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](arith::ConstantOp constant) { return runConstant(constant); })
      .Case([&](tensor::EmptyOp empty) { return runEmpty(empty); })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](auto reshape) { return runReshape(*reshape); })
      .Case([&](tensor::ExtractSliceOp slice) { return runSlice(slice); })
      .Case([&](tensor::InsertSliceOp insert) { return runInsert(insert); })
      .Case([&](tensor::ConcatOp concat) { return runConcat(concat); })
      .Case([&](linalg::LinalgOp linalgOp) { return runLinalg(linalgOp); })
      .Default([&](Operation *other) { return runScalar(*other, {}); });
}

std::optional<llvm::SmallVector<DenseElementsAttr>> evaluate(Block &block, ArrayRef<Value> results, bool hasUnknown,
                                                             Extents &extents) {
  Evaluator evaluator(hasUnknown, extents);
  for (Operation &op : block)
    if (failed(evaluator.run(op)))
      return std::nullopt;
  llvm::SmallVector<DenseElementsAttr> values;
  for (Value result : results) {
    Tensor const *tensor = evaluator.tensor(result);
    auto const type = cast<RankedTensorType>(result.getType());
    if (!tensor || llvm::is_contained(tensor->computed, Attribute()))
      return std::nullopt;
    DenseElementsAttr whole = tensor->constant; // reshape() is not const
    values.push_back(whole ? whole.reshape(type) : DenseElementsAttr::get(type, tensor->computed));
  }
  return values;
}

} // namespace ml2k::frontend
