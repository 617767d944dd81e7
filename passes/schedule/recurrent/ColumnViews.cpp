//===- ColumnViews.cpp - elements of slices, transposes and reshapes, for one column ------------------------------===//

#include "passes/schedule/recurrent/ColumnCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {

/// offset + stride * index, without what is nothing.
Value ColumnCode::shifted(Location location, OpFoldResult offset, OpFoldResult stride, Value index) {
  if (index == zero)
    return isConstantIntValue(offset, 0) ? zero : indexOf(offset);
  if (!isConstantIntValue(stride, 1))
    index = builder.create<arith::MulIOp>(location, index, indexOf(stride));
  return isConstantIntValue(offset, 0) ? index
                                       : builder.create<arith::AddIOp>(location, indexOf(offset), index).getResult();
}

ColumnCode::Indices ColumnCode::sliceIndices(tensor::ExtractSliceOp slice, Indices const &at) {
  llvm::SmallBitVector const dropped = slice.getDroppedDims();
  Indices indices;
  auto next = at.begin();
  for (unsigned dim = 0; dim < dropped.size(); ++dim)
    indices.push_back(shifted(slice.getLoc(), slice.getMixedOffsets()[dim], slice.getMixedStrides()[dim],
                              dropped.test(dim) ? zero : *next++));
  return indices;
}

/// The index of dimensions that are one, from theirs; dimensions of extent 1 are left out.
static Value joinedIndex(OpBuilder &builder, Location location, ArrayRef<Value> indices,
                         ArrayRef<OpFoldResult> extents) {
  Value joined = indices.front();
  for (auto [index, extent] : llvm::drop_begin(llvm::zip(indices, extents))) {
    Value const count = getValueOrCreateConstantIndexOp(builder, location, extent);
    joined = builder.create<arith::MulIOp>(location, joined, count);
    joined = builder.create<arith::AddIOp>(location, joined, index);
  }
  return joined;
}

/// The other way round.
static SmallVector<Value> partIndices(OpBuilder &builder, Location location, Value joined,
                                      ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> indices(extents.size());
  for (size_t i = extents.size() - 1; i > 0; --i) {
    Value const count = getValueOrCreateConstantIndexOp(builder, location, extents[i]);
    indices[i] = builder.create<arith::RemUIOp>(location, joined, count);
    joined = builder.create<arith::DivUIOp>(location, joined, count);
  }
  indices[0] = joined;
  return indices;
}

ColumnCode::Indices ColumnCode::reshapedIndices(Operation *op, Indices const &at) {
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto const source = cast<RankedTensorType>(op->getOperand(0).getType());
  auto const shape = expand ? expand.getResultType().getShape() : source.getShape();
  SmallVector<OpFoldResult> sizes;
  if (expand) {
    sizes = getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder);
  } else {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(parallel);
    sizes = tensor::getMixedSizes(builder, op->getLoc(), op->getOperand(0));
  }
  auto const groups =
      expand ? expand.getReassociationIndices() : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  Indices indices(source.getRank(), zero);
  for (auto [joined, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> parts;
    SmallVector<OpFoldResult> extents;
    for (int64_t dim : group)
      if (shape[dim] != 1) {
        parts.push_back(dim);
        extents.push_back(sizes[dim]);
      }
    if (parts.empty())
      continue;
    if (expand) {
      SmallVector<Value> const own = llvm::map_to_vector(parts, [&](int64_t dim) { return at[dim]; });
      indices[joined] = joinedIndex(builder, op->getLoc(), own, extents);
    } else {
      for (auto [dim, index] : llvm::zip(parts, partIndices(builder, op->getLoc(), at[joined], extents)))
        indices[dim] = index;
    }
  }
  return indices;
}

/// The element of what is another view of its operand.
Value ColumnCode::viewed(Operation *op, Indices const &at) {
  Indices indices;
  auto const before = reading;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    indices.resize(at.size());
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
      indices[from] = at[dim];
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    indices = sliceIndices(slice, at);
    if (isInside(op))
      reading = op->getLoc();
  } else {
    indices = reshapedIndices(op, at);
  }
  Value const found = element(op->getOperand(0), indices);
  reading = before;
  return found;
}

} // namespace ml2k
