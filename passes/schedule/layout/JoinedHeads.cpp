//===- JoinedHeads.cpp - heads that exporters join with the batch -------------------------------------------------===//
//
// Patterns of PropagateLayout. nn.MultiheadAttention cuts [s, b, h * d] into [s, b * h, d], turns that and cuts it into
// [b, h, s, d]: a view joins b with a part of what it splits. Split first and joined afterwards, the join is undone
// behind the transpose, and products read the heads where they lie.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Cleanup.h"
#include "passes/schedule/Tensors.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Whether a transpose or the product of two activations, which reads any order, takes the value in.
bool isReadInAnyOrder(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto contract = dyn_cast<nest::ContractOp>(user);
    return isa<linalg::TransposeOp>(user) || (contract && contract.getRole(0) == nest::Role::Batch);
  });
}

/// expand(collapse(x)) where the last dimension that is joined is split again = collapse(expand(x)): [b, h * d] seen as
/// [b * h, d] is [b, h, d] with the first two joined.
struct SplitBeforeJoin : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || !isReadInAnyOrder(op.getResult()))
      return failure();
    RankedTensorType const from = collapse.getSrcType(), to = op.getResultType();
    SmallVector<OpFoldResult> const sizes = getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), rewriter);
    SmallVector<int64_t> shape;             // of what is split
    SmallVector<std::optional<int64_t>> of; // the dimension of the result that a size is; nothing: as in the source
    SmallVector<ReassociationIndices> split, join;
    bool isBoth = false;
    for (auto const &[x, r] : llvm::zip(collapse.getReassociationIndices(), op.getReassociationIndices())) {
      int64_t const first = shape.size();
      auto const add = [&](int64_t extent, std::optional<int64_t> dim) {
        shape.push_back(extent);
        of.push_back(dim);
        return int64_t(shape.size()) - 1;
      };
      if (x.size() == 1) {
        split.emplace_back();
        for (int64_t d : r) {
          split.back().push_back(add(to.getDimSize(d), d));
          join.push_back({split.back().back()});
        }
        continue;
      }
      for (int64_t d : x)
        split.push_back({add(from.getDimSize(d), std::nullopt)});
      join.push_back(llvm::to_vector(llvm::seq<int64_t>(first, shape.size())));
      if (r.size() == 1)
        continue;
      std::optional<int64_t> const inner = partOf(to.getShape().slice(r.front() + 1, r.size() - 1), shape.back());
      if (!inner)
        return failure();
      isBoth = true;
      shape.back() /= *inner;
      for (int64_t d : ArrayRef(r).drop_front()) {
        split.back().push_back(add(to.getDimSize(d), d));
        join.push_back({split.back().back()});
      }
    }
    if (!isBoth)
      return failure();
    SmallVector<OpFoldResult> extents;
    for (auto const &[d, group] : llvm::enumerate(split))
      for (int64_t at : group)
        extents.push_back(!ShapedType::isDynamic(shape[at])
                              ? OpFoldResult(rewriter.getIndexAttr(shape[at]))
                              : (of[at]
                                     ? sizes[*of[at]]
                                     : rewriter.create<tensor::DimOp>(op.getLoc(), collapse.getSrc(), d).getResult()));
    Value const parts = rewriter.create<tensor::ExpandShapeOp>(
        op.getLoc(), RankedTensorType::get(shape, to.getElementType()), collapse.getSrc(), split, extents);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, to, parts, join);
    return success();
  }

private:
  /// The product of extents, if it is known and divides `whole`.
  static std::optional<int64_t> partOf(ArrayRef<int64_t> extents, int64_t whole) {
    if (ShapedType::isDynamic(whole))
      return std::nullopt;
    int64_t product = 1;
    for (int64_t extent : extents) {
      if (ShapedType::isDynamic(extent) || extent <= 0 || (whole / product) % extent != 0)
        return std::nullopt;
      product *= extent;
    }
    return product;
  }
};

/// The extents of dimensions that are not 1.
SmallVector<int64_t> longOnes(RankedTensorType type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> extents;
  for (int64_t d : dims)
    if (type.getDimSize(d) != 1)
      extents.push_back(type.getDimSize(d));
  return extents;
}

/// One group for each dimension that is longer than 1, or for all if none is; their numbers begin at `first`.
void addGroups(RankedTensorType type, ArrayRef<int64_t> dims, int64_t first,
               SmallVector<ReassociationIndices> &groups) {
  groups.emplace_back();
  bool hasLong = false;
  for (auto const &[i, d] : llvm::enumerate(dims)) {
    bool const isLong = type.getDimSize(d) != 1;
    if (isLong && hasLong)
      groups.emplace_back();
    hasLong |= isLong;
    groups.back().push_back(first + i);
  }
}

/// expand(transpose(collapse(x))) where the expansion makes again what was joined, but for dimensions of extent 1, is a
/// transpose of x.
struct UndoBehindTranspose : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto collapse = transpose ? transpose.getInput().getDefiningOp<tensor::CollapseShapeOp>() : nullptr;
    if (!collapse)
      return failure();
    RankedTensorType const from = collapse.getSrcType(), to = op.getResultType();
    auto const groups = collapse.getReassociationIndices();
    SmallVector<int64_t> order;                // of all dimensions of x
    SmallVector<ReassociationIndices> lasting; // of x once turned: each with the dimensions of extent 1 beside it
    SmallVector<ReassociationIndices> again;   // of the result
    bool isJoined = false;
    for (auto const &[number, made] : llvm::enumerate(op.getReassociationIndices())) {
      ReassociationIndices const &parts = groups[transpose.getPermutation()[number]];
      if (longOnes(from, parts) != longOnes(to, made))
        return failure();
      isJoined |= longOnes(from, parts).size() > 1;
      addGroups(from, parts, order.size(), lasting);
      addGroups(to, made, made.front(), again);
      if (again.size() != lasting.size() || llvm::count(longOnes(from, parts), ShapedType::kDynamic) > 1)
        return failure();
      llvm::append_range(order, parts);
    }
    if (!isJoined)
      return failure();
    Value value = transposed(rewriter, op.getLoc(), collapse.getSrc(), order);
    if (lasting.size() != order.size())
      value = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), value, lasting);
    if (int64_t(again.size()) != to.getRank())
      value = rewriter.create<tensor::ExpandShapeOp>(
          op.getLoc(), to, value, again, getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), rewriter));
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// A product whose rows were turned in front of it and are turned once more behind it reads them as they lay, where it
/// has a constant matrix: each row of the result is made of one row. nn.MultiheadAttention turns a batch of sequences
/// into steps of a batch, and back.
struct TurnRowsOnce : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getInputs()[0].getDefiningOp<tensor::CollapseShapeOp>();
    auto transpose = collapse ? collapse.getSrc().getDefiningOp<linalg::TransposeOp>() : nullptr;
    if (!transpose || !isPlain(op) || collapse.getResultType().getRank() != 2)
      return failure();
    auto const groups = collapse.getReassociationIndices();
    ArrayRef<int64_t> const permutation = transpose.getPermutation();
    ArrayRef<int64_t> const rows = permutation.take_front(groups[0].size());
    SmallVector<int64_t> sorted(rows);
    llvm::sort(sorted);
    tensor::ExpandShapeOp expand = rowsBehind(op);
    if (rows == ArrayRef(sorted) || !expand || !isUndone(expand, transpose, rows.size()) ||
        !leadsToTranspose(expand.getResult(), 5))
      return failure();
    SmallVector<int64_t> order(sorted);
    llvm::append_range(order, permutation.drop_front(rows.size()));
    Value const direct = transposed(rewriter, op.getLoc(), transpose.getInput(), order);
    Value const matrix =
        rewriter.create<tensor::CollapseShapeOp>(collapse.getLoc(), collapse.getResultType(), direct, groups);
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable()[0].set(matrix); });
    // The rows in the order of the source, then in the one that is asked for
    SmallVector<int64_t> places = llvm::map_to_vector(
        rows, [&](int64_t d) { return int64_t(llvm::find(sorted, d) - sorted.begin()); }); // of a row's dimension
    SmallVector<int64_t> const back = inverse(places);
    RankedTensorType const old = expand.getResultType();
    SmallVector<OpFoldResult> const sizes =
        getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), rewriter);
    SmallVector<int64_t> shape(old.getShape());
    SmallVector<OpFoldResult> extents(sizes);
    for (auto const &[to, from] : llvm::enumerate(back)) {
      shape[to] = old.getDimSize(from);
      extents[to] = sizes[from];
    }
    for (int64_t d = rows.size(); d < old.getRank(); ++d)
      places.push_back(d);
    rewriter.setInsertionPoint(expand);
    Value const parts =
        rewriter.create<tensor::ExpandShapeOp>(expand.getLoc(), RankedTensorType::get(shape, old.getElementType()),
                                               expand.getSrc(), expand.getReassociationIndices(), extents);
    rewriter.replaceOp(expand, transposed(rewriter, expand.getLoc(), parts, places));
    return success();
  }

private:
  /// Rows, columns and one sum, with nothing else that the epilogue reads.
  static bool isPlain(nest::ContractOp op) {
    auto const map = [&](unsigned number, std::initializer_list<unsigned> dims) {
      SmallVector<AffineExpr> exprs;
      for (unsigned d : dims)
        exprs.push_back(getAffineDimExpr(d, op.getContext()));
      return cast<AffineMapAttr>(op.getIndexingMaps()[number]).getValue() ==
             AffineMap::get(3, 0, exprs, op.getContext());
    };
    return llvm::equal(op.getRoles(), ArrayRef({nest::Role::M, nest::Role::N, nest::Role::K})) &&
           op.getExtras().empty() && op->getNumResults() == 1 && map(0, {0, 2}) && map(1, {1, 2}) && map(2, {0, 1});
  }

  /// The expansion of the rows, behind work that does the same in each row: a bias.
  static tensor::ExpandShapeOp rowsBehind(Operation *op) {
    constexpr unsigned farthest = 4;
    for (unsigned step = 0; step < farthest && op->getNumResults() == 1 && op->hasOneUse(); ++step) {
      OpOperand &use = *op->use_begin();
      if (auto expand = dyn_cast<tensor::ExpandShapeOp>(use.getOwner()))
        return expand;
      auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!generic || !generic.hasPureTensorSemantics() || generic.getNumLoops() != 2 ||
          generic.getNumParallelLoops() != 2 || generic.hasIndexSemantics() || generic.getNumDpsInits() != 1 ||
          !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity() ||
          generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)))
        return {};
      for (OpOperand *input : generic.getDpsInputOperands())
        if (input == &use ? !generic.getMatchingIndexingMap(input).isIdentity()
                          : generic.getMatchingIndexingMap(input).isFunctionOfDim(0))
          return {};
      op = generic;
    }
    return {};
  }

  /// Whether the first dimensions are again those of the rows.
  static bool isUndone(tensor::ExpandShapeOp expand, linalg::TransposeOp transpose, unsigned rows) {
    auto const groups = expand.getReassociationIndices();
    auto const type = cast<RankedTensorType>(transpose->getResult(0).getType());
    if (groups.size() != 2 || groups[0].size() != rows)
      return false;
    Builder builder(expand.getContext());
    SmallVector<OpFoldResult> const sizes =
        getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder);
    auto const shape = expand.getResultType().getShape().take_front(rows);
    bool const isInferable = llvm::count(shape, ShapedType::kDynamic) <= 1;
    return shape == type.getShape().take_front(rows) && llvm::all_of(llvm::seq(rows), [&](unsigned d) {
             auto const size = dyn_cast<Value>(sizes[d]);
             return !size || isInferable || isExtent(size, transpose->getResult(0), d);
           });
  }

  /// Whether elementwise work, reshapes and slices lead to another transpose of the value.
  static bool leadsToTranspose(Value value, unsigned depth) {
    constexpr unsigned several = 4; // readers: time must not grow with the square of them
    return !llvm::hasNItemsOrMore(value.getUses(), several) && llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<linalg::TransposeOp>(user) ||
             (depth > 0 &&
              isa<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(user) &&
              leadsToTranspose(user->getResult(0), depth - 1));
    });
  }
};

/// Batch dimensions that were joined for the product only, in both operands the same, are loops of their own.
struct SeparateBatch : OpRewritePattern<nest::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nest::ContractOp op, PatternRewriter &rewriter) const override {
    if (op.getRole(0) != nest::Role::Batch || op->getNumResults() != 1 || !op.getExtras().empty())
      return failure();
    auto const left = joinedBatch(op, 0), right = joinedBatch(op, 1);
    if (left.empty() || left != right || mapOf(op, 2).getResult(0) != rewriter.getAffineDimExpr(0))
      return failure();
    unsigned const more = left.size() - 1;
    SmallVector<AffineMap> maps;
    for (unsigned number : {0, 1, 2})
      maps.push_back(withBatch(mapOf(op, number), left.size()));
    SmallVector<nest::Role> roles(more, nest::Role::Batch);
    llvm::append_range(roles, op.getRoles());

    auto const joined = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> shape(left);
    llvm::append_range(shape, joined.getShape().drop_front());
    SmallVector<ReassociationIndices> groups(joined.getRank());
    SmallVector<std::pair<Value, int64_t>> sources;
    for (unsigned d = 0; d < shape.size(); ++d) {
      unsigned const before = d <= more ? 0 : d - more;
      groups[before].push_back(d);
      sources.push_back({op.getOutputs()[0], before});
    }
    auto const type = RankedTensorType::get(shape, joined.getElementType());
    Value const init = emptyLike(rewriter, op.getLoc(), type, sources);
    SmallVector<Value> const operands{separated(rewriter, op, 0), separated(rewriter, op, 1)};
    auto product = cast<nest::ContractOp>(rewriter.clone(*op));
    for (unsigned i : {0, 1})
      product->setOperand(i, operands[i]);
    product.getOutputsMutable().assign(init);
    product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    product.setIteratorsAttr(nest::rolesAttr(rewriter.getContext(), roles));
    product->getResult(0).setType(type);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, joined, product->getResult(0), groups);
    return success();
  }

private:
  static AffineMap mapOf(nest::ContractOp op, unsigned number) {
    return cast<AffineMapAttr>(op.getIndexingMaps()[number]).getValue();
  }

  /// The extents that a collapse_shape joins into the batch of an operand, if it joins nothing else.
  static SmallVector<int64_t> joinedBatch(nest::ContractOp op, unsigned number) {
    auto collapse = op->getOperand(number).getDefiningOp<tensor::CollapseShapeOp>();
    auto const place = mapOf(op, number).getResultPosition(getAffineDimExpr(0, op.getContext()));
    if (!collapse || !place || !isa<RankedTensorType>(op->getOperand(number).getType()))
      return {};
    SmallVector<int64_t> extents;
    for (auto const &[d, group] : llvm::enumerate(collapse.getReassociationIndices())) {
      SmallVector<int64_t> const all = longOnes(collapse.getSrcType(), group);
      if (d == *place)
        extents = all;
      else if (all.size() > 1)
        return {};
    }
    return extents.size() > 1 && !llvm::is_contained(extents, ShapedType::kDynamic) ? extents : SmallVector<int64_t>();
  }

  /// The operand before its batch was joined, without other dimensions of extent 1.
  static Value separated(PatternRewriter &rewriter, nest::ContractOp op, unsigned number) {
    auto collapse = op->getOperand(number).getDefiningOp<tensor::CollapseShapeOp>();
    SmallVector<ReassociationIndices> groups;
    for (ReassociationIndices const &group : collapse.getReassociationIndices())
      addGroups(collapse.getSrcType(), group, group.front(), groups);
    if (int64_t(groups.size()) == collapse.getSrcType().getRank())
      return collapse.getSrc();
    return rewriter.create<tensor::CollapseShapeOp>(collapse.getLoc(), collapse.getSrc(), groups);
  }

  static AffineMap withBatch(AffineMap map, unsigned batch) {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults()) {
      if (!isa<AffineDimExpr>(expr)) {
        exprs.push_back(expr);
        continue;
      }
      unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
      for (unsigned i = loop == 0 ? 0 : batch - 1; i < batch; ++i)
        exprs.push_back(getAffineDimExpr(loop + i, map.getContext()));
    }
    return AffineMap::get(map.getNumDims() + batch - 1, 0, exprs, map.getContext());
  }
};

} // namespace

void populateJoinedHeads(RewritePatternSet &patterns) {
  patterns.add<SplitBeforeJoin, UndoBehindTranspose, TurnRowsOnce>(patterns.getContext());
}

void populateSeparateBatch(RewritePatternSet &patterns) { patterns.add<SeparateBatch>(patterns.getContext()); }

} // namespace ml2k
