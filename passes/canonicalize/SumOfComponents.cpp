//===- SumOfComponents.cpp - a sum of one product for each component of a tensor is one product -------------------===//
//
// The real part of a transform of complex numbers, which ONNX writes as real * cos - imaginary * sin.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/JoinedParts.h"

#include "passes/Constants.h"
#include "passes/Provenance.h"
#include "passes/canonicalize/Ranges.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

/// One element of a dimension of a tensor, without that dimension.
struct Component {
  Value whole;
  unsigned dim;
  int64_t place;
};

std::optional<Component> componentOf(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  auto slice = collapse ? collapse.getSrc().getDefiningOp<tensor::ExtractSliceOp>() : tensor::ExtractSliceOp();
  if (!slice || !slice.hasUnitStride() || slice.getType().getRank() != slice.getSourceType().getRank() ||
      !slice.getSourceType().hasStaticShape() || ShapedType::isDynamicShape(slice.getStaticOffsets()) ||
      collapse.getResultType().getRank() + 1 != slice.getType().getRank())
    return std::nullopt;
  std::optional<unsigned> dim;
  for (auto [d, extent] : llvm::enumerate(slice.getSourceType().getShape()))
    if (slice.getStaticSizes()[d] != extent) {
      if (dim || slice.getStaticSizes()[d] != 1)
        return std::nullopt;
      dim = d;
    }
  SmallVector<int64_t> rest(slice.getSourceType().getShape());
  if (dim)
    rest.erase(rest.begin() + *dim);
  if (!dim || !llvm::equal(rest, collapse.getResultType().getShape()))
    return std::nullopt;
  return Component{slice.getSource(), *dim, slice.getStaticOffsets()[*dim]};
}

/// A product of a component and a weight.
struct ComponentProduct {
  linalg::GenericOp op;
  unsigned input; ///< which is the component
  Component component;
  Value weight;

  AffineMap map() { return op.getIndexingMapsArray()[input]; }
  AffineMap weightMap() { return op.getIndexingMapsArray()[1 - input]; }
  AffineMap outputMap() { return op.getIndexingMapsArray()[2]; }

  /// Whether the products differ in their components and weights only.
  bool isLike(ComponentProduct &other) {
    return input == other.input && component.whole == other.component.whole && component.dim == other.component.dim &&
           weight.getType() == other.weight.getType() && op->getBlock() == other.op->getBlock() &&
           op.getIndexingMaps() == other.op.getIndexingMaps() && op.getIteratorTypes() == other.op.getIteratorTypes() &&
           op.getResult(0).getType() == other.op.getResult(0).getType() &&
           OperationEquivalence::isRegionEquivalentTo(&op.getRegion(), &other.op.getRegion(),
                                                      OperationEquivalence::IgnoreLocations);
  }
};

std::optional<ComponentProduct> componentProductOf(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !op.hasPureTensorSemantics() || !isMultiplyAdd(op) ||
      !op.getOutputs()[0].getDefiningOp<linalg::FillOp>() || !cast<RankedTensorType>(value.getType()).hasStaticShape())
    return std::nullopt;
  auto const zero = fillValue(op.getOutputs()[0]);
  if (!zero || !isZero(*zero))
    return std::nullopt;
  for (unsigned input : {0, 1})
    if (op.getInputs()[1 - input].getDefiningOp<nest::WeightOp>())
      if (auto const component = componentOf(op.getInputs()[input]))
        return ComponentProduct{op, input, *component, op.getInputs()[1 - input]};
  return std::nullopt;
}

/// A map with another result at a place.
AffineMap with(AffineMap map, unsigned loops, unsigned place, unsigned loop) {
  SmallVector<AffineExpr> results(map.getResults());
  results.insert(results.begin() + place, getAffineDimExpr(loop, map.getContext()));
  return AffineMap::get(loops, 0, results, map.getContext());
}

/// Weights behind each other in a new dimension, behind dimension `last`.
Value stacked(OpBuilder &builder, Location loc, ArrayRef<Value> weights, unsigned last) {
  auto const type = cast<RankedTensorType>(weights.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + last + 1, 1);
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < type.getRank(); ++d)
    groups.push_back({d > last ? d + 1 : d});
  groups[last].push_back(last + 1);
  SmallVector<Value> parts;
  for (Value weight : weights)
    parts.push_back(builder.create<tensor::ExpandShapeOp>(loc, RankedTensorType::get(shape, type.getElementType()),
                                                          weight, groups));
  return builder.create<tensor::ConcatOp>(loc, last + 1, parts);
}

Value negated(OpBuilder &builder, Value value) {
  auto weight = value.getDefiningOp<nest::WeightOp>();
  std::vector<double> numbers = constantDoubles(weight.getValue());
  for (double &number : numbers)
    number = -number;
  OpBuilder::InsertionGuard const guard(builder);
  builder.setInsertionPoint(weight);
  return replacementWeight(builder, weight, constantOf(cast<RankedTensorType>(weight.getType()), numbers));
}

/// A product with further loops: maps are those of the component's tensor, the weight and the result.
Value productWith(OpBuilder &builder, Location loc, ComponentProduct product, Value weight, ArrayRef<AffineMap> maps,
                  ArrayRef<utils::IteratorType> loops, RankedTensorType type) {
  auto fill = product.op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  Value const empty = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  Value const output = builder.create<linalg::FillOp>(loc, fill.getInputs()[0], empty).getResult(0);
  SmallVector<Value> inputs = {product.component.whole, weight};
  SmallVector<AffineMap> ordered(maps);
  if (product.input == 1) {
    std::swap(inputs[0], inputs[1]);
    std::swap(ordered[0], ordered[1]);
  }
  auto made = builder.create<linalg::GenericOp>(loc, TypeRange{type}, inputs, output, ordered, loops);
  IRMapping mapping;
  product.op.getRegion().cloneInto(&made.getRegion(), mapping);
  return made.getResult(0);
}

/// real * c + imaginary * s: one sum over both.
struct SumOfComponents : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 2 || op.getNumResults() != 1 || !op.hasPureTensorSemantics() ||
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
      return failure();
    Block &body = op.getRegion().front();
    Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum) || body.getOperations().size() != 2 ||
        sum->getOperand(0) == sum->getOperand(1) || sum->getOperand(0).getParentBlock() != &body ||
        sum->getOperand(1).getParentBlock() != &body || body.getArgument(2) == sum->getOperand(0) ||
        body.getArgument(2) == sum->getOperand(1))
      return failure();
    auto a = componentProductOf(op.getInputs()[0]), b = componentProductOf(op.getInputs()[1]);
    if (!a || !b || !a->op->hasOneUse() || !b->op->hasOneUse() || !a->isLike(*b) || !a->weight.hasOneUse() ||
        !b->weight.hasOneUse())
      return failure();
    ComponentProduct *subtracted = !isa<arith::SubFOp>(sum)                    ? nullptr
                                   : sum->getOperand(1) == body.getArgument(1) ? &*b
                                                                               : &*a;
    if (a->component.place + b->component.place != 1 ||
        cast<RankedTensorType>(a->component.whole.getType()).getDimSize(a->component.dim) != 2)
      return failure();
    std::optional<unsigned> inner; // the last dimension of the weight that is summed over
    for (auto [dim, expr] : llvm::enumerate(a->weightMap().getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && a->op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction)
        inner = dim;
    if (!inner)
      return failure();
    Location const loc = fusedLocation(getContext(), {a->op.getLoc(), b->op.getLoc()});
    if (subtracted)
      subtracted->weight = negated(rewriter, subtracted->weight);
    if (a->component.place > 0)
      std::swap(*a, *b);
    unsigned const loops = a->op.getNumLoops();
    SmallVector<utils::IteratorType> kinds = a->op.getIteratorTypesArray();
    kinds.push_back(utils::IteratorType::reduction);
    Value const weight = stacked(rewriter, loc, {a->weight, b->weight}, *inner);
    AffineMap const output = AffineMap::get(loops + 1, 0, a->outputMap().getResults(), getContext());
    rewriter.replaceOp(op, productWith(rewriter, loc, *a, weight,
                                       {with(a->map(), loops + 1, a->component.dim, loops),
                                        with(a->weightMap(), loops + 1, *inner + 1, loops), output},
                                       kinds, cast<RankedTensorType>(op.getResult(0).getType())));
    return success();
  }
};

} // namespace

void populateSumOfComponents(RewritePatternSet &patterns) { patterns.add<SumOfComponents>(patterns.getContext()); }

} // namespace ml2k
