//===- VectorMemory.cpp - loops over elements of vectors, and what these read from memory -------------------------===//

#include "translator/frontend/mlir/Vectors.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ml2k::mlir_import;

Value ml2k::mlir_import::indexOf(OpBuilder &at, Location loc, int64_t value) {
  return at.create<arith::ConstantIndexOp>(loc, value);
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

Value ml2k::mlir_import::sumOf(OpBuilder &at, Location loc, Value a, Value b) {
  if (isConstantIntValue(b, 0))
    return a;
  return isConstantIntValue(a, 0) ? b : at.createOrFold<arith::AddIOp>(loc, a, b);
}

Value ml2k::mlir_import::timesOf(OpBuilder &at, Location loc, Value a, int64_t factor) {
  return factor == 1 ? a : at.createOrFold<arith::MulIOp>(loc, a, indexOf(at, loc, factor));
}

static Value foldFrom(OpBuilder &at, Location loc, ArrayRef<int64_t> extents, SmallVectorImpl<Value> &positions,
                      Value value, Step step) {
  if (positions.size() == extents.size())
    return step(at, positions, value);
  int64_t const extent = extents[positions.size()];
  Value const zero = indexOf(at, loc, 0);
  if (extent == 1) {
    positions.push_back(zero);
    Value const result = foldFrom(at, loc, extents, positions, value, step);
    positions.pop_back();
    return result;
  }
  auto loop = at.create<scf::ForOp>(loc, zero, indexOf(at, loc, extent), indexOf(at, loc, 1),
                                    value ? ValueRange(value) : ValueRange());
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  positions.push_back(loop.getInductionVar());
  if (!value) {
    inside.setInsertionPoint(loop.getBody()->getTerminator());
    foldFrom(inside, loc, extents, positions, {}, step);
  } else
    inside.create<scf::YieldOp>(loc, foldFrom(inside, loc, extents, positions, loop.getRegionIterArg(0), step));
  positions.pop_back();
  return value ? loop.getResult(0) : Value();
}

Value ml2k::mlir_import::foldOver(OpBuilder &at, Location loc, ArrayRef<int64_t> extents, Value first, Step step) {
  SmallVector<Value> positions;
  return foldFrom(at, loc, extents, positions, first, step);
}

void ml2k::mlir_import::forEach(OpBuilder &at, Location loc, ArrayRef<int64_t> extents, Body body) {
  foldOver(at, loc, extents, {}, [&](OpBuilder &inside, Positions positions, Value) {
    body(inside, positions);
    return Value();
  });
}

Value ml2k::mlir_import::where(OpBuilder &at, Location loc, Value condition, function_ref<Value(OpBuilder &)> value,
                               function_ref<Value(OpBuilder &)> other) {
  if (!condition || matchPattern(condition, m_One()))
    return value(at);
  return at
      .create<scf::IfOp>(
          loc, condition, [&](OpBuilder &here, Location) { here.create<scf::YieldOp>(loc, value(here)); },
          [&](OpBuilder &here, Location) { here.create<scf::YieldOp>(loc, other(here)); })
      .getResult(0);
}

//===--- Places ---------------------------------------------------------------------------------------------------===//

SmallVector<Value> VectorElements::placeIn(OpBuilder &at, Location loc, ValueRange indices, Positions positions) {
  SmallVector<Value> place(indices);
  for (auto [coordinate, position] : llvm::zip_equal(MutableArrayRef(place).take_back(positions.size()), positions))
    coordinate = sumOf(at, loc, coordinate, position);
  return place;
}

/// Whether an index is known not to be negative: constants, loops from such on, their sums.
static bool isNatural(Value index, int depth = 4) {
  if (std::optional<int64_t> const number = getConstantIntValue(index))
    return *number >= 0;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *const parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return argument == loop.getInductionVar() && depth > 0 && isNatural(loop.getLowerBound(), depth - 1);
    auto loop = dyn_cast<affine::AffineForOp>(parent);
    return loop && argument == loop.getInductionVar() && loop.hasConstantLowerBound() &&
           loop.getConstantLowerBound() >= 0;
  }
  auto sum = index.getDefiningOp<arith::AddIOp>();
  return sum && depth > 0 && isNatural(sum.getLhs(), depth - 1) && isNatural(sum.getRhs(), depth - 1);
}

/// Whether a dimension of a transfer from a constant index on lies in memory of a known extent.
static bool isKnownInside(VectorTransferOpInterface transfer, unsigned dim, int64_t sourceDim) {
  auto const source = transfer.getShapedType();
  std::optional<int64_t> const begin = getConstantIntValue(transfer.getIndices()[sourceDim]);
  if (source.isDynamicDim(sourceDim) || !begin || *begin < 0)
    return false;
  int64_t const extent = transfer.getVectorType().getDimSize(dim), whole = source.getDimSize(sourceDim);
  return extent <= whole && *begin <= whole - extent;
}

static Value bothOf(OpBuilder &at, Location loc, Value a, Value b) {
  return a && b ? at.createOrFold<arith::AndIOp>(loc, a, b) : a ? a : b;
}

Place VectorElements::placeOf(OpBuilder &at, VectorTransferOpInterface transfer, Positions positions) {
  Location const loc = transfer.getLoc();
  Value const source = transfer.getSource();
  AffineMap const map = transfer.getPermutationMap();
  Place place{SmallVector<Value>(transfer.getIndices()), {}};
  SmallVector<Value> inMask(place.indices.size()); // by dimensions of the source
  for (auto [d, result] : llvm::enumerate(map.getResults())) {
    auto const dim = dyn_cast<AffineDimExpr>(result);
    if (!dim) // broadcast
      continue;
    unsigned const sourceDim = dim.getPosition();
    inMask[sourceDim] = positions[d];
    Value &coordinate = place.indices[sourceDim];
    Value const begin = coordinate;
    coordinate = sumOf(at, loc, coordinate, positions[d]);
    if (transfer.isDimInBounds(d) || isKnownInside(transfer, d, sourceDim))
      continue;
    Value const extent = isa<MemRefType>(source.getType()) ? at.createOrFold<memref::DimOp>(loc, source, sourceDim)
                                                           : at.createOrFold<tensor::DimOp>(loc, source, sourceDim);
    auto const order = isNatural(begin) ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
    place.isInside = bothOf(at, loc, place.isInside, at.create<arith::CmpIOp>(loc, order, coordinate, extent));
  }
  if (Value const mask = transfer.getMask()) {
    llvm::erase(inMask, Value());
    if (inMask.empty()) // of one element
      inMask.assign(cast<VectorType>(mask.getType()).getRank(), indexOf(at, loc, 0));
    place.isInside = bothOf(at, loc, element(at, mask, inMask), place.isInside);
  }
  return place;
}

//===--- Reads ----------------------------------------------------------------------------------------------------===//

static Value load(OpBuilder &at, Location loc, Value source, ValueRange place) {
  if (isa<MemRefType>(source.getType()))
    return at.create<memref::LoadOp>(loc, source, place);
  return at.create<tensor::ExtractOp>(loc, source, place);
}

Value VectorElements::of(OpBuilder &at, vector::TransferReadOp op, Positions positions) {
  Location const loc = op.getLoc();
  Place const place = placeOf(at, cast<VectorTransferOpInterface>(op.getOperation()), positions);
  return where(
      at, loc, place.isInside, [&](OpBuilder &here) { return load(here, loc, op.getSource(), place.indices); },
      [&](OpBuilder &) { return op.getPadding(); });
}

Value VectorElements::of(OpBuilder &at, vector::LoadOp op, Positions positions) {
  return load(at, op.getLoc(), op.getBase(), placeIn(at, op.getLoc(), op.getIndices(), positions));
}

Value VectorElements::of(OpBuilder &at, vector::MaskedLoadOp op, Positions positions) {
  Location const loc = op.getLoc();
  return where(
      at, loc, element(at, op.getMask(), positions),
      [&](OpBuilder &here) { return load(here, loc, op.getBase(), placeIn(here, loc, op.getIndices(), positions)); },
      [&](OpBuilder &here) { return element(here, op.getPassThru(), positions); });
}

Value VectorElements::of(OpBuilder &at, vector::GatherOp op, Positions positions) {
  Location const loc = op.getLoc();
  return where(
      at, loc, element(at, op.getMask(), positions),
      [&](OpBuilder &here) {
        Value const offset = element(here, op.getIndexVec(), positions);
        Value const along = offset.getType().isIndex()
                                ? offset
                                : here.create<arith::IndexCastOp>(loc, here.getIndexType(), offset).getResult();
        return load(here, loc, op.getBase(), placeIn(here, loc, op.getIndices(), along));
      },
      [&](OpBuilder &here) { return element(here, op.getPassThru(), positions); });
}
