//===- FoldWeights.cpp - changes of order and shape go into the constants -----------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

struct FoldWeights : impl::FoldWeightsBase<FoldWeights> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldTranspose, FoldReshape<tensor::ExpandShapeOp>, FoldReshape<tensor::CollapseShapeOp>>(
        &getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
