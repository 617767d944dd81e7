//===- FoldWeights.cpp - changes of order and shape go into the constants -----------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/Rewrite.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FOLDWEIGHTS
#include "passes/Passes.h.inc"

namespace {

bool isByteSized(ShapedType type) {
  return type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() % 8 == 0;
}

struct FoldTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto weight = op.getInput().getDefiningOp<nest::WeightOp>();
    if (!weight || !isByteSized(cast<ShapedType>(weight.getType())))
      return failure();
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, permuted(weight.getValue(), op.getPermutation())));
    return success();
  }
};

template <class Reshape> struct FoldReshape : OpRewritePattern<Reshape> {
  using OpRewritePattern<Reshape>::OpRewritePattern;
  LogicalResult matchAndRewrite(Reshape op, PatternRewriter &rewriter) const override {
    auto weight = op->getOperand(0).template getDefiningOp<nest::WeightOp>();
    auto const type = cast<RankedTensorType>(op.getType());
    if (!weight || !type.hasStaticShape() || !isByteSized(type))
      return failure();
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, reshaped(weight.getValue(), type.getShape())));
    return success();
  }
};

/// A generic that puts every element of a weight in another place: a kernel that is mirrored.
struct FoldRearrangement : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops())
      return failure();
    if (!op.hasPureTensorSemantics())
      return failure();
    auto weight = op.getInputs()[0].getDefiningOp<nest::WeightOp>();
    auto const type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<AffineMap> const maps = op.getIndexingMapsArray();
    Block &body = op.getRegion().front();
    if (!weight || !type || !isByteSized(type) || !type.hasStaticShape() || !maps[1].isIdentity() ||
        type.getNumElements() != weight.getValue().getNumElements() || body.getOperations().size() != 1 ||
        body.getTerminator()->getOperand(0) != body.getArgument(0))
      return failure();
    ArrayRef<int64_t> const shape = cast<ShapedType>(weight.getType()).getShape();
    auto const place = [&](ArrayRef<int64_t> position) -> std::optional<int64_t> {
      int64_t at = 0;
      for (auto [index, extent] : llvm::zip(maps[0].compose(position), shape))
        at = at * extent + index;
      return at;
    };
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, gathered(weight.getValue(), type.getShape(), place)));
    return success();
  }
};

/// A matrix that is used in parts only becomes its parts: directions of a recurrent layer, gates.
struct FoldSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isConstant(Operation *op) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    return slice && !ShapedType::isDynamicShape(slice.getStaticOffsets()) && slice.getType().hasStaticShape() &&
           slice.hasUnitStride();
  }

  /// `lstm.1.R` of lstm.R and 1.
  static std::string withPart(StringRef whole, Twine const &part) {
    auto const [layer, last] = whole.rsplit('.');
    return last.empty() ? (whole + "." + part).str() : (layer + "." + part + "." + last).str();
  }

  static std::string nameOf(tensor::ExtractSliceOp slice, StringRef whole) {
    if (whole == unnamedWeight || whole.starts_with("onnx::"))
      return whole.str();
    for (auto [offset, size, extent] :
         llvm::zip(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getSourceType().getShape()))
      if (size != extent && size > 0 && offset % size == 0)
        return withPart(whole, Twine(offset / size));
      else if (size != extent)
        return withPart(whole, Twine(offset) + "_" + Twine(offset + size));
    return whole.str();
  }

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto weight = op.getSource().getDefiningOp<nest::WeightOp>();
    // Vectors are read at an offset
    if (!weight || op.getType().getRank() < 2 || !isByteSized(op.getType()) ||
        !llvm::all_of(weight->getUsers(), isConstant))
      return failure();
    int64_t count = 0;
    for (Operation *user : weight->getUsers())
      count += cast<tensor::ExtractSliceOp>(user).getType().getNumElements();
    if (count > weight.getValue().getNumElements()) // parts that overlap
      return failure();
    rewriter.setInsertionPoint(weight);
    auto const part =
        reshaped(sliced(weight.getValue(), op.getStaticOffsets(), op.getStaticSizes()), op.getType().getShape());
    auto own = cast<nest::WeightOp>(replacementWeight(rewriter, weight, part).getDefiningOp());
    own.setName(nameOf(op, weight.getName()));
    rewriter.replaceOp(op, own.getResult());
    return success();
  }
};

struct FoldWeights : impl::FoldWeightsBase<FoldWeights> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldSlice, FoldTranspose, FoldRearrangement, FoldReshape<tensor::ExpandShapeOp>,
                 FoldReshape<tensor::CollapseShapeOp>>(&getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
