//===- SwappedHalves.cpp - a tensor whose two parts change places is read where it lies ---------------------------===//
//
// Rotary position embeddings turn pairs of elements by an angle: x * cos + rotated(x) * sin with rotated(x) =
// concat(-x[w..2w], x[0..w]). Shifted windows roll an image: concat(x[s..n], x[0..s]). As copies these are a kernel for
// each part; as an index they join what reads them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/SwappedHalves.h"

#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {
namespace {

/// A part of `source` along one dimension, perhaps with the other sign.
struct Half {
  Value source, slice;
  int64_t offset = 0, size = 0;
  bool isNegated = false;
};

/// The tensor that `value` is the negation of, null if it is none.
Value negated(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      !llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return {};
  auto yield = cast<linalg::YieldOp>(generic.getBody()->getTerminator());
  auto negation = yield.getOperand(0).getDefiningOp<arith::NegFOp>();
  return negation && negation.getOperand() == generic.getBody()->getArgument(0) ? generic.getInputs()[0] : Value();
}

std::optional<Half> halfOf(Value value, unsigned dim) {
  Half part;
  if (Value const positive = negated(value)) {
    part.isNegated = true;
    value = positive;
  }
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getType().getRank() != slice.getSourceType().getRank() || !slice.hasUnitStride())
    return std::nullopt;
  for (int64_t d = 0; d < slice.getType().getRank(); ++d) {
    bool const isWhole =
        slice.getStaticOffsets()[d] == 0 && slice.getType().getDimSize(d) == slice.getSourceType().getDimSize(d);
    if (d != dim && !isWhole)
      return std::nullopt;
  }
  part.source = slice.getSource();
  part.slice = slice;
  part.offset = slice.getStaticOffsets()[dim];
  part.size = slice.getType().getDimSize(dim);
  return part;
}

struct SwappedHalves : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto const type = dyn_cast<RankedTensorType>(op.getResult().getType());
    unsigned const dim = op.getDim();
    if (!type || op.getInputs().size() != 2 || !isa<FloatType>(type.getElementType()) || type.isDynamicDim(dim))
      return failure();
    auto const first = halfOf(op.getInputs()[0], dim), second = halfOf(op.getInputs()[1], dim);
    int64_t const extent = type.getDimSize(dim);
    if (!first || !second || first->source != second->source || first->source.getType() != type ||
        second->offset != 0 || first->offset != second->size || first->size + second->size != extent)
      return failure();
    // Parts of a row that differ in length are copied at full speed; an index would be computed for each element
    bool const isRow = dim + 1 == type.getRank();
    if (first->size != second->size && isRow)
      return failure();
    AffineMap const identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<AffineExpr> place(identity.getResults());
    place[dim] = (place[dim] + first->offset) % extent;
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sources.push_back({first->slice, d}); // may be shorter than the source
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, first->source, emptyLike(rewriter, op.getLoc(), type, sources),
        ArrayRef<AffineMap>{AffineMap::get(type.getRank(), 0, place, rewriter.getContext()), identity},
        SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
        [&](OpBuilder &inside, Location at, ValueRange scalars) {
          inside.create<linalg::YieldOp>(at, withSigns(inside, at, scalars[0], *first, *second, dim));
        });
    return success();
  }

private:
  static Value withSigns(OpBuilder &builder, Location at, Value value, Half const &first, Half const &second,
                         unsigned dim) {
    if (!first.isNegated && !second.isNegated)
      return value;
    Value const negative = builder.create<arith::NegFOp>(at, value);
    if (first.isNegated && second.isNegated)
      return negative;
    Value const index = builder.create<linalg::IndexOp>(at, dim);
    Value const end = builder.create<arith::ConstantIndexOp>(at, first.size);
    Value const isFirst = builder.create<arith::CmpIOp>(at, arith::CmpIPredicate::slt, index, end);
    return builder.create<arith::SelectOp>(at, isFirst, first.isNegated ? negative : value,
                                           second.isNegated ? negative : value);
  }
};

/// Partial rotary embeddings: concat(f(x[0..w], ..), x[w..n]) with an elementwise f. One operation computes f for all
/// positions, behind w from elements that are there, and takes x instead where that is what is wanted.
struct PassedOnRest : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto const type = dyn_cast<RankedTensorType>(op.getResult().getType());
    unsigned const dim = op.getDim();
    if (!type || op.getInputs().size() != 2 || !isa<FloatType>(type.getElementType()) || type.isDynamicDim(dim))
      return failure();
    auto turned = op.getInputs()[0].getDefiningOp<linalg::GenericOp>();
    auto const rest = halfOf(op.getInputs()[1], dim);
    // Longer ones are two loops at full speed; an index would be computed for each element
    constexpr int64_t shortTurn = 24, shortRow = 64;
    if (!turned || !rest || rest->isNegated || !isCheap(turned) || rest->source.getType() != type ||
        (rest->offset > shortTurn && type.getDimSize(dim) > shortRow) ||
        rest->offset != turned.getStaticLoopRanges()[dim] || rest->offset + rest->size != type.getDimSize(dim))
      return failure();
    rewriter.replaceOp(op, onAll(rewriter, turned, *rest, type, dim, op.getLoc()).getResults());
    return success();
  }

private:
  /// Elementwise over its result, of what no other elementwise operation makes only for it.
  static bool isCheap(linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op->getNumResults() != 1 ||
        !op->hasOneUse() || isExpensive(op) || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
        !op.getIndexingMapsArray().back().isIdentity())
      return false;
    return llvm::none_of(op.getInputs(), [](Value input) {
      return !isa<RankedTensorType>(input.getType()) || (input.hasOneUse() && input.getDefiningOp<linalg::GenericOp>());
    });
  }

  /// Whether an operand is the front of what is passed on, element by element.
  static bool isFront(Value input, AffineMap map, Half const &rest, unsigned dim) {
    auto const front = halfOf(input, dim);
    return front && !front->isNegated && front->source == rest.source && front->offset == 0 && map.isIdentity();
  }

  /// The position behind `extent` as one in front of it.
  static AffineExpr wrapped(AffineExpr expr, AffineExpr loop, int64_t extent) {
    bool const isWrapped = expr.getKind() == AffineExprKind::Mod && cast<AffineBinaryOpExpr>(expr).getRHS() == extent;
    return isWrapped ? expr : expr.replace(loop, loop % extent);
  }

  static linalg::GenericOp onAll(PatternRewriter &rewriter, linalg::GenericOp turned, Half const &rest,
                                 RankedTensorType type, unsigned dim, Location whole) {
    unsigned const rank = type.getRank();
    AffineExpr const loop = rewriter.getAffineDimExpr(dim);
    SmallVector<Value> inputs{rest.source};
    SmallVector<AffineMap> maps{rewriter.getMultiDimIdentityMap(rank)};
    SmallVector<unsigned> arguments;
    for (OpOperand *operand : turned.getDpsInputOperands()) {
      AffineMap const map = turned.getMatchingIndexingMap(operand);
      if (isFront(operand->get(), map, rest, dim)) {
        arguments.push_back(0);
        continue;
      }
      arguments.push_back(inputs.size());
      inputs.push_back(operand->get());
      maps.push_back(AffineMap::get(
          rank, 0,
          llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) { return wrapped(expr, loop, rest.offset); }),
          rewriter.getContext()));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d = 0; d < rank; ++d)
      sources.push_back({rest.source, d});
    Location const location = rewriter.getFusedLoc({turned.getLoc(), whole});
    return rewriter.create<linalg::GenericOp>(
        location, type, inputs, emptyLike(rewriter, location, type, sources), maps, turned.getIteratorTypesArray(),
        [&](OpBuilder &inside, Location at, ValueRange scalars) {
          IRMapping mapping;
          for (auto [argument, number] : llvm::zip(turned.getRegionInputArgs(), arguments))
            mapping.map(argument, scalars[number]);
          for (Operation &each : turned.getBody()->without_terminator())
            inside.clone(each, mapping);
          Value const value = mapping.lookupOrDefault(turned.getBody()->getTerminator()->getOperand(0));
          Value const index = inside.create<linalg::IndexOp>(at, dim);
          Value const end = inside.create<arith::ConstantIndexOp>(at, rest.offset);
          Value const isTurned = inside.create<arith::CmpIOp>(at, arith::CmpIPredicate::slt, index, end);
          Value const all = inside.create<arith::SelectOp>(at, isTurned, value, scalars[0]);
          inside.create<linalg::YieldOp>(at, all);
        });
  }
};

/// A copy whose places differ in other dimensions than the last one, as of a field that was rolled. Where all readers
/// are elementwise they look there themselves, whole rows in order: a stencil of periodic boundaries is one kernel.
struct ReadInPlace : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp copy, PatternRewriter &rewriter) const override {
    if (!isCopyOfRows(copy) || copy->use_empty() || !llvm::all_of(copy->getUses(), isOfElements))
      return failure();
    AffineMap const place = copy.getIndexingMapsArray().front();
    for (OpOperand &use : llvm::make_early_inc_range(copy->getUses())) {
      auto reader = cast<linalg::GenericOp>(use.getOwner());
      SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
      maps[use.getOperandNumber()] = place.compose(maps[use.getOperandNumber()]);
      rewriter.modifyOpInPlace(reader, [&] {
        reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
        use.set(copy.getInputs()[0]);
      });
    }
    rewriter.eraseOp(copy);
    return success();
  }

private:
  static bool isCopyOfRows(linalg::GenericOp op) {
    if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 || !op.hasPureTensorSemantics() ||
        op.getNumReductionLoops() != 0 || op.getBody()->getTerminator()->getOperand(0) != op.getBody()->getArgument(0))
      return false;
    AffineMap const place = op.getIndexingMapsArray().front();
    unsigned const rank = op.getNumLoops();
    return rank > 1 && op.getIndexingMapsArray().back().isIdentity() && place.getNumResults() == rank &&
           place.getResults().back() == getAffineDimExpr(rank - 1, op.getContext()) &&
           llvm::any_of(place.getResults(), [](AffineExpr e) { return e.getKind() == AffineExprKind::Mod; }) &&
           llvm::none_of(place.getResults().drop_back(), [&](AffineExpr e) { return e.isFunctionOfDim(rank - 1); });
  }

  static bool isOfElements(OpOperand &use) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    return reader && reader.hasPureTensorSemantics() && reader.getNumReductionLoops() == 0 && reader.isDpsInput(&use) &&
           reader.getMatchingIndexingMap(&use).isProjectedPermutation();
  }
};

} // namespace

void populateSwappedHalves(RewritePatternSet &patterns) {
  patterns.add<SwappedHalves, PassedOnRest, ReadInPlace>(patterns.getContext());
}

} // namespace ml2k
