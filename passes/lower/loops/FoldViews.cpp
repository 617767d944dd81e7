//===- FoldViews.cpp - accesses through transposes and other strides become accesses to what they are views of ----===//
//
// Upstream folds subviews, reshapes and casts into subscripts. A memref.transpose only changes the order of subscripts;
// memref.reinterpret_cast counts elements from the start of contiguous memory.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {
namespace {

struct SourceElement {
  Value memref;
  SmallVector<Value> at;
};

SourceElement through(memref::TransposeOp view, ValueRange at) {
  AffineMap const map = view.getPermutation(); // dimension d of the view is dimension map(d) of its source
  SmallVector<Value> source(at.size());
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    source[cast<AffineDimExpr>(expr).getPosition()] = at[d];
  return {view.getIn(), source};
}

/// `offset + sum of at * stride`
Value linear(OpBuilder &builder, memref::ReinterpretCastOp view, ValueRange at) {
  Location const loc = view.getLoc();
  AffineExpr all = builder.getAffineSymbolExpr(0);
  SmallVector<OpFoldResult> operands = {view.getMixedOffsets()[0]};
  for (auto [index, stride] : llvm::zip(at, view.getMixedStrides())) {
    all = all + builder.getAffineSymbolExpr(operands.size()) * builder.getAffineSymbolExpr(operands.size() + 1);
    operands.push_back(index);
    operands.push_back(stride);
  }
  return getValueOrCreateConstantIndexOp(builder, loc,
                                         affine::makeComposedFoldedAffineApply(builder, loc, all, operands));
}

std::optional<SourceElement> through(OpBuilder &builder, memref::ReinterpretCastOp view, ValueRange at) {
  auto const type = dyn_cast<MemRefType>(view.getSource().getType());
  if (!type || !type.getLayout().isIdentity() || type.getRank() == 0)
    return std::nullopt;
  Location const loc = view.getLoc();
  OpFoldResult rest = linear(builder, view, at);
  SmallVector<Value> source(type.getRank());
  AffineExpr const number = builder.getAffineSymbolExpr(0), extent = builder.getAffineSymbolExpr(1);
  auto const apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(builder, loc, expr, operands);
  };
  for (int64_t d = type.getRank(); d-- > 1;) {
    OpFoldResult const size = getAsOpFoldResult(builder.createOrFold<memref::DimOp>(loc, view.getSource(), d));
    source[d] = getValueOrCreateConstantIndexOp(builder, loc, apply(number % extent, {rest, size}));
    rest = apply(number.floorDiv(extent), {rest, size});
  }
  source[0] = getValueOrCreateConstantIndexOp(builder, loc, rest);
  return SourceElement{view.getSource(), source};
}

std::optional<SourceElement> sourceOf(OpBuilder &builder, Value memref, ValueRange at) {
  if (auto view = memref.getDefiningOp<memref::TransposeOp>())
    return through(view, at);
  if (auto view = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return through(builder, view, at);
  return std::nullopt;
}

template <class Op> bool fold(Op op) {
  OpBuilder builder(op);
  std::optional<SourceElement> const source = sourceOf(builder, op.getMemref(), op.getIndices());
  if (!source)
    return false;
  op.getMemrefMutable().assign(source->memref);
  op.getIndicesMutable().assign(source->at);
  return true;
}

} // namespace

bool foldViews(func::FuncOp entry) {
  bool changed = false;
  entry.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      changed |= fold(load);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      changed |= fold(store);
  });
  if (changed)
    entry.walk([](Operation *op) {
      if (isa<memref::TransposeOp, memref::ReinterpretCastOp>(op) && op->use_empty())
        op->erase();
    });
  return changed;
}

} // namespace ml2k
