//===- ColumnElements.cpp - elements of what a step makes and reads, for one column -------------------------------===//

#include "passes/schedule/recurrent/ColumnCode.h"

#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

static RankedTensorType typeOfTensor(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

Value ColumnCode::indexOf(OpFoldResult value) {
  return scalar(getValueOrCreateConstantIndexOp(builder, loop.getLoc(), value));
}

Value ColumnCode::load(Value tensor, Indices const &at) {
  Value &memory = memories[tensor];
  if (!memory) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(parallel);
    auto const type = typeOfTensor(tensor);
    memory = builder.create<bufferization::ToMemrefOp>(
        tensor.getLoc(), MemRefType::get(type.getShape(), type.getElementType()), tensor, /*read_only=*/true);
  }
  return builder.create<memref::LoadOp>(reading.value_or(tensor.getLoc()), memory, at);
}

/// Whether what stands in front of the loop is for the loop alone.
bool ColumnCode::isReadHereOnly(Value value) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return isInside(user) || moved.contains(user) || (isViewOfTensor(user) && isReadHereOnly(user->getResult(0)));
  });
}

/// Whether a product that nobody else reads stands behind: it computes this on the way out.
static bool isEpilogue(linalg::GenericOp op) {
  auto const type = typeOfTensor(op.getResult(0));
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    Value value = operand->get();
    while (value.hasOneUse() && isViewOfTensor(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto maker = value.getDefiningOp<linalg::GenericOp>();
    return maker && value.hasOneUse() && type.hasStaticShape() && typeOfTensor(value).hasStaticShape() &&
           typeOfTensor(value).getNumElements() == type.getNumElements() &&
           (maker.getNumReductionLoops() > 0 || isEpilogue(maker));
  });
}

/// The index of a loop that a constant is added to, or that is subtracted from one.
static Value movingPart(Value index) {
  Operation *const op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return index;
  Value const a = op->getOperand(0), b = op->getOperand(1);
  return matchPattern(a, m_Constant()) ? b : isa<arith::AddIOp>(op) && matchPattern(b, m_Constant()) ? a : index;
}

/// Whether it goes through a short array of a column.
bool ColumnCode::isOfFewElements(Value index) const {
  constexpr int64_t few = 16;
  if (index == stepIndex || llvm::is_contained(columns, index))
    return false;
  auto own = dyn_cast<scf::ForOp>(cast<BlockArgument>(index).getOwner()->getParentOp());
  return own && getConstantIntValue(own.getUpperBound()).value_or(few + 1) <= few;
}

/// Whether each element of what stands in front of the loop is read by one pass of these loops: it is computed here
/// instead. Where several statements of a step read it, it has to be a number, which they share.
bool ColumnCode::isComputedHere(linalg::GenericOp op, Indices const &at) const {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() > 0 || !isPlain(op) ||
      !op.getIndexingMapsArray().back().isPermutation() || !isReadHereOnly(op.getResult(0)) || isEpilogue(op))
    return false;
  Value value = op.getResult(0);
  while (value.hasOneUse() && isViewOfTensor(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  if (!value.hasOneUse() && around.size() > columns.size() + 1)
    return false;
  SmallVector<Value> left(around);
  for (Value index : at)
    if (auto found = llvm::find(left, movingPart(index)); found != left.end())
      left.erase(found);
    else if (index != zero)
      return false;
  // What each of a few elements needs is one number for them
  return left.empty() || (llvm::all_of(left, [&](Value own) { return isOfFewElements(own); }) && !isExpensive(op));
}

Value ColumnCode::bodyValue(linalg::GenericOp op, Indices const &positions, Value total) {
  BodyCopier copier(
      builder, op,
      [&](BlockArgument argument) {
        OpOperand &operand = op->getOpOperand(argument.getArgNumber());
        if (total && op.isDpsInit(&operand))
          return total;
        if (!isa<RankedTensorType>(operand.get().getType()))
          return scalar(operand.get());
        Indices at;
        for (auto [expr, extent] :
             llvm::zip(op.getMatchingIndexingMap(&operand).getResults(), typeOfTensor(operand.get()).getShape()))
          at.push_back(extent == 1 ? zero : affine::expandAffineExpr(builder, op.getLoc(), expr, positions, {}));
        return element(operand.get(), at);
      },
      [&](int64_t number) { return positions[number]; });
  return copier.copy(yielded(op, 0));
}

Value ColumnCode::computed(Value tensor, Indices const &at) {
  Operation *const op = tensor.getDefiningOp();
  auto fill = dyn_cast_or_null<linalg::FillOp>(op);
  if (fill)
    return scalar(fill.getInputs()[0]);
  DenseElementsAttr value;
  if (op && matchPattern(op, m_Constant(&value)) && value.isSplat())
    return builder.create<arith::ConstantOp>(tensor.getLoc(), value.getSplatValue<TypedAttr>());
  if (isViewOfTensor(op))
    return viewed(op, at);
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || !(isInside(op) || isComputedHere(generic, at)))
    return load(tensor, at);
  Indices positions(generic.getNumLoops(), zero);
  for (auto [expr, index] : llvm::zip(generic.getIndexingMapsArray().back().getResults(), at))
    if (auto position = dyn_cast<AffineDimExpr>(expr))
      positions[position.getPosition()] = index;
  if (isInside(op))
    return valueAt(generic, positions);
  moved.insert(op);
  std::optional<Location> const before = std::exchange(reading, std::nullopt); // the name is that of what it makes
  Value const made = valueAt(generic, positions);
  reading = before;
  return made;
}

Value ColumnCode::element(Value tensor, Indices const &at) {
  if (Value const number = kept.lookup(tensor))
    return number;
  if (Value const array = arrays.lookup(tensor))
    return builder.create<memref::LoadOp>(tensor.getLoc(), array, own(at, tensor));
  std::vector<void *> place;
  for (Value index : at)
    place.push_back(index.getAsOpaquePointer());
  auto const key = std::make_pair(tensor.getAsOpaquePointer(), place);
  if (auto const found = known.find(key); found != known.end())
    return found->second;
  Value const value = computed(tensor, at);
  known[key] = value;
  return value;
}

} // namespace ml2k
