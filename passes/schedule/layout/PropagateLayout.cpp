//===- PropagateLayout.cpp - transposes move to the edges of the model and cancel ---------------------------------===//
//
// Convolutions want channels last; the transposes around them sink through elementwise work, concatenation, padding and
// slices towards the outputs until they meet their inverse, a reduction or a contraction that reads any order, or the
// end.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"
#include "passes/schedule/layout/PreparedInputs.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PROPAGATELAYOUT
#include "passes/Passes.h.inc"

namespace {

linalg::TransposeOp transposeBehind(Value value) { return value.getDefiningOp<linalg::TransposeOp>(); }

template <class T> SmallVector<T> permute(ArrayRef<T> values, ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(permutation, [&](int64_t d) { return values[d]; });
}

struct CancelPair : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto first = transposeBehind(op.getInput());
    if (!first)
      return failure();
    SmallVector<int64_t> const both = permute<int64_t>(first.getPermutation(), op.getPermutation());
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), first.getInput(), both));
    return success();
  }
};

/// An input of the model that convolutions read with padding: it is copied into a border anyhow, which the change of
/// layout does as well.
bool isCopiedIntoBorder(linalg::TransposeOp op) {
  return isa<BlockArgument>(op.getInput()) && llvm::all_of(op->getUsers(), [](Operation *user) {
           auto conv = dyn_cast<nest::ConvOp>(user);
           return conv && conv.getBorder() != std::array<int64_t, 4>{0, 0, 0, 0};
         });
}

/// A transpose that only moves dimensions of extent 1 is a reshape.
struct UnitTransposeToReshape : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    auto const from = cast<RankedTensorType>(op.getInput().getType());
    auto const to = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> longDims;
    for (int64_t d : op.getPermutation())
      if (from.getDimSize(d) != 1)
        longDims.push_back(d);
    if (!llvm::is_sorted(longDims) || longDims.empty() || isCopiedIntoBorder(op))
      return failure();
    auto const groupsOf = [](RankedTensorType type) {
      // Units in front join the first long dimension, others the one before them
      SmallVector<ReassociationIndices> groups;
      bool hasLong = false;
      for (int64_t d = 0; d < type.getRank(); ++d) {
        bool const isLong = type.getDimSize(d) != 1;
        if (groups.empty() || (isLong && hasLong))
          groups.emplace_back();
        hasLong |= isLong;
        groups.back().push_back(d);
      }
      return groups;
    };
    SmallVector<int64_t> const shape = llvm::map_to_vector(longDims, [&](int64_t d) { return from.getDimSize(d); });
    auto const flat = RankedTensorType::get(shape, from.getElementType());
    Value value = op.getInput();
    if (from.getRank() != flat.getRank())
      value = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), flat, value, groupsOf(from));
    if (to.getRank() != flat.getRank())
      value = rewriter.create<tensor::ExpandShapeOp>(op.getLoc(), to, value, groupsOf(to));
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// A transpose of the flattened result of a convolution, which lies channels last: the two cancel once the first comes
/// through the bias and activation between them. The tokens of a vision transformer are made so.
bool waitsForTranspose(linalg::TransposeOp op) {
  auto collapse = op.getInput().getDefiningOp<tensor::CollapseShapeOp>();
  Value value = collapse && collapse->hasOneUse() ? collapse.getSrc() : Value();
  bool isBehindOther = false;
  while (value && value.hasOneUse()) {
    if (value.getDefiningOp<linalg::TransposeOp>())
      return isBehindOther;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic || generic.getNumParallelLoops() != generic.getNumLoops() || generic.getNumDpsInputs() == 0)
      return false;
    value = generic.getInputs()[0];
    isBehindOther = true;
  }
  return false;
}

/// Whether the rows of a value, along its last dimension, are summed up: by itself or, for a mean of squares, by way of
/// elementwise work that nothing else stands between.
bool isReadByRows(Value value, bool mayBeBehindOther = true) {
  auto const last = cast<RankedTensorType>(value.getType()).getRank() - 1;
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !reader.isDpsInput(&use) || !reader.getMatchingIndexingMap(&use).isIdentity())
      return false;
    if (!isElementwise(reader))
      return reader.getNumReductionLoops() == 1 &&
             reader.getIteratorTypesArray()[last] == utils::IteratorType::reduction;
    return mayBeBehindOther && reader.getNumDpsInits() == 1 &&
           reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)).isIdentity() &&
           isReadByRows(reader.getResult(0), false);
  });
}

/// Elementwise work on one operand in order and another that lies with its rows across, whose result is read by rows:
/// a residual around a product over tokens, then a norm. It keeps the order, which the row kernel needs.
bool keepsRows(linalg::GenericOp op) {
  if (!isElementwise(op) || op.getNumDpsInits() != 1)
    return false;
  auto const last = static_cast<int64_t>(op.getNumLoops()) - 1;
  bool hasRows = false, hasOthers = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(operand).isIdentity() || weightBehind(operand->get()))
      continue;
    auto transpose = transposeBehind(operand->get());
    (!transpose || transpose.getPermutation().back() == last ? hasRows : hasOthers) = true;
  }
  return hasRows && hasOthers && isReadByRows(op.getResult(0));
}

/// A generic reads a transposed operand in place by another map. Elementwise work that reads it in order instead takes
/// over the order in which it lies (SinkThroughElementwise), unless rows are wanted.
struct AbsorbIntoMap : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool const takesOrder = isElementwise(op) && !keepsRows(op);
    bool changed = false;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap &map = maps[operand->getOperandNumber()];
      auto transpose = transposeBehind(operand->get());
      if (!transpose || (takesOrder && map.isIdentity()) || waitsForTranspose(transpose))
        continue;
      SmallVector<AffineExpr> const exprs = permute<AffineExpr>(map.getResults(), inverse(transpose.getPermutation()));
      map = AffineMap::get(map.getNumDims(), 0, exprs, op.getContext());
      rewriter.modifyOpInPlace(op, [&] { operand->set(transpose.getInput()); });
      changed = true;
    }
    if (changed)
      rewriter.modifyOpInPlace(op, [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
    return success(changed);
  }
};

/// generic(transpose(x), y) = transpose(generic(x, transpose⁻¹(y)))
struct SinkThroughElementwise : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
        !op.getRegion().front().getArguments().back().use_empty())
      return failure();
    linalg::TransposeOp leading;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (auto transpose = transposeBehind(operand->get());
          transpose && op.getMatchingIndexingMap(operand).isIdentity() && !leading)
        leading = transpose;
    if (!leading || waitsForTranspose(leading) || keepsRows(op))
      return failure();
    ArrayRef<int64_t> const permutation = leading.getPermutation();
    // Loop i of the new operation is loop permutation⁻¹(i) of the old one
    SmallVector<int64_t> const back = inverse(permutation);
    SmallVector<AffineExpr> renamed(op.getNumLoops());
    for (auto [old, now] : llvm::enumerate(permutation))
      renamed[old] = rewriter.getAffineDimExpr(now);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *operand : op.getDpsInputOperands())
      addInput(rewriter, op, *operand, back, renamed, inputs, maps);
    auto const old = cast<RankedTensorType>(op.getResult(0).getType());
    auto const type = RankedTensorType::get(permute<int64_t>(old.getShape(), back), old.getElementType());
    maps.push_back(rewriter.getMultiDimIdentityMap(op.getNumLoops()));
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d : back)
      sources.push_back({op.getOutputs()[0], d});
    auto moved = rewriter.create<linalg::GenericOp>(
        op.getLoc(), type, inputs, emptyLike(rewriter, op.getLoc(), type, sources), maps, op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
    for (linalg::IndexOp index : llvm::to_vector(moved.getRegion().getOps<linalg::IndexOp>()))
      rewriter.modifyOpInPlace(index, [&] { index.setDim(permutation[index.getDim()]); });
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), moved.getResult(0), permutation));
    return success();
  }

  static void addInput(PatternRewriter &rewriter, linalg::GenericOp op, OpOperand &operand, ArrayRef<int64_t> back,
                       ArrayRef<AffineExpr> renamed, SmallVector<Value> &inputs, SmallVector<AffineMap> &maps) {
    AffineMap const map = op.getMatchingIndexingMap(&operand);
    unsigned const loops = op.getNumLoops();
    if (auto transpose = transposeBehind(operand.get()); transpose && map.isIdentity()) {
      SmallVector<int64_t> const rest = permute<int64_t>(transpose.getPermutation(), back);
      inputs.push_back(transposed(rewriter, op.getLoc(), transpose.getInput(), rest));
      maps.push_back(rewriter.getMultiDimIdentityMap(loops));
    } else {
      inputs.push_back(operand.get());
      maps.push_back(map.replaceDimsAndSymbols(renamed, {}, loops, 0));
    }
  }
};

/// pad(transpose(x)) = transpose(pad(x))
struct PadThrough : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBehind(op.getSource());
    Value const value = op.getConstantPaddingValue();
    if (!transpose || !value)
      return failure();
    ArrayRef<int64_t> const permutation = transpose.getPermutation();
    SmallVector<int64_t> const back = inverse(permutation);
    SmallVector<int64_t> const shape = permute<int64_t>(op.getType().getShape(), back);
    auto padded = rewriter.create<tensor::PadOp>(
        op.getLoc(), RankedTensorType::get(shape, op.getType().getElementType()), transpose.getInput(),
        permute<OpFoldResult>(op.getMixedLowPad(), back), permute<OpFoldResult>(op.getMixedHighPad(), back), value);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), padded, permutation));
    return success();
  }
};

/// slice(transpose(x)) = transpose(slice(x)), also where the slice drops dimensions of extent 1: one of queries, keys
/// and values.
struct SliceThrough : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBehind(op.getSource());
    if (!transpose)
      return failure();
    ArrayRef<int64_t> const permutation = transpose.getPermutation();
    SmallVector<int64_t> const back = inverse(permutation);
    llvm::SmallBitVector const dropped = op.getDroppedDims();
    SmallVector<int64_t> shape, kept; // of the slice of x; of which dimensions of x it is
    SmallVector<int64_t> extents;     // of dimensions of the transpose
    for (int64_t d = 0, at = 0; d < op.getSourceType().getRank(); ++d)
      extents.push_back(dropped.test(d) ? 1 : op.getType().getDimSize(at++));
    for (auto const &[d, place] : llvm::enumerate(back))
      if (!dropped.test(place)) {
        shape.push_back(extents[place]);
        kept.push_back(d);
      }
    SmallVector<int64_t> order;
    for (auto const &[d, from] : llvm::enumerate(permutation))
      if (!dropped.test(d))
        order.push_back(llvm::find(kept, from) - kept.begin());
    Value const slice = rewriter.create<tensor::ExtractSliceOp>(
        op.getLoc(), RankedTensorType::get(shape, op.getType().getElementType()), transpose.getInput(),
        permute<OpFoldResult>(op.getMixedOffsets(), back), permute<OpFoldResult>(op.getMixedSizes(), back),
        permute<OpFoldResult>(op.getMixedStrides(), back));
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), slice, order));
    return success();
  }
};

/// A contraction with a constant reads transposed and flattened data as it lies; the constant is permuted instead.
struct FlattenIntoWeight : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    auto flatten = op.getInputs()[0].getDefiningOp<tensor::CollapseShapeOp>();
    auto weight = weightBehind(op.getInputs()[1]);
    auto transpose = flatten ? transposeBehind(flatten.getSrc()) : nullptr;
    if (!transpose || !weight || cast<ShapedType>(weight.getType()).getRank() != 2)
      return failure();
    // [m, k...] flattened over k only, its dimensions permuted among themselves
    auto const groups = flatten.getReassociationIndices();
    ArrayRef<int64_t> const permutation = transpose.getPermutation();
    if (groups.size() != 2 || groups[0].size() != 1 || permutation[0] != 0 || op.getIterators().size() != 3)
      return failure();
    auto const type = cast<RankedTensorType>(flatten.getSrcType());
    SmallVector<int64_t> shape{cast<ShapedType>(weight.getType()).getDimSize(0)};
    llvm::append_range(shape, type.getShape().drop_front());
    if (llvm::any_of(shape, ShapedType::isDynamic))
      return failure();
    rewriter.setInsertionPoint(weight);
    auto const unflattened = reshaped(weight.getValue(), shape);
    Value const other = replacementWeight(
        rewriter, weight,
        reshaped(permuted(unflattened, inverse(permutation)), cast<ShapedType>(weight.getType()).getShape()));
    rewriter.setInsertionPoint(op);
    Value const direct = rewriter.create<tensor::CollapseShapeOp>(flatten.getLoc(), transpose.getInput(), groups);
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(ValueRange{direct, other}); });
    return success();
  }
};

/// Whether a constant operand lies in panels, for which the rows of the others and of the result stay rows: not where
/// every entry of a batch has a matrix of its own.
bool isPacked(nest::ContractOp op) { return weightBehind(op.getInputs()[1]) && op.getRole(0) != nest::Role::Batch; }

/// A contraction reads its operands in any order; one with a packed constant wants k to stay innermost.
struct AbsorbIntoContraction : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    unsigned const k = op.getIterators().size() - 1;
    for (unsigned operand : {0u, 1u}) {
      auto transpose = transposeBehind(op.getInputs()[operand]);
      if (!transpose)
        continue;
      AffineMap const old = cast<AffineMapAttr>(op.getIndexingMaps()[operand]).getValue();
      SmallVector<AffineExpr> const exprs = permute<AffineExpr>(old.getResults(), inverse(transpose.getPermutation()));
      if (isPacked(op) && exprs.back() != rewriter.getAffineDimExpr(k))
        continue;
      SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
      maps[operand] = AffineMapAttr::get(AffineMap::get(old.getNumDims(), 0, exprs, op.getContext()));
      rewriter.modifyOpInPlace(op, [&] {
        op.getInputsMutable()[operand].set(transpose.getInput());
        op.setIndexingMapsAttr(rewriter.getArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }
};

/// transpose(contract(...)), used nowhere else: the contraction writes the new order itself, unless its rows are
/// packed.
struct WriteTransposed : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getInput().getDefiningOp<nest::ContractOp>();
    if (!contract || !contract->hasOneUse() || isPacked(contract))
      return failure();
    SmallVector<Attribute> maps(contract.getIndexingMaps().getValue());
    AffineMap const old = cast<AffineMapAttr>(maps.back()).getValue();
    maps.back() = AffineMapAttr::get(AffineMap::get(
        old.getNumDims(), 0, permute<AffineExpr>(old.getResults(), op.getPermutation()), op.getContext()));
    auto moved = cast<nest::ContractOp>(rewriter.clone(*contract));
    moved.setIndexingMapsAttr(rewriter.getArrayAttr(maps));
    moved.getOutputsMutable().assign(op.getInit());
    moved->getResult(0).setType(op->getResult(0).getType());
    rewriter.replaceOp(op, moved->getResults());
    rewriter.eraseOp(contract);
    return success();
  }
};

/// collapse(transpose(x)) where only dimensions of extent 1 vanish = transpose(collapse(x))
struct CollapseUnitsFirst : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBehind(op.getSrc());
    if (!transpose)
      return failure();
    auto const outer = op.getSrcType();
    SmallVector<int64_t> kept; // dimension of `outer` that each result dimension is
    for (ReassociationIndices const &group : op.getReassociationIndices()) {
      int64_t const *first = llvm::find_if(group, [&](int64_t d) { return outer.getDimSize(d) != 1; });
      kept.push_back(first == group.end() ? group.front() : *first);
      if (llvm::count_if(group, [&](int64_t d) { return outer.getDimSize(d) != 1; }) > 1)
        return failure();
    }
    ArrayRef<int64_t> const permutation = transpose.getPermutation();
    SmallVector<int64_t> const innerKept = llvm::map_to_vector(kept, [&](int64_t d) { return permutation[d]; });
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> places; // dimension of x that each collapsed dimension is
    for (int64_t d = 0; d < outer.getRank(); ++d) {
      bool const isKept = llvm::is_contained(innerKept, d);
      if (groups.empty() || (isKept && places.size() == groups.size()))
        groups.emplace_back();
      groups.back().push_back(d);
      if (isKept)
        places.push_back(d);
    }
    Value const collapsed = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), transpose.getInput(), groups);
    SmallVector<int64_t> const order =
        llvm::map_to_vector(innerKept, [&](int64_t d) { return int64_t(llvm::find(places, d) - places.begin()); });
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), collapsed, order));
    return success();
  }
};

struct PropagateLayout : impl::PropagateLayoutBase<PropagateLayout> {
  void runOnOperation() override {
    if (failed(cancelInOrder()) || failed(moveAll()))
      return signalPassFailure();
    getOperation().walk([](linalg::TransposeOp op) { prepareInNewOrder(op); });
  }

private:
  /// Producers come first: what a transpose would cancel is still a transpose when the other one reaches it. A norm
  /// over the channels behind a convolution else takes over the channels-first order that the model names only in
  /// passing.
  LogicalResult cancelInOrder() {
    RewritePatternSet patterns(&getContext());
    patterns.add<CancelPair, SinkThroughElementwise>(&getContext());
    populateTransposeBeforeReshape(patterns);
    populateChannelGroups(patterns);
    GreedyRewriteConfig config = configuration();
    config.useTopDownTraversal = true;
    return applyPatternsAndFoldGreedily(getOperation(), std::move(patterns), config);
  }

  LogicalResult moveAll() {
    RewritePatternSet patterns(&getContext());
    patterns.add<CancelPair, UnitTransposeToReshape, AbsorbIntoMap, SinkThroughElementwise, PadThrough, SliceThrough,
                 FlattenIntoWeight, AbsorbIntoContraction, WriteTransposed, CollapseUnitsFirst>(&getContext());
    populateLayoutThroughReshapes(patterns);
    populateGathersInOrder(patterns);
    populateLines(patterns);
    populateChannelGroups(patterns);
    populateConcatOrder(patterns);
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    return applyPatternsAndFoldGreedily(getOperation(), std::move(patterns), configuration());
  }

  static GreedyRewriteConfig configuration() {
    GreedyRewriteConfig config;
    config.maxIterations = 100;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled; // as in rewriteGreedily()
    return config;
  }
};

} // namespace
} // namespace ml2k
