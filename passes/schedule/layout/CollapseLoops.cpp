//===- CollapseLoops.cpp - elementwise work on a reshaped result happens before the reshape -----------------------===//
//
// A contraction makes [rows, n]; what follows it in the model has more dimensions. Expansions move down through
// generics so that bias, activation and residual meet the contraction in its own shape. Dimensions of extent 1 do not
// stand in the way.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Cleanup.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_COLLAPSELOOPS
#include "passes/Passes.h.inc"

namespace {

/// Upstream infers the sizes of the expansion that it makes; it cannot where a group has several unknown ones.
bool isInferable(tensor::ExpandShapeOp expand) {
  return llvm::all_of(expand.getReassociationIndices(), [&](ReassociationIndices const &group) {
    return llvm::count_if(group, [&](int64_t d) { return expand.getResultType().isDynamicDim(d); }) <= 1;
  });
}

/// What only sums and maxima read stays in their shape: it becomes a part of them, the squares of an RMS norm say.
bool isForReductions(linalg::GenericOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto reader = dyn_cast<linalg::GenericOp>(user);
    return reader && reader.getNumReductionLoops() != 0;
  });
}

/// Elementwise work on such an expansion: the other operands have the same shape, or none of its joined dimensions.
struct CollapseUnknown : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumLoops() != op.getNumParallelLoops() || op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
        op.hasIndexSemantics() || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
        op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) || isForReductions(op))
      return failure();
    tensor::ExpandShapeOp expand;
    for (OpOperand *input : op.getDpsInputOperands())
      if (auto found = input->get().getDefiningOp<tensor::ExpandShapeOp>();
          found && !isInferable(found) && op.getMatchingIndexingMap(input).isIdentity())
        expand = found;
    if (!expand)
      return failure();
    SmallVector<ReassociationIndices> const groups = expand.getReassociationIndices();
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      maps.push_back(collapsed(op.getMatchingIndexingMap(input), groups));
      if (!maps.back())
        return failure();
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(groups.size()));
    rewrite(op, expand, groups, maps, rewriter);
    return success();
  }

private:
  /// The map over one loop per group; null if it takes a part of a group.
  static AffineMap collapsed(AffineMap map, ArrayRef<ReassociationIndices> groups) {
    MLIRContext *context = map.getContext();
    if (map.isIdentity())
      return AffineMap::getMultiDimIdentityMap(groups.size(), context);
    SmallVector<AffineExpr> exprs(map.getNumDims());
    for (auto [number, group] : llvm::enumerate(groups))
      if (group.size() == 1)
        exprs[group[0]] = getAffineDimExpr(number, context);
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      if (!exprs[dim] && map.isFunctionOfDim(dim))
        return {};
    for (AffineExpr &expr : exprs)
      expr = expr ? expr : getAffineConstantExpr(0, context);
    return map.replaceDimsAndSymbols(exprs, {}, groups.size(), 0);
  }

  static void rewrite(linalg::GenericOp op, tensor::ExpandShapeOp expand, ArrayRef<ReassociationIndices> groups,
                      ArrayRef<AffineMap> maps, PatternRewriter &rewriter) {
    Location const loc = op.getLoc();
    SmallVector<Value> inputs;
    for (OpOperand *input : op.getDpsInputOperands()) {
      bool const isWhole = op.getMatchingIndexingMap(input).isIdentity();
      inputs.push_back(input->get() == expand.getResult() ? expand.getSrc()
                       : isWhole ? rewriter.create<tensor::CollapseShapeOp>(loc, input->get(), groups).getResult()
                                 : input->get());
    }
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    Value const init = rewriter.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(rewriter, loc, expand.getSrc()),
                                                        type.getElementType());
    SmallVector<utils::IteratorType> const parallel(groups.size(), utils::IteratorType::parallel);
    auto made = rewriter.create<linalg::GenericOp>(loc, init.getType(), inputs, init, maps, parallel);
    rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
    SmallVector<OpFoldResult> const sizes =
        getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), rewriter);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, made->getResult(0), groups, sizes);
  }
};

/// Channels of volumes that convolutions make as images, their planes, are concatenated as such:
/// concat(expand(x), expand(y)) = expand(concat(x, y)).
struct ConcatPlanes : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<ReassociationIndices> const planes{{0, 1}, {2}, {3}, {4}};
    if (op.getType().getRank() != 5 || op.getDim() != 4 || !op.getType().hasStaticShape())
      return failure();
    SmallVector<Value> images;
    for (Value input : op.getInputs()) {
      auto expand = input.getDefiningOp<tensor::ExpandShapeOp>();
      if (!expand || !llvm::equal(expand.getReassociationIndices(), planes))
        return failure();
      images.push_back(expand.getSrc());
    }
    Value const joined = rewriter.create<tensor::ConcatOp>(op.getLoc(), 3, images);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, op.getType(), joined, planes);
    return success();
  }
};

struct CollapseLoops : impl::CollapseLoopsBase<CollapseLoops> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, [](OpOperand *operand) {
      auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
      // Padding of a tensor of one element would be lost: upstream asks no group of dimensions whether it is padded
      bool const isScalarPadded =
          isa<tensor::PadOp>(operand->getOwner()) && expand && expand.getSrcType().getRank() == 0;
      return !expand || (isInferable(expand) && !isScalarPadded);
    });
    patterns.add<CollapseUnknown, ConcatPlanes>(&getContext());
    populateReadThroughReshape(patterns);
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    guardReshapes(patterns);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
