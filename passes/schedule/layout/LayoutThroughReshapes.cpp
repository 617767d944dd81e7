//===- LayoutThroughReshapes.cpp - transposes that reshapes keep apart --------------------------------------------===//
//
// Patterns of PropagateLayout. Exporters join batch and heads for a product of matrices, add dimensions of extent 1 for
// a transpose, and leave an upsampled image in channels-first order; each of these keeps a transpose from the operation
// that would take it in.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Cleanup.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k {
namespace {

/// A product of two computed operands: those with a weight are packed and want plain matrices.
bool isBatched(nest::ContractOp op) {
  return op.getRole(0) == nest::Role::Batch && op.getResults().size() == 1 &&
         isa<RankedTensorType>(op.getInputs()[0].getType());
}

SmallVector<AffineMap> mapsOf(nest::ContractOp op) {
  return llvm::map_to_vector(op.getIndexingMaps(), [](Attribute map) { return cast<AffineMapAttr>(map).getValue(); });
}

/// A copy of one operand, which may read its elements several times.
bool isSpreading(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumParallelLoops() == op.getNumLoops() &&
         op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 && llvm::hasSingleElement(*op.getBody()) &&
         op.getBody()->getTerminator()->getOperand(0) == op.getBody()->getArgument(0) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

/// Heads that share keys and values (GQA): an operand that is spread over the heads of a group, and has the groups
/// joined for the product only, is read as it was before. The groups and the heads of each are loops of their own.
struct ReadSharedHeads : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    if (!isBatched(op) || !op.getExtras().empty())
      return failure();
    for (unsigned number : {0, 1})
      if (auto const shared = sharedHeads(op, number)) {
        rewrite(op, number, *shared, rewriter);
        return success();
      }
    return failure();
  }

private:
  struct Shared {
    Value source;                   ///< before it is spread
    SmallVector<AffineExpr> places; ///< of the source, over the loops afterwards
    unsigned loop;                  ///< over groups and heads together
    SmallVector<int64_t> extents;   ///< of groups and heads
  };

  /// Loop `loop` becomes this one and the next.
  static AffineExpr moved(AffineExpr expr, unsigned loop) {
    unsigned const position = cast<AffineDimExpr>(expr).getPosition();
    return getAffineDimExpr(position <= loop ? position : position + 1, expr.getContext());
  }

  static std::optional<Shared> sharedHeads(nest::ContractOp op, unsigned number) {
    auto collapse = op->getOperand(number).getDefiningOp<tensor::CollapseShapeOp>();
    auto spread = collapse ? collapse.getSrc().getDefiningOp<linalg::GenericOp>() : nullptr;
    if (!isSpreading(spread))
      return std::nullopt;
    RankedTensorType const type = collapse.getSrcType();
    AffineMap const map = mapsOf(op)[number];
    auto const groups = collapse.getReassociationIndices();
    Shared shared{spread.getInputs()[0], {}, 0, {}};
    for (auto [place, group] : llvm::enumerate(groups))
      for (int64_t dim : group)
        if (type.getDimSize(dim) != 1 &&
            llvm::count_if(group, [&](int64_t d) { return type.getDimSize(d) != 1; }) > 1) {
          auto const loop = dyn_cast<AffineDimExpr>(map.getResult(place));
          if (!loop || type.isDynamicDim(dim) || (!shared.extents.empty() && loop.getPosition() != shared.loop))
            return std::nullopt;
          shared.loop = loop.getPosition();
          shared.extents.push_back(type.getDimSize(dim));
        }
    if (shared.extents.size() != 2 || op.getRole(shared.loop) != nest::Role::Batch ||
        llvm::any_of(mapsOf(op), [](AffineMap m) { return !m.isProjectedPermutation(); }))
      return std::nullopt;
    SmallVector<AffineExpr> loops(type.getRank(), getAffineConstantExpr(0, op.getContext())); // of each dimension
    for (auto [place, group] : llvm::enumerate(groups)) {
      auto const loop = cast<AffineDimExpr>(map.getResult(place));
      unsigned next = loop.getPosition();
      for (int64_t dim : group)
        if (loop.getPosition() != shared.loop)
          loops[dim] = type.getDimSize(dim) != 1 || group.size() == 1 ? moved(loop, shared.loop) : loops[dim];
        else if (type.getDimSize(dim) != 1)
          loops[dim] = getAffineDimExpr(next++, op.getContext());
    }
    for (AffineExpr expr : spread.getMatchingIndexingMap(spread.getDpsInputOperand(0)).getResults()) {
      auto const dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return std::nullopt;
      shared.places.push_back(loops[dim.getPosition()]);
    }
    return shared;
  }

  /// A tensor with the dimension that the loop walks along as two; its map afterwards.
  static SmallVector<ReassociationIndices> split(AffineMap &map, Shared const &shared, SmallVector<int64_t> &shape) {
    SmallVector<ReassociationIndices> groups;
    SmallVector<AffineExpr> exprs;
    SmallVector<int64_t> extents;
    for (auto [expr, extent] : llvm::zip(map.getResults(), shape)) {
      bool const isShared = cast<AffineDimExpr>(expr).getPosition() == shared.loop;
      groups.emplace_back();
      for (unsigned i = 0; i < (isShared ? 2 : 1); ++i) {
        groups.back().push_back(int64_t(exprs.size()));
        exprs.push_back(isShared ? getAffineDimExpr(shared.loop + i, map.getContext()) : moved(expr, shared.loop));
        extents.push_back(isShared ? shared.extents[i] : extent);
      }
    }
    map = AffineMap::get(map.getNumDims() + 1, 0, exprs, map.getContext());
    shape = extents;
    return groups;
  }

  static void rewrite(nest::ContractOp op, unsigned number, Shared const &shared, PatternRewriter &rewriter) {
    SmallVector<AffineMap> maps = mapsOf(op);
    unsigned const other = 1 - number;
    Value const operand = op->getOperand(other);
    auto const joinedOperand = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> shape(joinedOperand.getShape());
    auto const operandGroups = split(maps[other], shared, shape);
    Value const heads = rewriter.create<tensor::ExpandShapeOp>(
        op.getLoc(), RankedTensorType::get(shape, joinedOperand.getElementType()), operand, operandGroups);
    maps[number] = AffineMap::get(maps[number].getNumDims() + 1, 0, shared.places, op.getContext());
    auto const joined = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> outShape(joined.getShape());
    auto const groups = split(maps.back(), shared, outShape);
    auto const type = RankedTensorType::get(outShape, joined.getElementType());
    SmallVector<std::pair<Value, int64_t>> sources;
    for (auto const &[dim, group] : llvm::enumerate(groups))
      for (size_t i = 0; i < group.size(); ++i)
        sources.push_back({op.getOutputs()[0], dim});
    SmallVector<nest::Role> roles(op.getRoles());
    roles.insert(roles.begin() + shared.loop, nest::Role::Batch);
    auto product = cast<nest::ContractOp>(rewriter.clone(*op));
    product->setOperand(number, shared.source);
    product->setOperand(other, heads);
    rewriter.setInsertionPoint(product);
    product.getOutputsMutable().assign(emptyLike(rewriter, op.getLoc(), type, sources));
    rewriter.setInsertionPointAfter(product);
    product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    product.setIteratorsAttr(nest::rolesAttr(rewriter.getContext(), roles));
    product->getResult(0).setType(type);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, joined, product->getResult(0), groups);
  }
};

/// Dimensions of extent 1 that were added before a transpose are added behind it.
struct TransposeWithoutUnits : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getInput().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !isUnitReshape(expand))
      return failure();
    SmallVector<int64_t> const kept = dimensionsBefore(expand);
    SmallVector<int64_t> permutation;
    SmallVector<ReassociationIndices> groups;
    for (auto [d, from] : llvm::enumerate(op.getPermutation())) {
      bool const isKept = kept[from] >= 0;
      if (groups.empty() || (isKept && permutation.size() == groups.size()))
        groups.emplace_back();
      groups.back().push_back(d);
      if (isKept)
        permutation.push_back(kept[from]);
    }
    if (permutation.empty())
      return failure();
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    Value const small = transposed(rewriter, op.getLoc(), expand.getSrc(), permutation);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, small, groups);
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

/// Whether elementwise work, slices and concatenations behind this value end in a transpose to channels last.
bool leadsToChannelsLast(Value value, unsigned depth) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto transpose = dyn_cast<linalg::TransposeOp>(user))
      return transpose.getPermutation() == ArrayRef<int64_t>({0, 2, 3, 1});
    return depth > 0 && isa<linalg::GenericOp, tensor::ConcatOp, tensor::PadOp, tensor::ExtractSliceOp>(user) &&
           leadsToChannelsLast(user->getResult(0), depth - 1);
  });
}

/// An image whose rows, columns or channels are joined from parts, as after an upsampling convolution or a shuffle of
/// channels, in channels-first order: collapse(transpose(x)) = transpose(collapse(transpose'(x))), channels last
/// inside, if somebody behind it wants that.
struct CollapseChannelsLast : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto const groups = op.getReassociationIndices();
    if (!transpose || groups.size() != 4 || groups[0].size() != 1 || op.getSrcType().getRank() < 5 ||
        !leadsToChannelsLast(op.getResult(), 4))
      return failure();
    SmallVector<int64_t> permutation;
    SmallVector<ReassociationIndices> joined;
    for (unsigned group : {0, 2, 3, 1}) {
      joined.emplace_back();
      for (int64_t d : groups[group]) {
        joined.back().push_back(permutation.size());
        permutation.push_back(transpose.getPermutation()[d]);
      }
    }
    Value const ordered = transposed(rewriter, op.getLoc(), transpose.getInput(), permutation);
    Value const image = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), ordered, joined);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), image, {0, 3, 1, 2}));
    return success();
  }
};

/// An image that is spread, each pixel to several, and joined to channels-first order, of one that lies channels last:
/// it is spread as it lies, if somebody behind it wants that.
struct SpreadChannelsLast : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto spread = op.getSrc().getDefiningOp<linalg::GenericOp>();
    auto const groups = op.getReassociationIndices();
    if (!isSpreading(spread) || !spread->hasOneUse() || groups.size() != 4 || groups[0].size() != 1 ||
        groups[1].size() != 1 || !leadsToChannelsLast(op.getResult(), 4))
      return failure();
    OpOperand *operand = spread.getDpsInputOperand(0);
    auto turn = operand->get().getDefiningOp<linalg::TransposeOp>();
    SmallVector<AffineExpr> read(spread.getMatchingIndexingMap(operand).getResults());
    if (read.size() != 4 || (turn && turn.getPermutation() != ArrayRef<int64_t>({0, 3, 1, 2})))
      return failure();
    if (turn)
      std::rotate(read.begin() + 1, read.begin() + 2, read.end()); // as the image lies
    SmallVector<int64_t> order;                                    // of the loops
    SmallVector<ReassociationIndices> joined;
    for (auto [place, group] : llvm::enumerate(std::array{0, 2, 3, 1})) {
      if (read[place] != rewriter.getAffineDimExpr(groups[group].front()))
        return failure();
      joined.emplace_back();
      for (int64_t d : groups[group]) {
        joined.back().push_back(order.size());
        order.push_back(d);
      }
    }
    auto const type = cast<RankedTensorType>(spread.getResult(0).getType());
    SmallVector<int64_t> shape;
    SmallVector<std::pair<Value, int64_t>> sources;
    SmallVector<AffineExpr> renamed(order.size());
    for (auto [loop, d] : llvm::enumerate(order)) {
      shape.push_back(type.getDimSize(d));
      sources.push_back({spread.getOutputs()[0], d});
      renamed[d] = rewriter.getAffineDimExpr(loop);
    }
    for (AffineExpr &expr : read)
      expr = expr.replaceDims(renamed);
    auto const lastType = RankedTensorType::get(shape, type.getElementType());
    AffineMap const maps[] = {AffineMap::get(shape.size(), 0, read, op.getContext()),
                              rewriter.getMultiDimIdentityMap(shape.size())};
    auto last = rewriter.create<linalg::GenericOp>(spread.getLoc(), lastType, turn ? turn.getInput() : operand->get(),
                                                   emptyLike(rewriter, op.getLoc(), lastType, sources), maps,
                                                   spread.getIteratorTypesArray());
    rewriter.cloneRegionBefore(spread.getRegion(), last.getRegion(), last.getRegion().begin());
    Value const image = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), last.getResult(0), joined);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), image, {0, 3, 1, 2}));
    return success();
  }
};

/// Dimensions that a collapse joins and that lie side by side in the same order before a transpose, too, are joined
/// there: collapse(transpose(x)) = transpose'(collapse'(x)). The patches of an image that become the rows of a
/// transformer are in channels-last order by this.
struct CollapseBeforeTranspose : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    bool const isTurned = op->hasOneUse() && isa<linalg::TransposeOp>(*op->user_begin());
    if (!transpose || (!isTurned && !leadsToChannelsLast(op.getResult(), 4)))
      return failure();
    ArrayRef<int64_t> const permutation = transpose.getPermutation();
    auto const groups = op.getReassociationIndices();
    SmallVector<std::pair<int64_t, unsigned>> order; // first dimension of a group in x, number of the group
    for (auto const &[number, group] : llvm::enumerate(groups)) {
      for (auto const &[i, d] : llvm::enumerate(group))
        if (permutation[d] != permutation[group.front()] + int64_t(i))
          return failure();
      order.push_back({permutation[group.front()], unsigned(number)});
    }
    llvm::sort(order);
    SmallVector<ReassociationIndices> joined;
    SmallVector<int64_t> places(groups.size());
    for (auto const &[place, entry] : llvm::enumerate(order)) {
      places[entry.second] = place;
      joined.push_back(llvm::to_vector(llvm::seq<int64_t>(entry.first, entry.first + groups[entry.second].size())));
    }
    Value const collapsed = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), transpose.getInput(), joined);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), collapsed, places));
    return success();
  }
};

/// Dimensions that are split behind a transpose, before another one, are split before it:
/// expand(transpose(x)) = transpose'(expand'(x)). The planes of a volume are a batch of images by this, and the rows of
/// a transformer an image in channels-last order.
struct ExpandBeforeTranspose : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto const groups = op.getReassociationIndices();
    if (!transpose || !op->hasOneUse())
      return failure();
    auto product = dyn_cast<nest::ContractOp>(*op->user_begin());
    bool const isTurned = isa<linalg::TransposeOp>(*op->user_begin());
    bool const isHeads = product && isBatched(product);
    bool const isBatch = groups.front().size() > 1;
    bool const isImage = !isUnitReshape(op) && (isTurned || isHeads || leadsToChannelsLast(op.getResult(), 4));
    if (!isImage && !(isBatch && isTurned))
      return failure();
    SmallVector<OpFoldResult> const sizes = getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), rewriter);
    SmallVector<int64_t> const from = inverse(transpose.getPermutation()); // dimension of x -> of its transpose
    SmallVector<int64_t> shape, places(op.getResultType().getRank());
    SmallVector<OpFoldResult> extents; // in the order of `shape`
    SmallVector<ReassociationIndices> split;
    for (int64_t group : from) {
      split.emplace_back();
      for (int64_t d : groups[group]) {
        places[d] = shape.size();
        split.back().push_back(shape.size());
        shape.push_back(op.getResultType().getDimSize(d));
        extents.push_back(sizes[d]);
      }
    }
    auto const type = RankedTensorType::get(shape, op.getResultType().getElementType());
    Value const parts = rewriter.create<tensor::ExpandShapeOp>(op.getLoc(), type, transpose.getInput(), split, extents);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), parts, places));
    return success();
  }
};

/// A shuffle of channels begins with a split of them: that of an image in channels-last order splits its last
/// dimension, expand(transpose(x)) = transpose'(expand(x)), and its transpose joins that of the shuffle.
struct SplitChannelsLast : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto const groups = op.getReassociationIndices();
    if (!transpose || transpose.getPermutation() != ArrayRef<int64_t>({0, 3, 1, 2}) || groups[1].size() != 2 ||
        op.getResultType().getRank() != 5 || !op->hasOneUse() || !isa<linalg::TransposeOp>(*op->user_begin()))
      return failure();
    ArrayRef<int64_t> const split = op.getResultType().getShape();
    auto const type =
        RankedTensorType::get({split[0], split[3], split[4], split[1], split[2]}, op.getResultType().getElementType());
    Value const parts = rewriter.create<tensor::ExpandShapeOp>(op.getLoc(), type, transpose.getInput(),
                                                               ArrayRef<ReassociationIndices>{{0}, {1}, {2}, {3, 4}});
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), parts, {0, 3, 4, 1, 2}));
    return success();
  }
};

/// The shuffle itself in one pass over pixels as they lie: out[.., c] = in[.., c mod g * n + c / g] for g groups of n.
struct ShuffleInPlace : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto expand = transpose ? transpose.getInput().getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
    SmallVector<ReassociationIndices> const lastTwo{{0}, {1}, {2}, {3, 4}};
    if (!expand || transpose.getPermutation() != ArrayRef<int64_t>({0, 1, 2, 4, 3}) ||
        !llvm::equal(expand.getReassociationIndices(), lastTwo) || !llvm::equal(op.getReassociationIndices(), lastTwo))
      return failure();
    ArrayRef<int64_t> const parts = expand.getResultType().getShape().take_back(2);
    if (llvm::any_of(parts, ShapedType::isDynamic))
      return failure();
    Value const image = expand.getSrc();
    auto const type = cast<RankedTensorType>(op.getType());
    AffineMap const identity = rewriter.getMultiDimIdentityMap(4);
    AffineExpr const c = rewriter.getAffineDimExpr(3);
    SmallVector<AffineExpr> place(identity.getResults());
    place[3] = c % parts[0] * parts[1] + c.floorDiv(parts[0]);
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d = 0; d < 4; ++d)
      sources.push_back({image, d});
    SmallVector<utils::IteratorType> const loops(4, utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, image, emptyLike(rewriter, op.getLoc(), type, sources),
        ArrayRef<AffineMap>{AffineMap::get(4, 0, place, rewriter.getContext()), identity}, loops,
        [](OpBuilder &inside, Location at, ValueRange scalars) { inside.create<linalg::YieldOp>(at, scalars[0]); });
    return success();
  }
};

} // namespace

void populateTransposeBeforeReshape(RewritePatternSet &patterns) {
  patterns.add<CollapseBeforeTranspose, ExpandBeforeTranspose>(patterns.getContext());
  populateJoinedHeads(patterns);
}

void populateLayoutThroughReshapes(RewritePatternSet &patterns) {
  populateTransposeBeforeReshape(patterns);
  populateSeparateBatch(patterns);
  patterns.add<ReadSharedHeads, TransposeWithoutUnits, CollapseChannelsLast, SpreadChannelsLast, SplitChannelsLast,
               ShuffleInPlace>(patterns.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  guardReshapes(patterns);
}

} // namespace ml2k
