//===- SkippedZeros.cpp - products with a weight leave out what is padded with zeros -----------------------------===//
//
// An inverse transform of a few frequencies begins with zeros for all others. A sum over them sums the others; rows of
// zeros stay zeros and are put behind the product, where the next one leaves them out.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/canonicalize/NeededElements.h"
#include "passes/canonicalize/Ranges.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace ml2k {
namespace {

bool isZeros(Value tensor) {
  if (auto weight = tensor.getDefiningOp<nest::WeightOp>()) {
    auto const value = dyn_cast<DenseElementsAttr>(weight.getValue());
    return value && value.isSplat() && isZero(cast<TypedAttr>(value.getSplatValue<Attribute>()));
  }
  auto const value = fillValue(tensor);
  return value && isZero(*value);
}

/// A tensor that is padded with zeros, by known numbers of them.
tensor::PadOp paddedWithZeros(Value value) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  TypedAttr constant;
  bool const isKnown = pad && pad.getSourceType().hasStaticShape() && pad.getResultType().hasStaticShape() &&
                       pad.getSourceType().getNumElements() > 0 &&
                       llvm::all_of(pad.getStaticLow(), [](int64_t n) { return n >= 0; }) &&
                       llvm::all_of(pad.getStaticHigh(), [](int64_t n) { return n >= 0; });
  Value const filler = isKnown ? pad.getConstantPaddingValue() : Value();
  return filler && matchPattern(filler, m_Constant(&constant)) && isZero(constant) ? pad : tensor::PadOp();
}

/// Whether nothing that is multiplied with zero becomes NaN.
bool isFinite(nest::WeightOp weight) {
  if (!isa<FloatType>(getElementTypeOrSelf(weight.getType())))
    return true;
  return llvm::all_of(constantDoubles(weight.getValue()), [](double value) { return std::isfinite(value); });
}

/// The source padded in all dimensions but `dim`.
Value withoutPadding(OpBuilder &builder, tensor::PadOp pad, unsigned dim) {
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  low[dim] = high[dim] = builder.getIndexAttr(0);
  auto const isNone = [](OpFoldResult n) { return isConstantIntValue(n, 0); };
  if (llvm::all_of(low, isNone) && llvm::all_of(high, isNone))
    return pad.getSource();
  SmallVector<int64_t> shape(pad.getResultType().getShape());
  shape[dim] = pad.getSourceType().getDimSize(dim);
  return builder.create<tensor::PadOp>(pad.getLoc(), RankedTensorType::get(shape, pad.getResultType().getElementType()),
                                       pad.getSource(), low, high, pad.getConstantPaddingValue());
}

/// Of a dimension, what is not padded, or lies in parts of a concatenation that are not zeros. Nothing if that is all.
std::optional<Ranges> nonZeros(Value value, unsigned dim) {
  Ranges ranges;
  if (tensor::PadOp pad = paddedWithZeros(value)) {
    ranges.add(pad.getStaticLow()[dim], pad.getStaticLow()[dim] + pad.getSourceType().getDimSize(dim));
  } else if (auto concat = value.getDefiningOp<tensor::ConcatOp>();
             concat && concat.getDim() == dim && concat.getResultType().hasStaticShape()) {
    int64_t begin = 0;
    for (Value input : concat.getInputs()) {
      auto const type = cast<RankedTensorType>(input.getType());
      if (type.isDynamicDim(dim))
        return std::nullopt;
      if (type.getDimSize(dim) > 0 && !isZeros(input))
        ranges.add(begin, begin + type.getDimSize(dim));
      begin += type.getDimSize(dim);
    }
  }
  bool const isPart = ranges.count() > 0 && ranges.size() < cast<RankedTensorType>(value.getType()).getDimSize(dim);
  return isPart ? std::optional(ranges) : std::nullopt;
}

Value withoutZeros(OpBuilder &builder, Value value, unsigned dim) {
  if (tensor::PadOp pad = paddedWithZeros(value))
    return withoutPadding(builder, pad, dim);
  SmallVector<Value> parts;
  for (Value input : value.getDefiningOp<tensor::ConcatOp>().getInputs())
    if (cast<RankedTensorType>(input.getType()).getDimSize(dim) > 0 && !isZeros(input))
      parts.push_back(input);
  return parts.size() == 1 ? parts[0] : builder.create<tensor::ConcatOp>(value.getLoc(), dim, parts).getResult();
}

/// Whether zeros around the result are worth moving: all who read it leave them out in turn.
bool isReadWithoutZeros(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp>(user))
      return true;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && isMultiplyAdd(generic) && llvm::any_of(generic.getInputs(), [](Value input) {
             return input.getDefiningOp<nest::WeightOp>() != nullptr;
           });
  });
}

struct SkippedZeros : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !isMultiplyAdd(op) || !hasFreshOutput(op) || !isZeros(op.getOutputs()[0]) ||
        !op.getIndexingMapsArray().back().isProjectedPermutation())
      return failure();
    for (unsigned input : {0, 1})
      if (auto weight = op.getInputs()[1 - input].getDefiningOp<nest::WeightOp>())
        for (unsigned dim = 0; dim < op.getIndexingMapsArray()[input].getNumResults(); ++dim)
          if (succeeded(skip(op, input, dim, weight, rewriter)))
            return success();
    return failure();
  }

  static LogicalResult skip(linalg::GenericOp op, unsigned input, unsigned dim, nest::WeightOp weight,
                            PatternRewriter &rewriter) {
    SmallVector<AffineMap> const maps = op.getIndexingMapsArray();
    auto const index = dyn_cast<AffineDimExpr>(maps[input].getResult(dim));
    auto const ranges = index ? nonZeros(op.getInputs()[input], dim) : std::nullopt;
    if (!ranges)
      return failure();
    auto const own = dimensionsOf(maps[input], index.getPosition()),
               others = dimensionsOf(maps[1 - input], index.getPosition());
    bool const isSummed = op.getIteratorTypesArray()[index.getPosition()] == utils::IteratorType::reduction;
    tensor::PadOp pad = paddedWithZeros(op.getInputs()[input]);
    if (!own || own->size() != 1 || !others || others->size() > 1 ||
        (!others->empty() && !hasPartAt(weight, *ranges)) || !isFinite(weight) ||
        (isSummed ? others->empty() : !pad || !isReadWithoutZeros(op.getResult(0))))
      return failure();
    SmallVector<Value> inputs(op.getInputs());
    inputs[input] = withoutZeros(rewriter, inputs[input], dim);
    for (unsigned place : *others)
      inputs[1 - input] = partAt(rewriter, op.getLoc(), inputs[1 - input], place, *ranges);
    auto const type = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<int64_t> shape(type.getShape());
    if (isSummed) {
      rewriter.replaceOp(op, withInputs(rewriter, op, inputs, shape));
      return success();
    }
    unsigned const at = dimensionsOf(maps.back(), index.getPosition())->front();
    shape[at] = ranges->size();
    Value const made = withInputs(rewriter, op, inputs, shape).getResult(0);
    SmallVector<OpFoldResult> low(type.getRank(), rewriter.getIndexAttr(0)), high = low;
    low[at] = rewriter.getIndexAttr(ranges->begin());
    high[at] = rewriter.getIndexAttr(type.getDimSize(at) - ranges->begin() - ranges->size());
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, type, made, low, high, pad.getConstantPaddingValue());
    return success();
  }
};

/// A slice of all of what is padded is the padded slice; one of the source alone is that of the source.
struct SliceOfPadded : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    tensor::PadOp pad = paddedWithZeros(op.getSource());
    if (!pad || !op.hasUnitStride() || op.getType().getRank() != pad.getResultType().getRank() ||
        ShapedType::isDynamicShape(op.getStaticOffsets()) || ShapedType::isDynamicShape(op.getStaticSizes()))
      return failure();
    SmallVector<OpFoldResult> offsets, sizes, low, high;
    for (int64_t d = 0; d < pad.getSourceType().getRank(); ++d) {
      int64_t const before = pad.getStaticLow()[d], extent = pad.getSourceType().getDimSize(d);
      int64_t const offset = op.getStaticOffsets()[d], size = op.getStaticSizes()[d];
      bool const isInside = offset >= before && offset + size <= before + extent;
      if (!isInside && (offset != 0 || size != pad.getResultType().getDimSize(d)))
        return failure();
      offsets.push_back(rewriter.getIndexAttr(isInside ? offset - before : 0));
      sizes.push_back(rewriter.getIndexAttr(isInside ? size : extent));
      low.push_back(rewriter.getIndexAttr(isInside ? 0 : before));
      high.push_back(rewriter.getIndexAttr(isInside ? 0 : pad.getStaticHigh()[d]));
    }
    Value const part =
        rewriter.create<tensor::ExtractSliceOp>(op.getLoc(), pad.getSource(), offsets, sizes, op.getMixedStrides());
    if (part.getType() == op.getType())
      rewriter.replaceOp(op, part);
    else
      rewriter.replaceOpWithNewOp<tensor::PadOp>(op, op.getType(), part, low, high, pad.getConstantPaddingValue());
    return success();
  }
};

/// Dimensions of one element are dropped in front of the padding of others.
struct DroppedBeforePadding : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    tensor::PadOp pad = paddedWithZeros(op.getSrc());
    if (!pad)
      return failure();
    SmallVector<OpFoldResult> low, high;
    for (ReassociationIndices const &group : op.getReassociationIndices()) {
      int64_t before = 0, after = 0, longer = 0;
      for (int64_t d : group) {
        longer += pad.getResultType().getDimSize(d) != 1;
        before += pad.getStaticLow()[d];
        after += pad.getStaticHigh()[d];
      }
      if (longer > 1 && before + after > 0)
        return failure();
      low.push_back(rewriter.getIndexAttr(before));
      high.push_back(rewriter.getIndexAttr(after));
    }
    Value const source =
        rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), pad.getSource(), op.getReassociationIndices());
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, op.getType(), source, low, high, pad.getConstantPaddingValue());
    return success();
  }
};

} // namespace

void populateSkippedZeros(RewritePatternSet &patterns) {
  patterns.add<SkippedZeros, SliceOfPadded, DroppedBeforePadding>(patterns.getContext());
}

} // namespace ml2k
