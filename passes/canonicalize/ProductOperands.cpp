//===- ProductOperands.cpp - what stands between a product and its operands ---------------------------------------===//
//
// PyTorch exports scaled_dot_product_attention as (q * s) x (k * s) with s = sqrt(scale), and transposes k between two
// reshapes that join and separate batch and heads. One scale on q joins the layer that makes q, and k is read where it
// lies. Bidirectional recurrent layers with the batch in front are put in order twice: once for the directions, which
// are joined then, and once for the batch.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/ProductOperands.h"
#include "passes/Constants.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

/// A tensor that is another one times a number.
struct Scale {
  linalg::GenericOp op;
  Value unscaled;
  FloatAttr factor;
};

/// The scale that a value is, if nobody else reads it.
std::optional<Scale> scaleOf(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  Type const type = getElementTypeOrSelf(value.getType());
  if (!op || !value.hasOneUse() || !(type.isF32() || type.isF64()) || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return std::nullopt;
  auto product = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  FloatAttr factor;
  if (!product || product.getLhs() != op.getBody()->getArgument(0) ||
      !matchPattern(product.getRhs(), m_Constant(&factor)))
    return std::nullopt;
  return Scale{op, op.getInputs()[0], factor};
}

/// A tensor times a number.
Value scaled(OpBuilder &builder, Location loc, Value tensor, APFloat const &factor) {
  auto const type = cast<RankedTensorType>(tensor.getType());
  Value const number = builder.create<arith::ConstantOp>(loc, FloatAttr::get(type.getElementType(), factor));
  SmallVector<std::pair<Value, int64_t>> sources;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sources.push_back({tensor, dim});
  SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> const loops(type.getRank(), utils::IteratorType::parallel);
  return builder
      .create<linalg::GenericOp>(loc, type, tensor, emptyLike(builder, loc, type, sources), maps, loops,
                                 [&](OpBuilder &inside, Location at, ValueRange values) {
                                   inside.create<linalg::YieldOp>(
                                       at, inside.create<arith::MulFOp>(at, values[0], number).getResult());
                                 })
      .getResult(0);
}

/// A sum of products of two different tensors.
bool isProduct(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 && op.hasPureTensorSemantics() && isMultiplyAdd(op) &&
         op.getInputs()[0] != op.getInputs()[1];
}

/// expand(transpose(collapse(x))) is a transpose of x where the dimensions that were joined are the same afterwards, or
/// some of them stay joined.
struct TransposeBetweenReshapes : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  using Groups = SmallVector<ReassociationIndices>;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto collapse = transpose ? transpose.getInput().getDefiningOp<tensor::CollapseShapeOp>() : nullptr;
    if (!collapse)
      return failure();
    Groups const before = collapse.getReassociationIndices(), after = op.getReassociationIndices();
    SmallVector<Groups> parts(before.size()); // of each dimension that is transposed
    for (auto [group, place] : llvm::zip(after, transpose.getPermutation())) {
      parts[place] = partsOf(collapse.getSrcType(), before[place], op.getResultType(), group);
      if (parts[place].empty())
        return failure();
    }
    Groups joined;
    SmallVector<int64_t> first;
    for (Groups const &group : parts) {
      first.push_back(int64_t(joined.size()));
      llvm::append_range(joined, group);
    }
    SmallVector<int64_t> permutation;
    for (int64_t place : transpose.getPermutation())
      for (size_t i = 0; i < parts[place].size(); ++i)
        permutation.push_back(first[place] + int64_t(i));
    Value source = collapse.getSrc();
    if (int64_t(joined.size()) != collapse.getSrcType().getRank())
      source = rewriter.create<tensor::CollapseShapeOp>(collapse.getLoc(), source, joined);
    rewriter.replaceOp(op, transposed(rewriter, transpose.getLoc(), source, permutation));
    return success();
  }

private:
  /// The dimensions `before` that make up each of the dimensions `after`; nothing if they are others. Extents that are
  /// known at run time only are the same if there is one in each group.
  static Groups partsOf(RankedTensorType from, ReassociationIndices const &before, RankedTensorType to,
                        ReassociationIndices const &after) {
    Groups parts;
    size_t next = 0;
    int64_t dynamic = 0;
    for (int64_t dim : after) {
      int64_t const extent = to.getDimSize(dim);
      ReassociationIndices part;
      for (int64_t product = 1; next < before.size() && (part.empty() || product < extent); ++next) {
        int64_t const factor = from.getDimSize(before[next]);
        if (ShapedType::isDynamic(factor) != ShapedType::isDynamic(extent))
          return {};
        part.push_back(before[next]);
        product = ShapedType::isDynamic(extent) ? 1 : product * factor;
      }
      dynamic += ShapedType::isDynamic(extent);
      if (part.empty() || extentOf(from, part) != extent)
        return {};
      parts.push_back(part);
    }
    for (; next < before.size() && from.getDimSize(before[next]) == 1; ++next)
      parts.back().push_back(before[next]);
    return next == before.size() && dynamic <= 1 ? parts : Groups();
  }

  static int64_t extentOf(RankedTensorType type, ReassociationIndices const &dims) {
    int64_t product = 1;
    for (int64_t dim : dims) {
      if (type.isDynamicDim(dim))
        return dims.size() == 1 ? ShapedType::kDynamic : 0;
      product *= type.getDimSize(dim);
    }
    return product;
  }
};

/// (a * s) x (b * t) is (a * (s * t)) x b: b is rounded once less.
struct ScalesOfProduct : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!isProduct(op))
      return failure();
    std::optional<Scale> left = scaleOf(op.getInputs()[0]), right = scaleOf(op.getInputs()[1]);
    if (!left || !right)
      return failure();
    APFloat factor = left->factor.getValue();
    factor.multiply(right->factor.getValue(), APFloat::rmNearestTiesToEven);
    if (!factor.isNormal())
      return failure();
    rewriter.setInsertionPoint(left->op);
    Value const product = scaled(rewriter, left->op.getLoc(), left->unscaled, factor);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable()[0].set(product);
      op.getInputsMutable()[1].set(right->unscaled);
    });
    return success();
  }
};

/// (a * s) x b is (a x b) * s where a is an input of the model, a part of a tensor or a row of a softmax: the scale
/// would be a kernel of its own, and behind the product it costs nothing. A layer before it takes it into its weights,
/// elementwise work into its kernel.
struct ScaleBehindProduct : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!isProduct(op) || !fillValue(op.getOutputs()[0]) || !isZero(*fillValue(op.getOutputs()[0])) ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation())
      return failure();
    std::optional<Scale> left = scaleOf(op.getInputs()[0]), right = scaleOf(op.getInputs()[1]);
    if (bool(left) == bool(right))
      return failure();
    Scale scale = left ? *left : *right;
    if (joinsProducer(scale.unscaled))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable()[left ? 0 : 1].set(scale.unscaled); });
    SmallVector<OpOperand *> const readers =
        llvm::map_to_vector(op.getResult(0).getUses(), [](OpOperand &use) { return &use; });
    rewriter.setInsertionPointAfter(op);
    Value const result = scaled(rewriter, scale.op.getLoc(), op.getResult(0), scale.factor.getValue());
    for (OpOperand *reader : readers)
      rewriter.modifyOpInPlace(reader->getOwner(), [&] { reader->set(result); });
    return success();
  }

private:
  static bool joinsProducer(Value value) {
    Operation *producer = value.getDefiningOp();
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::TransposeOp>(producer) &&
           producer->getResult(0).hasOneUse()) {
      value = producer->getOperand(0);
      producer = value.getDefiningOp();
    }
    auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(producer);
    if (!linalgOp || !value.hasOneUse())
      return false;
    return linalgOp.getNumReductionLoops() == 0 || llvm::any_of(linalgOp.getDpsInputs(), weightBehind);
  }
};

/// The one number that all elements of an operand are, if a fill or work without operands says so. A constant may be a
/// parameter that is not trained yet: code should not depend on its values.
Value scalarOf(Value operand) {
  if (auto fill = operand.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  auto generic = operand.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic->getNumResults() != 1 || generic.getNumDpsInputs() != 0 || !generic.hasPureTensorSemantics())
    return {};
  Value value = generic.getBody()->getTerminator()->getOperand(0);
  return value.getParentRegion() == &generic.getRegion() ? Value() : value;
}

/// The gradient of a sum of energies begins with ones, the state of a recurrent cell with zeros: rows that are all the
/// same. Of their product with a constant there is one row, a constant itself, and the others repeat it. (Sums over a
/// tensor would be computed for each row again by who reads them: a product is better at that.)
struct UniformFactor : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    auto fill = isProduct(op) ? op.getOutputs()[0].getDefiningOp<linalg::FillOp>() : linalg::FillOp();
    AffineMap const out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!fill || !out.isProjectedPermutation())
      return failure();
    for (unsigned uniform : {0, 1}) {
      AffineMap const other = op.getIndexingMapsArray()[1 - uniform];
      auto const isRead = [&](unsigned loop) { return other.isFunctionOfDim(loop); };
      SmallVector<unsigned> reductions;
      op.getReductionDims(reductions);
      auto const isRepeated = [&](AffineExpr expr) {
        return !other.isFunctionOfDim(cast<AffineDimExpr>(expr).getPosition());
      };
      if (!other.isProjectedPermutation() || !llvm::all_of(reductions, isRead) ||
          llvm::none_of(out.getResults(), isRepeated))
        continue;
      Value const number = scalarOf(op.getInputs()[uniform]);
      if (number && isConstant(op.getInputs()[1 - uniform])) {
        rewrite(rewriter, op, fill, uniform, number);
        return success();
      }
    }
    return failure();
  }

private:
  static bool isConstant(Value value) {
    auto transpose = value.getDefiningOp<linalg::TransposeOp>();
    return weightBehind(transpose ? transpose.getInput() : value);
  }

  static void rewrite(PatternRewriter &rewriter, linalg::GenericOp op, linalg::FillOp fill, unsigned uniform,
                      Value number) {
    Value const other = op.getInputs()[1 - uniform];
    AffineMap const read = op.getIndexingMapsArray()[1 - uniform], out = op.getIndexingMapsArray()[2];
    // The loops of the other operand in its order; the results that it decides
    SmallVector<AffineExpr> stored, kept;
    SmallVector<utils::IteratorType> loops;
    for (AffineExpr expr : read.getResults())
      loops.push_back(op.getIteratorTypesArray()[cast<AffineDimExpr>(expr).getPosition()]);
    SmallVector<std::pair<Value, int64_t>> sources;
    SmallVector<int64_t> shape;
    for (auto [position, expr] : llvm::enumerate(out.getResults()))
      if (auto const dim = read.getResultPosition(expr)) {
        stored.push_back(rewriter.getAffineDimExpr(*dim));
        kept.push_back(rewriter.getAffineDimExpr(position));
        sources.push_back({other, *dim});
        shape.push_back(cast<ShapedType>(other.getType()).getDimSize(*dim));
      }
    auto const rows = cast<RankedTensorType>(op.getResult(0).getType());
    auto const row = RankedTensorType::get(shape, rows.getElementType());
    Location const loc = op.getLoc();
    Value const start =
        rewriter.create<linalg::FillOp>(loc, fill.getInputs()[0], emptyLike(rewriter, loc, row, sources)).getResult(0);
    MLIRContext *context = rewriter.getContext();
    auto sums = rewriter.create<linalg::GenericOp>(loc, TypeRange(row), other, start,
                                                   ArrayRef{AffineMap::getMultiDimIdentityMap(loops.size(), context),
                                                            AffineMap::get(loops.size(), 0, stored, context)},
                                                   loops, [&](OpBuilder &inside, Location, ValueRange values) {
                                                     IRMapping mapping;
                                                     mapping.map(op.getBody()->getArgument(uniform), number);
                                                     mapping.map(op.getBody()->getArgument(1 - uniform), values[0]);
                                                     mapping.map(op.getBody()->getArgument(2), values[1]);
                                                     for (Operation &inner : *op.getBody())
                                                       inside.clone(inner, mapping);
                                                   });
    AffineMap const repeated = AffineMap::get(rows.getRank(), 0, kept, context);
    for (OpOperand &use : llvm::make_early_inc_range(op.getResult(0).getUses()))
      readRow(rewriter, use, sums.getResult(0), repeated);
    SmallVector<utils::IteratorType> const all(rows.getRank(), utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange(rows), sums.getResult(0), fill.getOutputs()[0],
        ArrayRef{repeated, rewriter.getMultiDimIdentityMap(rows.getRank())}, all,
        [](OpBuilder &inside, Location at, ValueRange values) { inside.create<linalg::YieldOp>(at, values[0]); });
  }

  /// Elementwise work needs no rows. Its loops are those of its result.
  static void readRow(PatternRewriter &rewriter, OpOperand &use, Value row, AffineMap repeated) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !reader.isDpsInput(&use) || reader.getNumReductionLoops() != 0 || reader->getNumResults() != 1 ||
        !reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)).isPermutation())
      return;
    SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
    maps[use.getOperandNumber()] = repeated.compose(maps[use.getOperandNumber()]);
    rewriter.modifyOpInPlace(reader, [&] {
      reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      use.set(row);
    });
  }
};

/// transpose(collapse(transpose(x))) is one transpose of x, joined behind it: each dimension that is moved second takes
/// those along that it was joined of.
struct TransposeOfJoined : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getInput().getDefiningOp<tensor::CollapseShapeOp>();
    auto first = collapse ? collapse.getSrc().getDefiningOp<linalg::TransposeOp>() : nullptr;
    if (!first || !op.hasPureTensorSemantics() || !collapse->hasOneUse() || !first->hasOneUse())
      return failure();
    SmallVector<ReassociationIndices> const groups = collapse.getReassociationIndices();
    SmallVector<ReassociationIndices> joined;
    SmallVector<int64_t> permutation;
    for (int64_t place : op.getPermutation()) {
      ReassociationIndices group;
      for (int64_t dim : groups[place]) {
        group.push_back(int64_t(permutation.size()));
        permutation.push_back(first.getPermutation()[dim]);
      }
      joined.push_back(group);
    }
    auto const type = cast<RankedTensorType>(first.getInput().getType());
    auto const ordered = RankedTensorType::get(applyPermutation(type.getShape(), permutation), type.getElementType());
    if (tensor::CollapseShapeOp::inferCollapsedType(ordered, joined) != op->getResult(0).getType())
      return failure();
    Location const location = rewriter.getFusedLoc({first.getLoc(), op.getLoc()});
    Value const once = transposed(rewriter, location, first.getInput(), permutation);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, once, joined);
    return success();
  }
};

} // namespace

void populateProductOperands(RewritePatternSet &patterns) {
  patterns.add<TransposeBetweenReshapes, TransposeOfJoined, ScalesOfProduct, ScaleBehindProduct, UniformFactor>(
      patterns.getContext());
}

} // namespace ml2k
