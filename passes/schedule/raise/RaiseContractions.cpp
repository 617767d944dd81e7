//===- RaiseContractions.cpp - sums of products become nest.contract ----------------------------------------------===//
//
// Any matrix product, whatever its index maps: loops are sorted into batch, m, n and k; the constant operand is b and
// lies as [n, k]; adjacent m (and batch, k) loops that lie contiguous become one. The output is in the order batch, m,
// n.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/Tensors.h"
#include "passes/schedule/raise/GatheredProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISECONTRACTIONS
#include "passes/Passes.h.inc"

namespace {

/// Loops of a contraction by role; each list in the order in which the loops stand in the operand that fixes it.
struct Roles {
  SmallVector<unsigned> batch, m, n, k;
};

/// Sorts the loops of a generic; fails if one has no role. A matrix-vector product has no m or no n.
std::optional<Roles> rolesOf(linalg::GenericOp op) {
  auto const maps = op.getIndexingMapsArray();
  if (llvm::any_of(maps, [](AffineMap map) { return !map.isProjectedPermutation(/*allowZeroInResults=*/true); }) ||
      !maps[2].isProjectedPermutation())
    return std::nullopt;
  auto const has = [&](unsigned operand, unsigned loop) { return maps[operand].isFunctionOfDim(loop); };
  Roles roles;
  for (AffineExpr expr : maps[2].getResults()) {
    unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
    bool const inA = has(0, loop), inB = has(1, loop);
    if (!inA && !inB)
      return std::nullopt;
    (inA && inB ? roles.batch : inA ? roles.m : roles.n).push_back(loop);
  }
  for (AffineExpr expr : maps[0].getResults()) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
    if (has(2, loop))
      continue;
    if (!has(1, loop))
      return std::nullopt;
    roles.k.push_back(loop);
  }
  unsigned const sorted = roles.batch.size() + roles.m.size() + roles.n.size() + roles.k.size();
  if (roles.k.empty() || sorted != op.getNumLoops())
    return std::nullopt;
  return roles;
}

/// The operand without its dimensions of extent 1, but for one of every group that has no other; `map` follows.
Value withoutUnits(PatternRewriter &rewriter, Location loc, Value value, AffineMap &map,
                   ArrayRef<ArrayRef<unsigned>> groups) {
  auto const type = cast<RankedTensorType>(value.getType());
  auto const dimOf = [&](unsigned loop) { return *map.getResultPosition(getAffineDimExpr(loop, map.getContext())); };
  llvm::SmallBitVector kept(type.getRank());
  for (ArrayRef<unsigned> group : groups) {
    bool hasLong = false;
    for (unsigned loop : group)
      if (type.getDimSize(dimOf(loop)) != 1) {
        kept.set(dimOf(loop));
        hasLong = true;
      }
    if (!hasLong && !group.empty())
      kept.set(dimOf(group.front()));
  }
  if (kept.all())
    return value;
  SmallVector<ReassociationIndices> joined;
  SmallVector<AffineExpr> exprs;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (joined.empty() || (kept.test(d) && exprs.size() == joined.size()))
      joined.emplace_back();
    joined.back().push_back(d);
    if (kept.test(d))
      exprs.push_back(map.getResult(d));
  }
  map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  return rewriter.create<tensor::CollapseShapeOp>(loc, value, joined);
}

/// An operand with the given loops in this order, groups of them as one dimension each.
Value arranged(PatternRewriter &rewriter, Location loc, Value value, AffineMap map,
               ArrayRef<ArrayRef<unsigned>> groups) {
  value = withoutUnits(rewriter, loc, value, map, groups);
  SmallVector<int64_t> order;
  SmallVector<ReassociationIndices> joined;
  for (ArrayRef<unsigned> group : groups) {
    if (group.empty())
      continue;
    joined.emplace_back();
    for (unsigned loop : group)
      if (auto const dim = map.getResultPosition(getAffineDimExpr(loop, map.getContext()))) {
        joined.back().push_back(order.size());
        order.push_back(*dim);
      }
  }
  Value const ordered = transposed(rewriter, loc, value, order);
  if (joined.size() == order.size())
    return ordered;
  return rewriter.create<tensor::CollapseShapeOp>(loc, ordered, joined);
}

struct RaiseContraction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !isMultiplyAdd(op))
      return failure();
    auto roles = rolesOf(op);
    auto const start = fillValue(op.getOutputs()[0]);
    if (!roles || !start || !isZero(*start) || !staticOrOne(op, *roles) || isSumAlongRows(op, *roles) ||
        isOfTinyMatrices(op, *roles))
      return failure();
    Value a = op.getInputs()[0], b = op.getInputs()[1];
    AffineMap mapA = op.getIndexingMapsArray()[0], mapB = op.getIndexingMapsArray()[1];
    if (!weightBehind(b) && ((weightBehind(a) && !isOfEntries(op, *roles)) || !columnsAreLast(op, *roles))) {
      std::swap(a, b);
      std::swap(mapA, mapB);
      std::swap(roles->m, roles->n);
    }
    if (weightBehind(b))
      dropUnitBatch(op, *roles);
    if (weightBehind(b) && isOfFewRows(op, *roles, b, mapA, mapB)) {
      b = byEntries(rewriter, op.getLoc(), *roles, b, mapB);
      return buildAsIs(op, rewriter, *roles, a, mapA, b, mapB), success();
    }
    if (!weightBehind(b) && (isBroadcast(*roles, mapA, mapB, op.getIndexingMapsArray()[2]) || hasOpenBatch(op, *roles)))
      return buildAsIs(op, rewriter, *roles, a, mapA, b, mapB), success();
    build(op, rewriter, *roles, a, mapA, b, mapB);
    return success();
  }

private:
  /// Whether every entry of a batch has matrices of its own. Constant ones are packed as little as others, so that
  /// those on the left stay there: the scores of constant queries lie in rows, as their softmax reads them.
  static bool isOfEntries(linalg::GenericOp op, Roles const &roles) {
    auto const ranges = op.getStaticLoopRanges();
    return llvm::any_of(roles.batch, [&](unsigned loop) { return ranges[loop] != 1; });
  }

  /// Whether every entry of a batch has a constant matrix of its own, for a few rows that lie across memory: the modes
  /// of a spectral layer. What is read there is little beside the matrices, and what is made has the same order.
  static bool isOfFewRows(linalg::GenericOp op, Roles const &roles, Value b, AffineMap mapA, AffineMap mapB) {
    constexpr int64_t few = 4;
    auto const ranges = op.getStaticLoopRanges();
    auto const isLong = [&](unsigned loop) { return ranges[loop] != 1; };
    bool const isInOrder = !roles.k.empty() && isa<AffineDimExpr>(mapA.getResults().back()) &&
                           cast<AffineDimExpr>(mapA.getResults().back()).getPosition() == roles.k.back();
    return b.getDefiningOp<nest::WeightOp>() && mapB.isProjectedPermutation() && llvm::any_of(roles.batch, isLong) &&
           !isInOrder && llvm::none_of(ranges, ShapedType::isDynamic) && roles.m.size() == 1 &&
           ranges[roles.m[0]] <= few && roles.n.size() == 1 && roles.k.size() == 1;
  }

  /// The constant as [batch, k, n], which its map follows.
  static Value byEntries(PatternRewriter &rewriter, Location loc, Roles const &roles, Value b, AffineMap &mapB) {
    SmallVector<unsigned> loops(roles.batch);
    llvm::append_range(loops, roles.k);
    llvm::append_range(loops, roles.n);
    SmallVector<int64_t> order;
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : loops) {
      exprs.push_back(rewriter.getAffineDimExpr(loop));
      order.push_back(*mapB.getResultPosition(exprs.back()));
    }
    mapB = AffineMap::get(mapB.getNumDims(), 0, exprs, rewriter.getContext());
    return transposed(rewriter, loc, b, order);
  }

  /// Whether loops follow each other in a map.
  static bool areNeighbours(ArrayRef<unsigned> loops, AffineMap map) {
    for (size_t i = 1; i < loops.size(); ++i)
      if (*map.getResultPosition(getAffineDimExpr(loops[i], map.getContext())) !=
          *map.getResultPosition(getAffineDimExpr(loops[i - 1], map.getContext())) + 1)
        return false;
    return true;
  }

  /// Whether several matrices of one operand meet the same one of the other, and their rows, or columns, are not those
  /// of one larger matrix: making one of them would take copies.
  static bool isBroadcast(Roles const &roles, AffineMap a, AffineMap b, AffineMap c) {
    return !(areNeighbours(roles.m, a) && areNeighbours(roles.m, c) && areNeighbours(roles.n, b) &&
             areNeighbours(roles.n, c));
  }

  /// Whether matrices are counted by several loops in a program with run-time extents: as one loop they would be
  /// copied, since no index is divided by such an extent to find them where they lie.
  static bool hasOpenBatch(linalg::GenericOp op, Roles const &roles) {
    return roles.batch.size() > 1 && llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
  }

  /// Operands where they lie; loops that only one of them has are loops over matrices, but for the last ones.
  static void buildAsIs(linalg::GenericOp op, PatternRewriter &rewriter, Roles const &roles, Value a, AffineMap mapA,
                        Value b, AffineMap mapB) {
    using nest::Role;
    AffineMap const mapC = op.getIndexingMapsArray()[2];
    SmallVector<Role> iterators;
    SmallVector<AffineExpr> places(op.getNumLoops());
    auto const add = [&](unsigned loop, Role role) {
      places[loop] = rewriter.getAffineDimExpr(iterators.size());
      iterators.push_back(role);
    };
    auto const isLast = [](ArrayRef<unsigned> loops, unsigned loop) { return !loops.empty() && loops.back() == loop; };
    for (AffineExpr expr : mapC.getResults())
      if (unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
          !isLast(roles.m, loop) && !isLast(roles.n, loop))
        add(loop, Role::Batch);
    if (!roles.m.empty())
      add(roles.m.back(), Role::M);
    if (!roles.n.empty())
      add(roles.n.back(), Role::N);
    for (unsigned loop : roles.k)
      add(loop, Role::K);
    auto const sorted = [&](AffineMap map) { return map.replaceDimsAndSymbols(places, {}, places.size(), 0); };
    auto const type = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sources.push_back({op.getOutputs()[0], d});
    Location const loc = op.getLoc();
    auto contract = rewriter.create<nest::ContractOp>(
        loc, TypeRange{type}, "contract", ValueRange{a, b}, ValueRange{}, emptyLike(rewriter, loc, type, sources),
        rewriter.getAffineMapArrayAttr({sorted(mapA), sorted(mapB), sorted(mapC)}),
        nest::rolesAttr(rewriter.getContext(), iterators), /*bias=*/IntegerAttr());
    rewriter.replaceOp(op, contract->getResults());
    Block *block = rewriter.createBlock(&contract.getEpilogue(), {}, type.getElementType(), loc);
    rewriter.create<nest::YieldOp>(loc, block->getArgument(0));
  }

  /// Whether n has the dimension in which neighbours of the result lie: tiles are stored as they are then.
  static bool columnsAreLast(linalg::GenericOp op, Roles const &roles) {
    auto const ranges = op.getStaticLoopRanges();
    for (AffineExpr expr : llvm::reverse(op.getIndexingMapsArray()[2].getResults())) {
      unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
      if (ranges[loop] != 1)
        return !llvm::is_contained(roles.m, loop);
    }
    return !roles.n.empty() || roles.m.empty();
  }

  /// A batch of one beside a weight is a spelling (TOSA's) of the plain product: its loops count as rows.
  static void dropUnitBatch(linalg::GenericOp op, Roles &roles) {
    auto const ranges = op.getStaticLoopRanges();
    if (llvm::any_of(roles.batch, [&](unsigned loop) { return ranges[loop] != 1; }))
      return;
    roles.m.append(roles.batch.begin(), roles.batch.end());
    roles.batch.clear();
  }

  /// Whether no other computation makes what is multiplied or goes on with the result.
  static bool standsAlone(linalg::GenericOp op) {
    auto const isComputation = [](Operation *other) { return isa_and_nonnull<linalg::LinalgOp>(other); };
    return llvm::none_of(op.getInputs(), [&](Value input) { return isComputation(input.getDefiningOp()); }) &&
           llvm::none_of(op->getUsers(), isComputation);
  }

  /// Products of tiny matrices for many entries of a batch, such as rotations and gradients of a velocity: a tile of
  /// registers would be mostly empty. They stay sums over elements, and what follows goes on in the same kernel. Where
  /// nothing does, rows of 4 or 8 fill registers well enough: 65,536 products of 4 x 4 in half of the time.
  static bool isOfTinyMatrices(linalg::GenericOp op, Roles const &roles) {
    constexpr int64_t most = 64, many = 16; // multiplications for each of so many entries
    auto const ranges = op.getStaticLoopRanges();
    auto const isMany = [&](unsigned loop) { return ShapedType::isDynamic(ranges[loop]) || ranges[loop] >= many; };
    Type const type = cast<ShapedType>(op.getResult(0).getType()).getElementType();
    int64_t multiplications = 1;
    for (ArrayRef<unsigned> loops : {ArrayRef(roles.m), ArrayRef(roles.n), ArrayRef(roles.k)})
      for (unsigned loop : loops)
        multiplications *= ShapedType::isDynamic(ranges[loop]) ? most + 1 : std::min(ranges[loop], most + 1);
    if (roles.n.size() == 1 && ranges[roles.n.front()] % 4 == 0 && standsAlone(op))
      return false;
    return multiplications <= most && (type.isF32() || type.isF64()) && roles.batch.size() == 1 &&
           isMany(roles.batch.front()) &&
           llvm::none_of(op.getInputs(), [](Value input) { return bool(weightBehind(input)); });
  }

  /// A dot product with every row of two activations, or a vector times long rows: a tile of one column would read each
  /// row across its vectors. They stay reductions along rows.
  static bool isSumAlongRows(linalg::GenericOp op, Roles const &roles) {
    constexpr int64_t longRow = 256;
    auto const ranges = op.getStaticLoopRanges();
    auto const isLong = [&](unsigned loop) { return ranges[loop] != 1; };
    SmallVector<unsigned> const sums = llvm::to_vector(llvm::make_filter_range(roles.k, isLong));
    bool const hasRows = llvm::any_of(roles.m, isLong), hasColumns = llvm::any_of(roles.n, isLong);
    if (sums.size() != 1 || (hasRows && hasColumns) ||
        llvm::any_of(op.getInputs(), [](Value input) { return bool(weightBehind(input)); }))
      return false;
    for (OpOperand *input : op.getDpsInputOperands())
      if (lastLoop(op.getMatchingIndexingMap(input), isLong) != sums.front())
        return false;
    return (!hasRows && !hasColumns) || ShapedType::isDynamic(ranges[sums.front()]) || ranges[sums.front()] >= longRow;
  }

  /// The loop along which neighbours lie in memory.
  static std::optional<unsigned> lastLoop(AffineMap map, llvm::function_ref<bool(unsigned)> isLong) {
    for (AffineExpr expr : llvm::reverse(map.getResults()))
      if (auto const dim = dyn_cast<AffineDimExpr>(expr); dim && isLong(dim.getPosition()))
        return dim.getPosition();
    return std::nullopt;
  }

  /// Loops joined into one must have known extents, but for the outermost. Rows beside a weight may have any: the
  /// pixels of images.
  static bool staticOrOne(linalg::GenericOp op, Roles const &roles) {
    auto const ranges = op.getStaticLoopRanges();
    auto const *rows = weightBehind(op.getInputs()[1])   ? &roles.m
                       : weightBehind(op.getInputs()[0]) ? &roles.n
                                                         : nullptr;
    for (auto const *group : {&roles.batch, &roles.m, &roles.n, &roles.k})
      for (unsigned loop : ArrayRef<unsigned>(*group).drop_front(group->empty() ? 0 : 1))
        if (group != rows && ShapedType::isDynamic(ranges[loop]))
          return false;
    return true;
  }

  static void build(linalg::GenericOp op, PatternRewriter &rewriter, Roles const &roles, Value a, AffineMap mapA,
                    Value b, AffineMap mapB) {
    Location const loc = op.getLoc();
    Value const left = arranged(rewriter, loc, a, mapA, {roles.batch, roles.m, roles.k});
    Value const right = arranged(rewriter, loc, b, mapB, {roles.batch, roles.n, roles.k});
    using nest::Role;
    SmallVector<Role> iterators;
    for (auto [role, loops] : {std::pair<Role, ArrayRef<unsigned>>{Role::Batch, roles.batch},
                               {Role::M, roles.m},
                               {Role::N, roles.n},
                               {Role::K, roles.k}})
      if (!loops.empty())
        iterators.push_back(role);
    auto const mapWithout = [&](Role absent) {
      SmallVector<AffineExpr> dims;
      for (auto [loop, role] : llvm::enumerate(iterators))
        if (role != absent)
          dims.push_back(rewriter.getAffineDimExpr(loop));
      return AffineMap::get(iterators.size(), 0, dims, rewriter.getContext());
    };
    AffineMap const maps[] = {mapWithout(Role::N), mapWithout(Role::M), mapWithout(Role::K)};
    Value const init =
        arranged(rewriter, loc, op.getOutputs()[0], op.getIndexingMapsArray()[2], {roles.batch, roles.m, roles.n});
    auto const type = cast<RankedTensorType>(init.getType());
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sources.push_back({init, d});
    auto contract =
        rewriter.create<nest::ContractOp>(loc, TypeRange{type}, "contract", ValueRange{left, right}, ValueRange{},
                                          emptyLike(rewriter, loc, type, sources), rewriter.getAffineMapArrayAttr(maps),
                                          nest::rolesAttr(rewriter.getContext(), iterators), /*bias=*/IntegerAttr());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      Block *block = rewriter.createBlock(&contract.getEpilogue(), {}, type.getElementType(), loc);
      rewriter.create<nest::YieldOp>(loc, block->getArgument(0));
    }
    rewriter.replaceOp(op, asBefore(op, rewriter, roles, contract->getResult(0)));
  }

  /// The result in the order and shape of the operation that was replaced.
  static Value asBefore(linalg::GenericOp op, PatternRewriter &rewriter, Roles const &roles, Value made) {
    auto const out = cast<RankedTensorType>(op.getResult(0).getType());
    AffineMap const map = op.getIndexingMapsArray()[2];
    SmallVector<int64_t> order, shape;
    SmallVector<ReassociationIndices> groups;
    for (ArrayRef<unsigned> loops :
         {ArrayRef<unsigned>(roles.batch), ArrayRef<unsigned>(roles.m), ArrayRef<unsigned>(roles.n)}) {
      if (loops.empty())
        continue;
      groups.emplace_back();
      for (unsigned loop : loops) {
        groups.back().push_back(order.size());
        order.push_back(*map.getResultPosition(getAffineDimExpr(loop, op.getContext())));
        shape.push_back(out.getDimSize(order.back()));
      }
    }
    if (groups.size() != order.size())
      made = expanded(op, rewriter, made, RankedTensorType::get(shape, out.getElementType()), groups, order);
    return transposed(rewriter, op.getLoc(), made, inverse(order));
  }

  static Value expanded(linalg::GenericOp op, PatternRewriter &rewriter, Value made, RankedTensorType type,
                        ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> order) {
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(
          type.isDynamicDim(d)
              ? OpFoldResult(rewriter.create<tensor::DimOp>(op.getLoc(), op.getOutputs()[0], order[d]).getResult())
              : OpFoldResult(rewriter.getIndexAttr(type.getDimSize(d))));
    return rewriter.create<tensor::ExpandShapeOp>(op.getLoc(), type, made, groups, sizes);
  }
};

struct RaiseContractions : impl::RaiseContractionsBase<RaiseContractions> {
  void runOnOperation() override {
    RewritePatternSet before(&getContext()), patterns(&getContext());
    populateGatheredProducts(before);
    patterns.add<RaiseContraction>(&getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(before))) ||
        failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
