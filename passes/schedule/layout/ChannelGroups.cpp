//===- ChannelGroups.cpp - norms over groups of channels keep channels last ---------------------------------------===//
//
// A norm over groups of channels joins those of a group and its pixels to rows: [n, c, h, w] becomes [n, g, k * h * w].
// Behind a convolution the image lies channels last, where such rows are no rows. There sums run over the pixels of
// each channel, then over the channels of a group, what is made of them is spread over the channels, and nothing is
// turned.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Provenance.h"
#include "passes/schedule/Tensors.h"
#include "translator/ir/Parts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Of [n, pixels..., channels], to [n, channels, pixels...]; the channels may be several dimensions.
SmallVector<int64_t> channelsToFront(int64_t rank, int64_t channels) {
  SmallVector<int64_t> order{0};
  llvm::append_range(order, llvm::seq<int64_t>(rank - channels, rank));
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - channels));
  return order;
}

/// The transpose of an image that lies channels last into channels first; null for other values.
linalg::TransposeOp turnedImage(Value value, int64_t channels) {
  auto turn = value.getDefiningOp<linalg::TransposeOp>();
  if (!turn)
    return nullptr;
  auto const type = cast<RankedTensorType>(turn.getInput().getType());
  bool const isImage = type.getRank() >= channels + 2 && type.hasStaticShape() &&
                       turn.getPermutation() == ArrayRef<int64_t>(channelsToFront(type.getRank(), channels));
  return isImage ? turn : nullptr;
}

Value throughCollapses(Value value) {
  while (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
    value = collapse.getSrc();
  return value;
}

ReassociationIndices dimensions(int64_t from, int64_t to) { return llvm::to_vector<2>(llvm::seq(from, to)); }

/// One dimension each, but the last two of `rank` together.
SmallVector<ReassociationIndices> lastTwoJoined(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d + 2 < rank; ++d)
    groups.push_back(dimensions(d, d + 1));
  groups.push_back(dimensions(rank - 2, rank));
  return groups;
}

/// [..., g, k] as [..., channels].
Value joinedChannels(PatternRewriter &rewriter, Location loc, Value parts) {
  return rewriter.create<tensor::CollapseShapeOp>(loc, parts,
                                                  lastTwoJoined(cast<RankedTensorType>(parts.getType()).getRank()));
}

/// Of an image [n, pixels..., channels] the rows [n, g, k * pixels] of its groups of k channels.
Value rowsOfGroups(PatternRewriter &rewriter, Location loc, Value image, int64_t count) {
  auto const type = cast<RankedTensorType>(image.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t const channels = shape.pop_back_val(), rank = type.getRank() + 1;
  shape.append({count, channels / count});
  Value const parts = rewriter.create<tensor::ExpandShapeOp>(loc, RankedTensorType::get(shape, type.getElementType()),
                                                             image, lastTwoJoined(rank));
  return rewriter.create<tensor::CollapseShapeOp>(
      loc, transposed(rewriter, loc, parts, channelsToFront(rank, 2)),
      SmallVector<ReassociationIndices>{dimensions(0, 1), dimensions(1, 2), dimensions(2, rank)});
}

/// The transpose to [n, g, k, pixels...] whose rows of groups this value is; null for other values.
linalg::TransposeOp groupsBehind(Value rows) {
  auto collapse = rows.getDefiningOp<tensor::CollapseShapeOp>();
  auto turn = collapse ? turnedImage(collapse.getSrc(), 2) : nullptr;
  bool const isRows = turn && collapse.getResultType().getRank() == 3 &&
                      collapse.getReassociationIndices()[1].size() == 1 &&
                      collapse.getReassociationIndices()[0].size() == 1;
  return isRows ? turn : nullptr;
}

/// Rows of groups of an image that lies channels last: it is split as it lies.
struct GroupsBehindTranspose : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto turn = turnedImage(throughCollapses(op.getSrc()), 1);
    RankedTensorType const rows = op.getResultType();
    if (!turn || rows.getRank() != 3 || turn.getInput() == op.getSrc())
      return failure();
    auto const image = cast<RankedTensorType>(turn.getInput().getType());
    int64_t const groups = rows.getDimSize(1);
    if (rows.getDimSize(0) != image.getDimSize(0) || groups < 1 || image.getShape().back() % groups != 0)
      return failure();
    rewriter.replaceOp(op, rowsOfGroups(rewriter, op.getLoc(), turn.getInput(), groups));
    return success();
  }
};

/// An image that is put together from rows of groups again.
struct ImageOfGroups : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto turn = turnedImage(throughCollapses(op.getSrc()), 2);
    if (!turn)
      return failure();
    auto const groups = cast<RankedTensorType>(turn.getInput().getType());
    SmallVector<int64_t> shape(groups.getShape());
    int64_t const ofGroup = shape.pop_back_val();
    shape.back() *= ofGroup; // [n, pixels..., channels]
    int64_t const rank = shape.size();
    SmallVector<int64_t> const order = channelsToFront(rank, 1);
    auto const isImage = [&] {
      return op.getResultType().getRank() == rank && llvm::all_of(llvm::enumerate(order), [&](auto each) {
               return op.getResultType().getDimSize(each.index()) == shape[each.value()];
             });
    };
    if (!isImage())
      return failure();
    Value const image = joinedChannels(rewriter, op.getLoc(), turn.getInput());
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), image, order));
    return success();
  }
};

/// A part of the layer that an operation comes from.
Location partOfLast(Location location, StringRef part) {
  SmallVector<NameLoc> const names = namesBehind(location);
  if (names.empty())
    return location;
  StringRef const whole = wholeOf(names.back().getName());
  return partOf(NameLoc::get(StringAttr::get(location.getContext(), whole)), part);
}

constexpr StringLiteral sums = "sums", squares = "squares";

/// What the folds below call their sums over pixels.
StringRef partName(Value image) {
  auto term = image.getDefiningOp<linalg::GenericOp>();
  auto product = term ? dyn_cast<arith::MulFOp>(term.getBody()->front()) : nullptr;
  return product && product.getLhs() == product.getRhs() ? squares : sums;
}

/// The part for what is made of such sums: means, or the factors that squares become.
std::optional<StringRef> partOfSums(Value value) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return std::nullopt;
    SmallVector<NameLoc> const names = namesBehind(op->getLoc());
    StringRef const name = names.empty() ? "" : names.back().getName().getValue();
    if (name.ends_with(squares))
      return "scales";
    if (name.ends_with(sums))
      return "means";
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The image [n, pixels..., channels] whose rows of groups this value is; null for other values.
Value imageBehind(Value rows, PatternRewriter &rewriter) {
  linalg::TransposeOp turn = groupsBehind(rows);
  if (!turn)
    return nullptr;
  auto expand = turn.getInput().getDefiningOp<tensor::ExpandShapeOp>();
  if (expand && llvm::equal(expand.getReassociationIndices(), lastTwoJoined(expand.getResultType().getRank())))
    return expand.getSrc();
  return joinedChannels(rewriter, rows.getLoc(), turn.getInput());
}

/// A generic over rows of groups, [n, g, k * pixels], is one over the image as it lies. What it reduces, it reduces
/// over the pixels first, so that neighbouring channels are read together.
struct LoopsOfGroups : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.getNumLoops() != 3 ||
        !op.getBody()->getOps<linalg::IndexOp>().empty())
      return failure();
    RankedTensorType groups; // [n, g, k, pixels...]
    for (OpOperand *operand : op.getDpsInputOperands())
      if (linalg::TransposeOp turn = groupsBehind(operand->get()))
        groups = cast<RankedTensorType>(turn->getResult(0).getType());
    if (!groups)
      return failure();
    if (isParallel(op) &&
        llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *o) { return isReadable(op, *o, groups); }) &&
        op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      rewriter.replaceOp(op, computed(op, groups, rewriter));
    else if (isFold(op))
      rewriter.replaceOp(op, reduced(op, groups, rewriter));
    else
      return failure();
    return success();
  }

private:
  static bool isParallel(linalg::GenericOp op) { return op.getNumParallelLoops() == op.getNumLoops(); }

  /// Whether computed() takes the operand: rows of the same groups, or what is the same along all of a row.
  static bool isReadable(linalg::GenericOp op, OpOperand &operand, RankedTensorType groups) {
    AffineMap const map = op.getMatchingIndexingMap(&operand);
    auto const type = dyn_cast<RankedTensorType>(operand.get().getType());
    linalg::TransposeOp turn = groupsBehind(operand.get());
    bool const isOfGroups =
        turn && cast<RankedTensorType>(turn->getResult(0).getType()).getShape() == groups.getShape();
    if (!type || (map.isIdentity() && isOfGroups))
      return true;
    return type.hasStaticShape() && !map.isFunctionOfDim(2) &&
           llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
  }

  /// A sum from 0, a maximum or a minimum along the rows: parts of it may be made first.
  static bool isFold(linalg::GenericOp op) {
    Block &body = *op.getBody();
    auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
    AffineMap const identity = AffineMap::getMultiDimIdentityMap(3, op.getContext());
    if (!fill || op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1 || body.getOperations().size() != 2 ||
        op.getIndexingMapsArray() != SmallVector<AffineMap>{identity, identity.dropResult(2)} ||
        body.getTerminator()->getOperand(0) != body.front().getResult(0))
      return false;
    if (isa<arith::AddFOp>(body.front()))
      return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
    return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(body.front());
  }

  /// What is the same for all channels of a group, for each of them: [n, c], or [c] where it is the same for all
  /// images.
  static Value spread(linalg::GenericOp op, OpOperand &operand, RankedTensorType groups, PatternRewriter &rewriter) {
    AffineMap const map = op.getMatchingIndexingMap(&operand);
    bool const hasImages = map.isFunctionOfDim(0);
    auto const type = cast<RankedTensorType>(operand.get().getType());
    SmallVector<int64_t> const shape(groups.getShape().slice(hasImages ? 0 : 1, hasImages ? 3 : 2));
    auto const exprs = llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
      return hasImages || isa<AffineConstantExpr>(expr) ? expr : rewriter.getAffineDimExpr(0); // g, then k
    });
    AffineMap const maps[] = {AffineMap::get(shape.size(), 0, exprs, op.getContext()),
                              rewriter.getMultiDimIdentityMap(shape.size())};
    SmallVector<utils::IteratorType> const loops(shape.size(), utils::IteratorType::parallel);
    if (nest::WeightOp weight = weightBehind(operand.get()))
      return spread(weight, type.getShape(), exprs, shape, rewriter);
    std::optional<StringRef> const part = partOfSums(operand.get());
    Location const loc = part ? partOfLast(op.getLoc(), *part) : op.getLoc();
    Value const empty = rewriter.create<tensor::EmptyOp>(loc, shape, type.getElementType());
    Value const parts = rewriter
                            .create<linalg::GenericOp>(
                                loc, empty.getType(), operand.get(), empty, maps, loops,
                                [](OpBuilder &b, Location at, ValueRange v) { b.create<linalg::YieldOp>(at, v[0]); })
                            .getResult(0);
    return joinedChannels(rewriter, op.getLoc(), parts);
  }

  static Value spread(nest::WeightOp weight, ArrayRef<int64_t> from, ArrayRef<AffineExpr> exprs,
                      ArrayRef<int64_t> shape, PatternRewriter &rewriter) {
    auto const place = [&](ArrayRef<int64_t> position) -> std::optional<int64_t> {
      int64_t at = 0;
      for (auto [extent, expr] : llvm::zip(from, exprs))
        at = at * extent + (isa<AffineDimExpr>(expr) ? position[cast<AffineDimExpr>(expr).getPosition()]
                                                     : cast<AffineConstantExpr>(expr).getValue());
      return at;
    };
    OpBuilder::InsertionGuard const guard(rewriter);
    rewriter.setInsertionPoint(weight);
    SmallVector<int64_t> channels(shape);
    int64_t const ofGroup = channels.pop_back_val();
    channels.back() *= ofGroup;
    return replacementWeight(rewriter, weight, reshaped(gathered(weight.getValue(), shape, place), channels));
  }

  static Value computed(linalg::GenericOp op, RankedTensorType groups, PatternRewriter &rewriter) {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    unsigned const rank = groups.getRank() - 1;
    AffineMap const whole = rewriter.getMultiDimIdentityMap(rank);
    AffineExpr const n = rewriter.getAffineDimExpr(0), c = rewriter.getAffineDimExpr(rank - 1);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap const map = op.getMatchingIndexingMap(operand);
      Value const image = map.isIdentity() ? imageBehind(operand->get(), rewriter) : Value();
      bool const isOfGroup = !image && map.isFunctionOfDim(1);
      SmallVector<AffineExpr> exprs(map.getResults()); // of n only
      if (isOfGroup)
        exprs = map.isFunctionOfDim(0) ? SmallVector<AffineExpr>{n, c} : SmallVector<AffineExpr>{c};
      inputs.push_back(image ? image : isOfGroup ? spread(op, *operand, groups, rewriter) : operand->get());
      maps.push_back(image ? whole : AffineMap::get(rank, 0, exprs, op.getContext()));
    }
    maps.push_back(whole);
    SmallVector<int64_t> shape{groups.getDimSize(0)};
    llvm::append_range(shape, groups.getShape().drop_front(3));
    shape.push_back(groups.getDimSize(1) * groups.getDimSize(2));
    auto const element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
    SmallVector<utils::IteratorType> const loops(rank, utils::IteratorType::parallel);
    Value const empty = rewriter.create<tensor::EmptyOp>(op.getLoc(), shape, element);
    auto generic = rewriter.create<linalg::GenericOp>(op.getLoc(), empty.getType(), inputs, empty, maps, loops);
    rewriter.inlineRegionBefore(op.getRegion(), generic.getRegion(), generic.getRegion().begin());
    return rowsOfGroups(rewriter, op.getLoc(), generic.getResult(0), groups.getDimSize(1));
  }

  /// [n, c] over the pixels, then [n, g] over the channels of each group.
  static Value reduced(linalg::GenericOp op, RankedTensorType groups, PatternRewriter &rewriter) {
    Value const image = imageBehind(op.getInputs()[0], rewriter);
    auto const type = cast<RankedTensorType>(image.getType());
    unsigned const rank = type.getRank();
    int64_t const channels = type.getShape().back();
    Value const start = op.getOutputs()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
    Value const empty =
        rewriter.create<tensor::EmptyOp>(op.getLoc(), ArrayRef{type.getDimSize(0), channels}, type.getElementType());
    Value const filled = rewriter.create<linalg::FillOp>(op.getLoc(), start, empty).getResult(0);
    AffineExpr const n = rewriter.getAffineDimExpr(0), c = rewriter.getAffineDimExpr(rank - 1);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
    loops.front() = loops.back() = utils::IteratorType::parallel;
    Value const ofPixels = folded(
        partOfLast(op.getLoc(), partName(image)), op, image, filled,
        {rewriter.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, {n, c}, op.getContext())}, loops, rewriter);
    Value const parts = rewriter.create<tensor::ExpandShapeOp>(
        op.getLoc(), RankedTensorType::get(groups.getShape().take_front(3), type.getElementType()), ofPixels,
        SmallVector<ReassociationIndices>{dimensions(0, 1), dimensions(1, 3)});
    return folded(op.getLoc(), op, parts, op.getOutputs()[0], op.getIndexingMapsArray(), op.getIteratorTypesArray(),
                  rewriter);
  }

  static Value folded(Location loc, linalg::GenericOp op, Value from, Value to, ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> loops, PatternRewriter &rewriter) {
    auto generic = rewriter.create<linalg::GenericOp>(loc, to.getType(), from, to, maps, loops);
    rewriter.cloneRegionBefore(op.getRegion(), generic.getRegion(), generic.getRegion().begin());
    return generic.getResult(0);
  }
};

} // namespace

void populateChannelGroups(RewritePatternSet &patterns) {
  patterns.add<GroupsBehindTranspose, ImageOfGroups, LoopsOfGroups>(patterns.getContext());
}

} // namespace ml2k
