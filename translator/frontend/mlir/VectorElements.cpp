//===- VectorElements.cpp - the elements of vectors, operation by operation ---------------------------------------===//

#include "translator/frontend/mlir/Vectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k::mlir_import;

static VectorType vectorTypeOf(Value vector) { return cast<VectorType>(vector.getType()); }

//===--- The table ------------------------------------------------------------------------------------------------===//

bool VectorElements::computes(Operation *op) {
  if (isa<vector::BroadcastOp, vector::SplatOp, vector::ShapeCastOp, vector::ExtractOp, vector::ExtractElementOp,
          vector::ExtractStridedSliceOp, vector::TransposeOp, vector::FlatTransposeOp, vector::MatmulOp,
          vector::DeinterleaveOp, vector::BitCastOp, vector::StepOp, vector::CreateMaskOp, vector::ConstantMaskOp,
          vector::FMAOp, vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp,
          vector::OuterProductOp, vector::TransferReadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(op))
    return true;
  return isSimpleConstant(op) || (op->getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(op));
}

Value VectorElements::element(OpBuilder &at, Value vector, Positions positions) {
  if (Value const array = arrays.lookup(vector))
    return at.create<memref::LoadOp>(vector.getLoc(), array, positions);
  Operation *const op = vector.getDefiningOp();
  bool const isComputed = op && isa<vector::VectorDialect>(op->getDialect());
  if (!isComputed && !isa<VectorType>(vector.getType()))
    return vector;
  return TypeSwitch<Operation *, Value>(op)
      .Case<vector::BroadcastOp, vector::SplatOp, vector::ShapeCastOp, vector::ExtractOp, vector::ExtractElementOp,
            vector::ExtractStridedSliceOp, vector::TransposeOp, vector::FlatTransposeOp, vector::MatmulOp,
            vector::BitCastOp, vector::StepOp, vector::CreateMaskOp, vector::ConstantMaskOp, vector::FMAOp,
            vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp, vector::OuterProductOp,
            vector::TransferReadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(
          [&](auto known) { return of(at, known, positions); })
      .Case([&](vector::DeinterleaveOp halves) {
        return of(at, halves, cast<OpResult>(vector).getResultNumber(), positions);
      })
      .Case([&](arith::ConstantOp number) { return constant(at, number, positions); })
      .Default([&](Operation *) { return elementwise(at, cast<OpResult>(vector), positions); });
}

/// Of an operand that is there twice the element is computed once: VectorArrays::mayWait() counts on it.
SmallVector<Value> VectorElements::elementsOf(OpBuilder &at, ValueRange vectors, Positions positions) {
  llvm::SmallDenseMap<Value, Value> known;
  SmallVector<Value> elements;
  for (Value vector : vectors) {
    auto [entry, isNew] = known.try_emplace(vector);
    if (isNew)
      entry->second = isa<VectorType>(vector.getType()) ? element(at, vector, positions) : vector;
    elements.push_back(entry->second);
  }
  return elements;
}

Value VectorElements::elementwise(OpBuilder &at, OpResult result, Positions positions) {
  Operation *const op = result.getOwner();
  SmallVector<Value> const operands = elementsOf(at, op->getOperands(), positions);
  OperationState state(op->getLoc(), op->getName(), operands,
                       llvm::map_to_vector(op->getResultTypes(), [](Type type) { return getElementTypeOrSelf(type); }),
                       op->getAttrs());
  return at.create(state)->getResult(result.getResultNumber());
}

Value VectorElements::of(OpBuilder &at, vector::FMAOp op, Positions positions) {
  SmallVector<Value> const operands = elementsOf(at, op->getOperands(), positions);
  return at.create<math::FmaOp>(op.getLoc(), operands[0], operands[1], operands[2]);
}

//===--- Constants and masks --------------------------------------------------------------------------------------===//

namespace {
struct Sequence {
  APInt first, step;
};
} // namespace

/// Every use asks again; a longer constant is a table.
constexpr int64_t longestSequence = 64;

/// The numbers of a one-dimensional constant if they are first + step * position.
static std::optional<Sequence> sequenceOf(DenseElementsAttr value) {
  auto const type = value.getType();
  if (type.getRank() != 1 || type.getDimSize(0) < 2 || type.getDimSize(0) > longestSequence ||
      !type.getElementType().isIntOrIndex() || type.getElementType().isInteger(1))
    return std::nullopt;
  auto const numbers = llvm::to_vector(value.getValues<APInt>());
  APInt const step = numbers[1] - numbers[0];
  for (size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != step)
      return std::nullopt;
  return Sequence{numbers[0], step};
}

bool ml2k::mlir_import::isSimpleConstant(Operation *op) {
  DenseElementsAttr value;
  return isa<arith::ConstantOp>(op) && matchPattern(op, m_Constant(&value)) &&
         (value.isSplat() || sequenceOf(value).has_value());
}

Value VectorElements::constant(OpBuilder &at, arith::ConstantOp op, Positions positions) {
  auto const value = cast<DenseElementsAttr>(op.getValue());
  Location const loc = op.getLoc();
  Type const type = value.getElementType();
  auto const number = [&](Attribute attribute) -> Value {
    return at.create<arith::ConstantOp>(loc, cast<TypedAttr>(attribute));
  };
  if (value.isSplat())
    return number(value.getSplatValue<Attribute>());
  Sequence const sequence = *sequenceOf(value);
  Value const position = type.isIndex() ? positions[0] : at.createOrFold<arith::IndexCastOp>(loc, type, positions[0]);
  Value const scaled = at.createOrFold<arith::MulIOp>(loc, position, number(at.getIntegerAttr(type, sequence.step)));
  return at.createOrFold<arith::AddIOp>(loc, scaled, number(at.getIntegerAttr(type, sequence.first)));
}

Value VectorElements::of(OpBuilder &, vector::StepOp, Positions positions) { return positions[0]; }

/// Whether every position lies in front of its bound.
static Value allBelow(OpBuilder &at, Location loc, Positions positions, ValueRange bounds) {
  Value all;
  for (auto [position, bound] : llvm::zip_equal(positions, bounds)) {
    Value const isBelow = at.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, position, bound);
    all = all ? at.createOrFold<arith::AndIOp>(loc, all, isBelow) : isBelow;
  }
  return all;
}

Value VectorElements::of(OpBuilder &at, vector::CreateMaskOp op, Positions positions) {
  if (positions.empty()) // one element, there or not
    return at.create<arith::CmpIOp>(op.getLoc(), arith::CmpIPredicate::sgt, op.getOperands()[0],
                                    indexOf(at, op.getLoc(), 0));
  return allBelow(at, op.getLoc(), positions, op.getOperands());
}

Value VectorElements::of(OpBuilder &at, vector::ConstantMaskOp op, Positions positions) {
  SmallVector<Value> bounds;
  for (Attribute size : op.getMaskDimSizes())
    bounds.push_back(indexOf(at, op.getLoc(), cast<IntegerAttr>(size).getInt()));
  if (positions.empty())
    return at.create<arith::ConstantOp>(op.getLoc(),
                                        at.getBoolAttr(cast<IntegerAttr>(op.getMaskDimSizes()[0]).getInt() > 0));
  return allBelow(at, op.getLoc(), positions, bounds);
}

//===--- Elements in other places ---------------------------------------------------------------------------------===//

Value VectorElements::of(OpBuilder &, vector::SplatOp op, Positions) { return op.getInput(); }

Value VectorElements::of(OpBuilder &at, vector::BroadcastOp op, Positions positions) {
  auto const source = dyn_cast<VectorType>(op.getSource().getType());
  if (!source)
    return op.getSource();
  SmallVector<Value> places(positions.take_back(source.getRank()));
  for (auto [place, extent] : llvm::zip_equal(places, source.getShape()))
    if (extent == 1)
      place = indexOf(at, op.getLoc(), 0);
  return element(at, op.getSource(), places);
}

Value VectorElements::of(OpBuilder &at, vector::ExtractOp op, Positions positions) {
  SmallVector<Value> places;
  for (OpFoldResult position : op.getMixedPosition())
    places.push_back(getValueOrCreateConstantIndexOp(at, op.getLoc(), position));
  places.append(positions.begin(), positions.end());
  return element(at, op.getVector(), places);
}

/// The position of vector.extractelement and insertelement; none in a vector of rank 0.
static SmallVector<Value> positionOf(OpBuilder &at, Location loc, Value position) {
  if (!position)
    return {};
  return {position.getType().isIndex() ? position
                                       : at.createOrFold<arith::IndexCastOp>(loc, at.getIndexType(), position)};
}

Value VectorElements::of(OpBuilder &at, vector::ExtractElementOp op, Positions) {
  return element(at, op.getVector(), positionOf(at, op.getLoc(), op.getPosition()));
}

Value VectorElements::of(OpBuilder &at, vector::ExtractStridedSliceOp op, Positions positions) {
  SmallVector<Value> places(positions);
  for (auto [place, offset] : llvm::zip(places, op.getOffsets()))
    place = sumOf(at, op.getLoc(), indexOf(at, op.getLoc(), cast<IntegerAttr>(offset).getInt()), place);
  return element(at, op.getVector(), places);
}

Value VectorElements::of(OpBuilder &at, vector::TransposeOp op, Positions positions) {
  SmallVector<Value> places(positions.size());
  for (auto [place, dim] : llvm::enumerate(op.getPermutation()))
    places[dim] = positions[place];
  return element(at, op.getVector(), places);
}

/// Extents other than 1, which alone say where an element lies.
static SmallVector<int64_t> longExtents(VectorType type) {
  return llvm::to_vector(llvm::make_filter_range(type.getShape(), [](int64_t extent) { return extent != 1; }));
}

Value VectorElements::of(OpBuilder &at, vector::ShapeCastOp op, Positions positions) {
  Location const loc = op.getLoc();
  VectorType const source = op.getSourceVectorType(), type = op.getResultVectorType();
  SmallVector<Value> places(source.getRank(), indexOf(at, loc, 0));
  if (longExtents(source) == longExtents(type)) {
    unsigned next = 0;
    for (auto [position, extent] : llvm::zip_equal(positions, type.getShape())) {
      if (extent == 1)
        continue;
      while (source.getDimSize(next) == 1)
        ++next;
      places[next++] = position;
    }
    return element(at, op.getSource(), places);
  }
  Value flat = indexOf(at, loc, 0);
  for (auto [position, extent] : llvm::zip_equal(positions, type.getShape()))
    flat = sumOf(at, loc, timesOf(at, loc, flat, extent), position);
  for (int64_t dim = source.getRank(); dim-- > 0;) {
    Value const extent = indexOf(at, loc, source.getDimSize(dim));
    bool const isFirst = llvm::all_of(source.getShape().take_front(dim), [](int64_t before) { return before == 1; });
    if (source.getDimSize(dim) == 1)
      continue;
    places[dim] = isFirst ? flat : at.createOrFold<arith::RemUIOp>(loc, flat, extent);
    flat = at.createOrFold<arith::DivUIOp>(loc, flat, extent);
  }
  return element(at, op.getSource(), places);
}

/// A matrix [rows, columns] that lies in a vector by columns.
static SmallVector<Value> byColumns(OpBuilder &at, Location loc, Value row, Value column, int64_t rows) {
  return {sumOf(at, loc, timesOf(at, loc, column, rows), row)};
}

Value VectorElements::of(OpBuilder &at, vector::FlatTransposeOp op, Positions positions) {
  Location const loc = op.getLoc();
  int64_t const rows = op.getRows(), columns = op.getColumns();
  Value const extent = indexOf(at, loc, columns);
  Value const row = at.createOrFold<arith::DivUIOp>(loc, positions[0], extent);
  Value const column = at.createOrFold<arith::RemUIOp>(loc, positions[0], extent);
  return element(at, op.getMatrix(), byColumns(at, loc, row, column, rows));
}

Value VectorElements::of(OpBuilder &at, vector::DeinterleaveOp op, unsigned result, Positions positions) {
  SmallVector<Value> places(positions);
  Location const loc = op.getLoc();
  places.back() = sumOf(at, loc, timesOf(at, loc, places.back(), 2), indexOf(at, loc, result));
  return element(at, op.getSource(), places);
}

//===--- Bits -----------------------------------------------------------------------------------------------------===//

static Value asBits(OpBuilder &at, Location loc, Value value) {
  if (value.getType().isInteger())
    return value;
  return at.create<arith::BitcastOp>(loc, at.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
}

static Value fromBits(OpBuilder &at, Location loc, Type type, Value bits) {
  return type.isInteger() ? bits : at.create<arith::BitcastOp>(loc, type, bits).getResult();
}

/// `count` times the width of one element, as an integer of `type`.
static Value shiftOf(OpBuilder &at, Location loc, Type type, Value count, int64_t width) {
  return at.createOrFold<arith::IndexCastOp>(loc, type, timesOf(at, loc, count, width));
}

/// Elements of little ends: the first one of several narrow ones has the low bits of the wide one.
Value VectorElements::of(OpBuilder &at, vector::BitCastOp op, Positions positions) {
  Location const loc = op.getLoc();
  Type const source = op.getSourceVectorType().getElementType(), type = op.getResultVectorType().getElementType();
  unsigned const from = source.getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return fromBits(at, loc, type, asBits(at, loc, element(at, op.getSource(), positions)));
  SmallVector<Value> places(positions);
  if (from > to) {
    Value const ratio = indexOf(at, loc, from / to);
    places.back() = at.createOrFold<arith::DivUIOp>(loc, positions.back(), ratio);
    Value const part = at.createOrFold<arith::RemUIOp>(loc, positions.back(), ratio);
    Value const wide = asBits(at, loc, element(at, op.getSource(), places));
    Value const low = at.create<arith::ShRUIOp>(loc, wide, shiftOf(at, loc, wide.getType(), part, to));
    return fromBits(at, loc, type, at.create<arith::TruncIOp>(loc, at.getIntegerType(to), low));
  }
  Type const wide = at.getIntegerType(to);
  Value const first = timesOf(at, loc, positions.back(), to / from);
  Value const none = at.create<arith::ConstantOp>(loc, at.getIntegerAttr(wide, 0));
  Value const all = foldOver(at, loc, {to / from}, none, [&](OpBuilder &inside, Positions part, Value before) -> Value {
    places.back() = sumOf(inside, loc, first, part[0]);
    Value const narrow = asBits(inside, loc, element(inside, op.getSource(), places));
    Value const extended = inside.create<arith::ExtUIOp>(loc, wide, narrow);
    Value const high = inside.create<arith::ShLIOp>(loc, extended, shiftOf(inside, loc, wide, part[0], from));
    return inside.create<arith::OrIOp>(loc, before, high);
  });
  return fromBits(at, loc, type, all);
}

//===--- Reductions -----------------------------------------------------------------------------------------------===//

/// What joins with a value to that value.
static Value neutralOf(OpBuilder &at, Location loc, vector::CombiningKind kind, Type type) {
  using Kind = vector::CombiningKind;
  using Arith = arith::AtomicRMWKind;
  static std::map<Kind, Arith> const kinds = {{Kind::MINUI, Arith::minu},        {Kind::MINSI, Arith::mins},
                                              {Kind::MAXUI, Arith::maxu},        {Kind::MAXSI, Arith::maxs},
                                              {Kind::AND, Arith::andi},          {Kind::OR, Arith::ori},
                                              {Kind::MINNUMF, Arith::minnumf},   {Kind::MAXNUMF, Arith::maxnumf},
                                              {Kind::MINIMUMF, Arith::minimumf}, {Kind::MAXIMUMF, Arith::maximumf}};
  if (kind == Kind::ADD || kind == Kind::XOR)
    return at.create<arith::ConstantOp>(loc, cast<TypedAttr>(at.getZeroAttr(type)));
  if (kind == Kind::MUL)
    return at.create<arith::ConstantOp>(loc, cast<TypedAttr>(at.getOneAttr(type)));
  return arith::getIdentityValue(kinds.at(kind), type, at, loc);
}

/// `joined` where the mask of the operation is set, else what was there before.
Value VectorElements::masked(OpBuilder &at, Operation *op, Positions positions, Value joined, Value before) {
  Value const mask = masks.lookup(op);
  if (!mask)
    return joined;
  return at.create<arith::SelectOp>(op->getLoc(), element(at, mask, positions), joined, before);
}

Value VectorElements::of(OpBuilder &at, vector::ReductionOp op, Positions) {
  Location const loc = op.getLoc();
  Type const type = op.getDest().getType();
  Value const first = op.getAcc() ? element(at, op.getAcc(), {}) : neutralOf(at, loc, op.getKind(), type);
  auto const fastmath = isa<FloatType>(type) ? op.getFastmathAttr() : arith::FastMathFlagsAttr();
  return foldOver(at, loc, op.getSourceVectorType().getShape(), first,
                  [&](OpBuilder &inside, Positions positions, Value before) {
                    Value const term = element(inside, op.getVector(), positions);
                    Value const joined = vector::makeArithReduction(inside, loc, op.getKind(), before, term, fastmath);
                    return masked(inside, op, positions, joined, before);
                  });
}

Value VectorElements::of(OpBuilder &at, vector::MultiDimReductionOp op, Positions positions) {
  Location const loc = op.getLoc();
  SmallVector<bool> const isReduced = op.getReductionMask();
  SmallVector<int64_t> extents;
  for (auto [extent, reduced] : llvm::zip_equal(op.getSourceVectorType().getShape(), isReduced))
    if (reduced)
      extents.push_back(extent);
  return foldOver(at, loc, extents, element(at, op.getAcc(), positions),
                  [&](OpBuilder &inside, Positions along, Value before) {
                    SmallVector<Value> places;
                    for (unsigned kept = 0, next = 0; bool reduced : isReduced)
                      places.push_back(reduced ? along[next++] : positions[kept++]);
                    Value const term = element(inside, op.getSource(), places);
                    Value const joined = vector::makeArithReduction(inside, loc, op.getKind(), before, term);
                    return masked(inside, op, places, joined, before);
                  });
}

//===--- Products -------------------------------------------------------------------------------------------------===//

/// Factors of a narrower type than the sum are converted first.
static Value promoted(OpBuilder &at, Location loc, Value factor, Type type) {
  if (factor.getType() == type)
    return factor;
  if (isa<FloatType>(type))
    return at.create<arith::ExtFOp>(loc, type, factor);
  return at.create<arith::ExtSIOp>(loc, type, factor);
}

static Value productOf(OpBuilder &at, Location loc, Value a, Value b, Type type) {
  a = promoted(at, loc, a, type), b = promoted(at, loc, b, type);
  if (isa<FloatType>(type))
    return at.create<arith::MulFOp>(loc, a, b);
  return at.create<arith::MulIOp>(loc, a, b);
}

Value VectorElements::of(OpBuilder &at, vector::ContractionOp op, Positions positions) {
  Location const loc = op.getLoc();
  Type const type = getElementTypeOrSelf(op.getResultType());
  SmallVector<AffineMap, 4> const maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents;
  op.getIterationBounds(extents);
  SmallVector<Value> places(extents.size());
  for (auto [position, dim] : llvm::zip_equal(positions, maps[2].getResults()))
    places[cast<AffineDimExpr>(dim).getPosition()] = position;
  SmallVector<int64_t> summed;
  for (auto [extent, place] : llvm::zip_equal(extents, places))
    if (!place)
      summed.push_back(extent);
  auto const operand = [&](OpBuilder &inside, Value factor, AffineMap map, Positions all) {
    return element(inside, factor, llvm::map_to_vector(map.getResults(), [&](AffineExpr dim) {
                     return all[cast<AffineDimExpr>(dim).getPosition()];
                   }));
  };
  return foldOver(at, loc, summed, element(at, op.getAcc(), positions),
                  [&](OpBuilder &inside, Positions along, Value before) {
                    SmallVector<Value> all(places);
                    for (unsigned next = 0; Value & place : all)
                      place = place ? place : along[next++];
                    Value const product = productOf(inside, loc, operand(inside, op.getLhs(), maps[0], all),
                                                    operand(inside, op.getRhs(), maps[1], all), type);
                    Value const joined = vector::makeArithReduction(inside, loc, op.getKind(), before, product);
                    return masked(inside, op, all, joined, before);
                  });
}

Value VectorElements::of(OpBuilder &at, vector::OuterProductOp op, Positions positions) {
  Location const loc = op.getLoc();
  Value const left = element(at, op.getLhs(), positions.take_front());
  Value const right = element(at, op.getRhs(), positions.drop_front());
  Value const product = productOf(at, loc, left, right, op.getResultVectorType().getElementType());
  if (!op.getAcc())
    return masked(at, op, positions, product, neutralOf(at, loc, vector::CombiningKind::ADD, product.getType()));
  Value const before = element(at, op.getAcc(), positions);
  return masked(at, op, positions, vector::makeArithReduction(at, loc, op.getKind(), before, product), before);
}

Value VectorElements::of(OpBuilder &at, vector::MatmulOp op, Positions positions) {
  Location const loc = op.getLoc();
  Type const type = vectorTypeOf(op.getRes()).getElementType();
  int64_t const rows = op.getLhsRows(), depth = op.getLhsColumns();
  Value const extent = indexOf(at, loc, rows);
  Value const column = at.createOrFold<arith::DivUIOp>(loc, positions[0], extent);
  Value const row = at.createOrFold<arith::RemUIOp>(loc, positions[0], extent);
  Value const zero = neutralOf(at, loc, vector::CombiningKind::ADD, type);
  return foldOver(at, loc, {depth}, zero, [&](OpBuilder &inside, Positions k, Value before) {
    Value const a = element(inside, op.getLhs(), byColumns(inside, loc, row, k[0], rows));
    Value const b = element(inside, op.getRhs(), byColumns(inside, loc, k[0], column, depth));
    return vector::makeArithReduction(inside, loc, vector::CombiningKind::ADD, before,
                                      productOf(inside, loc, a, b, type));
  });
}
