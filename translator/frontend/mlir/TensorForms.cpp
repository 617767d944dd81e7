//===- TensorForms.cpp - gathers, scatters, pads and reshapes in terms of other operations ------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

Value indexConstant(OpBuilder &builder, Location loc, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(loc, value);
}

Value dimOf(OpBuilder &builder, Location loc, Value tensor, int64_t dim) {
  return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
}

//===--- Gather and scatter ---------------------------------------------------------------------------------------===//

/// Where in the source an element of gathered slices lies. `at` are its positions: those of the indices' leading
/// dimensions, then those of the slice, with or without the dimensions that were gathered.
SmallVector<Value> positionInSource(OpBuilder &builder, Location loc, Value indices, ArrayRef<int64_t> gathered,
                                    int64_t sourceRank, ValueRange at) {
  int64_t const batch = cast<RankedTensorType>(indices.getType()).getRank() - 1;
  bool const keepsOnes = int64_t(at.size()) == batch + sourceRank;
  SmallVector<Value> position;
  for (int64_t d = 0, next = batch; d < sourceRank; ++d) {
    auto const *found = llvm::find(gathered, d);
    bool const isGathered = found != gathered.end();
    if (!isGathered) {
      position.push_back(at[next++]);
      continue;
    }
    next += keepsOnes;
    SmallVector<Value> place(at.take_front(batch));
    place.push_back(indexConstant(builder, loc, found - gathered.begin()));
    Value index = builder.create<tensor::ExtractOp>(loc, indices, place);
    if (!index.getType().isIndex())
      index = builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), index);
    position.push_back(index);
  }
  return position;
}

void lowerGather(tensor::GatherOp op) {
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  auto const type = op.getResultType();
  int64_t const batch = op.getIndicesType().getRank() - 1, sourceRank = op.getSourceType().getRank();
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d)) {
      int64_t const inSlice = d - batch;
      sizes.push_back(inSlice < 0 ? dimOf(builder, loc, op.getIndices(), d)
                                  : dimOf(builder, loc, op.getSource(), inSlice));
    }
  Value const empty = builder.create<tensor::EmptyOp>(loc, type, sizes);
  AffineMap const identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> const parallel(type.getRank(), utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(
      loc, type, ValueRange(), ValueRange(empty), ArrayRef(identity), parallel,
      [&](OpBuilder &inside, Location, ValueRange) {
        SmallVector<Value> at;
        for (int64_t d = 0; d < type.getRank(); ++d)
          at.push_back(inside.create<linalg::IndexOp>(loc, d));
        SmallVector<Value> const position =
            positionInSource(inside, loc, op.getIndices(), op.getGatherDims(), sourceRank, at);
        Value const element = inside.create<tensor::ExtractOp>(loc, op.getSource(), position);
        inside.create<linalg::YieldOp>(loc, element);
      });
  op.replaceAllUsesWith(generic.getResult(0));
  op.erase();
}

/// One element after the other.
void lowerScatter(tensor::ScatterOp op) {
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  int64_t const rank = op.getSourceType().getRank();
  SmallVector<Value> lowers, uppers, steps;
  for (int64_t d = 0; d < rank; ++d) {
    lowers.push_back(indexConstant(builder, loc, 0));
    uppers.push_back(dimOf(builder, loc, op.getSource(), d));
    steps.push_back(indexConstant(builder, loc, 1));
  }
  scf::LoopNest const loops =
      scf::buildLoopNest(builder, loc, lowers, uppers, steps, ValueRange(op.getDest()),
                         [&](OpBuilder &inside, Location, ValueRange at, ValueRange carried) -> scf::ValueVector {
                           Value const element = inside.create<tensor::ExtractOp>(loc, op.getSource(), at);
                           SmallVector<Value> const position = positionInSource(
                               inside, loc, op.getIndices(), op.getScatterDims(), op.getDestType().getRank(), at);
                           return {inside.create<tensor::InsertOp>(loc, element, carried[0], position).getResult()};
                         });
  op.replaceAllUsesWith(loops.results[0]);
  op.erase();
}

//===--- Pad ------------------------------------------------------------------------------------------------------===//

/// A pad whose value depends on the position is a tensor of those values into which the source is put.
void lowerPad(tensor::PadOp op) {
  if (op.getConstantPaddingValue())
    return;
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  auto const type = op.getResultType();
  SmallVector<OpFoldResult> const low = op.getMixedLowPad(), high = op.getMixedHighPad();
  SmallVector<OpFoldResult> inner, steps(type.getRank(), builder.getIndexAttr(1));
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value const size = dimOf(builder, loc, op.getSource(), d);
    inner.push_back(getAsOpFoldResult(size));
    if (!type.isDynamicDim(d))
      continue;
    auto const asValue = [&](OpFoldResult number) { return getValueOrCreateConstantIndexOp(builder, loc, number); };
    Value const begun = builder.create<arith::AddIOp>(loc, size, asValue(low[d]));
    sizes.push_back(builder.create<arith::AddIOp>(loc, begun, asValue(high[d])));
  }
  auto values = builder.create<tensor::GenerateOp>(loc, type, sizes);
  IRMapping same;
  op.getRegion().cloneInto(&values.getBody(), same);
  Value const padded =
      builder.create<tensor::InsertSliceOp>(loc, op.getSource(), values.getResult(), low, inner, steps);
  op.replaceAllUsesWith(padded);
  op.erase();
}

//===--- Reshape --------------------------------------------------------------------------------------------------===//

/// All elements in their order in another shape: as one line, and that line in the new shape.
void lowerReshape(tensor::ReshapeOp op) {
  auto const from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto const to = dyn_cast<RankedTensorType>(op.getResult().getType());
  DenseIntElementsAttr shape;
  if (!from || !to || !from.hasStaticShape() || !matchPattern(op.getShape(), m_Constant(&shape)) || from.getRank() == 0)
    return;
  SmallVector<int64_t> extents;
  for (APInt const &extent : shape)
    extents.push_back(extent.getSExtValue());
  auto const known = RankedTensorType::get(extents, to.getElementType());
  if (!known.hasStaticShape() || known.getNumElements() != from.getNumElements() || known.getRank() == 0)
    return;
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  auto const all = [](int64_t rank) { return ReassociationIndices(llvm::to_vector(llvm::seq<int64_t>(0, rank))); };
  Value line = op.getSource();
  if (from.getRank() > 1)
    line = builder.create<tensor::CollapseShapeOp>(loc, line, SmallVector{all(from.getRank())});
  Value shaped = line;
  if (known.getRank() > 1)
    shaped = builder.create<tensor::ExpandShapeOp>(loc, known, line, SmallVector{all(known.getRank())});
  if (known != to)
    shaped = builder.create<tensor::CastOp>(loc, to, shaped);
  op.replaceAllUsesWith(shaped);
  op.erase();
}

} // namespace

void ml2k::mlir_import::lowerTensorForms(func::FuncOp entry) {
  entry.walk([](Operation *op) {
    if (auto gather = dyn_cast<tensor::GatherOp>(op))
      lowerGather(gather);
    else if (auto scatter = dyn_cast<tensor::ScatterOp>(op))
      lowerScatter(scatter);
    else if (auto pad = dyn_cast<tensor::PadOp>(op))
      lowerPad(pad);
    else if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
      lowerReshape(reshape);
  });
}
