//===- AbsorbTransposes.cpp - products of matrices read and write them as they lie -------------------------*- C++ -*-===//
//
// A product that is not packed addresses its operands by index maps and copies what it works on in any case. So the
// transposes before and behind it, which attention has four of, become maps: heads stay where the projections put them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_ABSORBTRANSPOSES
#include "passes/Passes.h.inc"

namespace {

/// A product of two computed operands: those with a weight are packed and want plain matrices.
bool isBatched(nest::ContractOp op) {
  auto const first = cast<StringAttr>(op.getIterators()[0]).getValue();
  return first == "batch" && op.getResults().size() == 1 && isa<RankedTensorType>(op.getInputs()[0].getType());
}

SmallVector<AffineMap> mapsOf(nest::ContractOp op) {
  return llvm::map_to_vector(op.getIndexingMaps(), [](Attribute map) { return cast<AffineMapAttr>(map).getValue(); });
}

/// The permutation that a transpose does to its operand, result dimension to operand dimension; none for other operations.
std::optional<SmallVector<int64_t>> permutationOf(Operation *op) {
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op))
    return SmallVector<int64_t>(transpose.getPermutation());
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumReductionLoops() != 0 ||
      generic.getBody()->getOperations().size() != 1 ||
      generic.getBody()->getTerminator()->getOperand(0) != generic.getBody()->getArgument(0))
    return std::nullopt;
  AffineMap const in = generic.getIndexingMapsArray()[0], out = generic.getIndexingMapsArray()[1];
  if (!in.isPermutation() || !out.isIdentity())
    return std::nullopt;
  SmallVector<int64_t> permutation(in.getNumResults());
  for (auto [dim, expr] : llvm::enumerate(in.getResults()))
    permutation[cast<AffineDimExpr>(expr).getPosition()] = dim;
  return permutation;
}

struct AbsorbIntoOperand : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    if (!isBatched(op))
      return failure();
    SmallVector<AffineMap> maps = mapsOf(op);
    for (OpOperand &operand : op.getInputsMutable()) {
      Operation *transpose = operand.get().getDefiningOp();
      auto const permutation = permutationOf(transpose);
      if (!permutation)
        continue;
      AffineMap &map = maps[operand.getOperandNumber()];
      SmallVector<AffineExpr> exprs(permutation->size());
      for (auto [result, dim] : llvm::enumerate(*permutation))
        exprs[dim] = map.getResult(result);
      map = AffineMap::get(map.getNumDims(), 0, exprs, op.getContext());
      rewriter.modifyOpInPlace(op, [&] {
        operand.set(transpose->getOperand(0));
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }
};

struct AbsorbIntoResult : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    if (!isBatched(op) || !op->getResult(0).hasOneUse())
      return failure();
    Operation *transpose = *op->getResult(0).user_begin();
    auto const permutation = permutationOf(transpose);
    if (!permutation || transpose->getOperand(0) != op->getResult(0))
      return failure();
    SmallVector<AffineMap> maps = mapsOf(op);
    SmallVector<AffineExpr> exprs;
    for (int64_t dim : *permutation)
      exprs.push_back(maps.back().getResult(dim));
    maps.back() = AffineMap::get(maps.back().getNumDims(), 0, exprs, op.getContext());
    rewriter.setInsertionPoint(transpose); // its destination may stand behind the product
    auto *made = rewriter.clone(*op);
    auto product = cast<nest::ContractOp>(made);
    product.getOutputsMutable().assign(transpose->getOperand(1));
    product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    made->getResult(0).setType(transpose->getResult(0).getType());
    made->setLoc(rewriter.getFusedLoc({op.getLoc(), transpose->getLoc()}));
    rewriter.replaceOp(transpose, made->getResults());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Batch dimensions that were joined for the product only, in both operands the same, are loops of their own.
struct SeparateBatch : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    if (!isBatched(op) || !op.getExtras().empty())
      return failure();
    auto const left = joinedBatch(op, 0), right = joinedBatch(op, 1);
    if (left.empty() || left != right || mapsOf(op).back().getResult(0) != rewriter.getAffineDimExpr(0))
      return failure();
    unsigned const more = left.size() - 1;
    SmallVector<AffineMap> const maps =
        llvm::map_to_vector(mapsOf(op), [&](AffineMap map) { return withBatch(map, left.size()); });
    SmallVector<StringRef> names(more, "batch");
    for (Attribute name : op.getIterators())
      names.push_back(cast<StringAttr>(name).getValue());

    auto const joined = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> shape(left);
    llvm::append_range(shape, joined.getShape().drop_front());
    SmallVector<ReassociationIndices> groups(joined.getRank());
    for (unsigned d = 0; d < shape.size(); ++d)
      groups[d <= more ? 0 : d - more].push_back(d);
    auto const type = RankedTensorType::get(shape, joined.getElementType());
    Value const init = rewriter.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType());
    auto product = cast<nest::ContractOp>(rewriter.clone(*op));
    for (unsigned i : {0, 1})
      product->setOperand(i, op->getOperand(i).getDefiningOp()->getOperand(0));
    product.getOutputsMutable().assign(init);
    product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    product.setIteratorsAttr(rewriter.getStrArrayAttr(names));
    product->getResult(0).setType(type);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, joined, product->getResult(0), groups);
    return success();
  }

private:
  /// The extents that a collapse_shape joins into the first dimension of an operand, if it joins nothing else.
  static SmallVector<int64_t> joinedBatch(nest::ContractOp op, unsigned number) {
    auto collapse = op->getOperand(number).getDefiningOp<tensor::CollapseShapeOp>();
    AffineMap const map = mapsOf(op)[number];
    if (!collapse || !collapse.getSrcType().hasStaticShape() || map.getResult(0) != getAffineDimExpr(0, op.getContext()))
      return {};
    auto const groups = collapse.getReassociationIndices();
    if (groups[0].size() < 2 ||
        llvm::any_of(ArrayRef(groups).drop_front(), [](ReassociationIndices const &group) { return group.size() > 1; }))
      return {};
    return SmallVector<int64_t>(collapse.getSrcType().getShape().take_front(groups[0].size()));
  }

  static AffineMap withBatch(AffineMap map, unsigned batch) {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults()) {
      unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
      for (unsigned i = loop == 0 ? 0 : batch - 1; i < batch; ++i)
        exprs.push_back(getAffineDimExpr(loop + i, map.getContext()));
    }
    return AffineMap::get(map.getNumDims() + batch - 1, 0, exprs, map.getContext());
  }
};

/// Dimensions of extent 1 that were added before a transpose are added behind it.
struct TransposeWithoutUnits : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getInput().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !isUnitReshape(expand) || !expand.getResultType().hasStaticShape())
      return failure();
    SmallVector<int64_t> const kept = dimensionsBefore(expand);
    SmallVector<int64_t> permutation, shape;
    SmallVector<ReassociationIndices> groups;
    for (auto [d, from] : llvm::enumerate(op.getPermutation())) {
      bool const isKept = kept[from] >= 0;
      if (groups.empty() || (isKept && permutation.size() == groups.size()))
        groups.emplace_back();
      groups.back().push_back(d);
      if (isKept) {
        permutation.push_back(kept[from]);
        shape.push_back(expand.getSrcType().getDimSize(kept[from]));
      }
    }
    if (permutation.empty())
      return failure();
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    Value const empty = rewriter.create<tensor::EmptyOp>(op.getLoc(), shape, type.getElementType());
    auto small = rewriter.create<linalg::TransposeOp>(op.getLoc(), expand.getSrc(), empty, permutation);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, small->getResult(0), groups);
    return success();
  }

private:
  /// Of every dimension of the expansion the one that it was, -1 for those of extent 1 that it adds.
  static SmallVector<int64_t> dimensionsBefore(tensor::ExpandShapeOp expand) {
    SmallVector<int64_t> before(expand.getResultType().getRank(), -1);
    for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices())) {
      auto const isLong = [&](int64_t r) { return expand.getResultType().getDimSize(r) != 1; };
      auto const found = llvm::find_if(group, isLong);
      before[found == group.end() ? group.front() : *found] = d;
    }
    return before;
  }
};

struct AbsorbTransposes : impl::AbsorbTransposesBase<AbsorbTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AbsorbIntoOperand, AbsorbIntoResult, SeparateBatch, TransposeWithoutUnits>(&getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
