//===- JoinedParts.cpp - what is done alike to neighbouring slices is done to the whole --------------------------===//
//
// A neural operator multiplies the lowest frequencies and the highest, negative ones each by their own weights and
// joins both: one product with the weights behind each other.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/JoinedParts.h"

#include "passes/Provenance.h"
#include "passes/canonicalize/Ranges.h"
#include "passes/schedule/Tensors.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace ml2k {
namespace {

/// The concatenation of values along a dimension without a copy of elements: of slices that are neighbours, of weights,
/// and of what the same operations make of these.
class Join {
public:
  explicit Join(OpBuilder &builder) : builder(builder) {}

  /// Whether there is one. Counts what it looks at: time may not grow with the square of the program.
  bool isPossible(ArrayRef<Value> values, unsigned dim) {
    Operation *first = values.front().getDefiningOp();
    if (!first || ++looked > most || !llvm::all_of(values, [&](Value value) { return isLike(value, first); }))
      return false;
    if (isa<nest::WeightOp>(first)) {
      weights.emplace_back(values);
      return true;
    }
    if (isa<tensor::ExtractSliceOp>(first))
      return areNeighbours(values, dim) || (areWhole(values, dim) && isPossible(operands(values, 0), dim));
    if (auto concat = dyn_cast<tensor::ConcatOp>(first))
      return concat.getDim() != dim && areOperandsPossible(values, [&](unsigned) { return std::optional(dim); });
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(first)) {
      auto const source = sourceDim(first, dim);
      return source && isPossible(operands(values, 0), *source);
    }
    auto generic = dyn_cast<linalg::GenericOp>(first);
    if (!generic)
      return false;
    hasProduct |= isMultiplyAdd(generic);
    for (Value value : values)
      readers.insert(value.getDefiningOp());
    return areOperandsPossible(values, [&](unsigned input) { return inputDim(generic, dim, input); });
  }

  /// Whether there is a product, and weights can be put behind each other for good: nobody else reads them, or has them
  /// behind others.
  bool isWorthwhile() const {
    DenseMap<Value, ArrayRef<Value>> found;
    return hasProduct && llvm::all_of(weights, [&](ArrayRef<Value> list) {
             return llvm::all_of(list, [&](Value weight) {
               return found.try_emplace(weight, list).first->second == list &&
                      llvm::all_of(weight.getUsers(), [&](Operation *user) { return readers.contains(user); });
             });
           });
  }

  /// Made once for the same values.
  Value join(ArrayRef<Value> values, unsigned dim) {
    for (auto const &[parts, along, whole] : known)
      if (along == dim && ArrayRef(parts) == values)
        return whole;
    Value const whole = joined(values, dim);
    known.push_back({SmallVector<Value>(values), dim, whole});
    return whole;
  }

private:
  static constexpr unsigned most = 64;

  static SmallVector<Value> operands(ArrayRef<Value> values, unsigned number) {
    return llvm::map_to_vector(values, [=](Value value) { return value.getDefiningOp()->getOperand(number); });
  }

  /// Whether a value is made like the result of `first`; what takes work is read by nobody else, who would have it done
  /// twice.
  static bool isLike(Value value, Operation *first) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getName() != first->getName() || op->getBlock() != first->getBlock() ||
        op->getNumOperands() != first->getNumOperands() || op->getNumResults() != 1)
      return false;
    if (isa<nest::WeightOp, tensor::ExtractSliceOp>(op))
      return true;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return expand.getResultType().hasStaticShape() &&
             expand.getReassociation() == cast<tensor::ExpandShapeOp>(first).getReassociation();
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return collapse.getSrcType().hasStaticShape() &&
             collapse.getReassociation() == cast<tensor::CollapseShapeOp>(first).getReassociation();
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      return value.hasOneUse() && concat.getDim() == cast<tensor::ConcatOp>(first).getDim() &&
             concat.getResultType().hasStaticShape();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto like = dyn_cast<linalg::GenericOp>(first);
    return generic && value.hasOneUse() && generic.hasPureTensorSemantics() && !generic.hasIndexSemantics() &&
           hasFreshOutput(generic) && cast<RankedTensorType>(value.getType()).hasStaticShape() &&
           generic.getIndexingMaps() == like.getIndexingMaps() &&
           generic.getIteratorTypes() == like.getIteratorTypes() &&
           generic.getNumDpsInputs() == like.getNumDpsInputs() && fillOf(generic) == fillOf(like) &&
           OperationEquivalence::isRegionEquivalentTo(&generic.getRegion(), &like.getRegion(),
                                                      OperationEquivalence::IgnoreLocations);
  }

  static Value fillOf(linalg::GenericOp op) {
    auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
    return fill ? fill.getInputs()[0] : Value();
  }

  template <class DimOf> bool areOperandsPossible(ArrayRef<Value> values, DimOf const &dimOf) {
    Operation *first = values.front().getDefiningOp();
    auto generic = dyn_cast<linalg::GenericOp>(first);
    unsigned const inputs = generic ? generic.getNumDpsInputs() : first->getNumOperands();
    for (unsigned input = 0; input < inputs; ++input) {
      SmallVector<Value> const of = operands(values, input);
      auto const dim = dimOf(input);
      if (!dim || (*dim == nowhere ? !llvm::all_equal(of) : !isPossible(of, *dim)))
        return false;
    }
    return true;
  }

  static constexpr unsigned nowhere = ~0u; ///< the loop does not walk through the operand

  /// The dimension of an input that the loop of dimension `dim` of the result walks through; nothing if there are
  /// several.
  static std::optional<unsigned> inputDim(linalg::GenericOp op, unsigned dim, unsigned input) {
    AffineMap const output = op.getIndexingMapsArray().back();
    auto const loop = dyn_cast<AffineDimExpr>(output.getResult(dim));
    auto const dims = loop ? dimensionsOf(op.getIndexingMapsArray()[input], loop.getPosition()) : std::nullopt;
    if (!dims || dims->size() > 1 || !output.isProjectedPermutation())
      return std::nullopt;
    return dims->empty() ? nowhere : dims->front();
  }

  /// The dimension of what is reshaped that is dimension `dim` of the result by itself, but for dimensions of one
  /// element.
  static std::optional<unsigned> sourceDim(Operation *reshape, unsigned dim) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape);
    auto const groups =
        expand ? expand.getReassociationIndices() : cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices();
    ArrayRef<int64_t> const longer =
        (expand ? expand.getResultType() : cast<tensor::CollapseShapeOp>(reshape).getSrcType()).getShape();
    for (auto [at, group] : llvm::enumerate(groups)) {
      if (expand ? !llvm::is_contained(group, int64_t(dim)) : at != dim)
        continue;
      SmallVector<int64_t> const wide =
          llvm::to_vector(llvm::make_filter_range(group, [&](int64_t d) { return longer[d] != 1; }));
      if (wide.size() != 1 || (expand && wide[0] != int64_t(dim)))
        return std::nullopt;
      return expand ? unsigned(at) : unsigned(wide[0]);
    }
    return std::nullopt;
  }

  static bool areNeighbours(ArrayRef<Value> values, unsigned dim) {
    auto first = values.front().getDefiningOp<tensor::ExtractSliceOp>();
    int64_t at = ShapedType::kDynamic;
    for (Value value : values) {
      auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
      if (slice.getSource() != first.getSource() || !slice.hasUnitStride() || !slice.getType().hasStaticShape() ||
          slice.getType().getRank() != slice.getSourceType().getRank() ||
          ShapedType::isDynamicShape(slice.getStaticOffsets()))
        return false;
      for (int64_t d = 0; d < slice.getType().getRank(); ++d)
        if (d != int64_t(dim) && (slice.getStaticOffsets()[d] != first.getStaticOffsets()[d] ||
                                  slice.getStaticSizes()[d] != first.getStaticSizes()[d]))
          return false;
      if (!ShapedType::isDynamic(at) && slice.getStaticOffsets()[dim] != at)
        return false;
      at = slice.getStaticOffsets()[dim] + slice.getStaticSizes()[dim];
    }
    return true;
  }

  /// Whether they are the same slices of different tensors, with all positions of the dimension.
  static bool areWhole(ArrayRef<Value> values, unsigned dim) {
    auto first = values.front().getDefiningOp<tensor::ExtractSliceOp>();
    return llvm::all_of(values, [&](Value value) {
      auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
      return slice.hasUnitStride() && slice.getType() == first.getType() &&
             slice.getSourceType() == first.getSourceType() && slice.getSourceType().hasStaticShape() &&
             slice.getType().getRank() == slice.getSourceType().getRank() &&
             !ShapedType::isDynamicShape(slice.getStaticOffsets()) &&
             slice.getStaticOffsets() == first.getStaticOffsets() &&
             slice.getType().getDimSize(dim) == slice.getSourceType().getDimSize(dim);
    });
  }

  static int64_t total(ArrayRef<Value> values, unsigned dim) {
    int64_t sum = 0;
    for (Value value : values)
      sum += cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return sum;
  }

  Value joined(ArrayRef<Value> values, unsigned dim) {
    Operation *first = values.front().getDefiningOp();
    Location const loc =
        fusedLocation(builder.getContext(), llvm::map_to_vector(values, [](Value value) { return value.getLoc(); }));
    SmallVector<int64_t> shape(cast<RankedTensorType>(values.front().getType()).getShape());
    shape[dim] = total(values, dim);
    if (isa<nest::WeightOp>(first))
      return builder.create<tensor::ConcatOp>(loc, dim, values);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(first)) {
      SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
      sizes[dim] = builder.getIndexAttr(shape[dim]);
      if (!areNeighbours(values, dim))
        return builder.create<tensor::ExtractSliceOp>(loc, join(operands(values, 0), dim), slice.getMixedOffsets(),
                                                      sizes, slice.getMixedStrides());
      if (llvm::equal(shape, slice.getSourceType().getShape()))
        return slice.getSource();
      return builder.create<tensor::ExtractSliceOp>(loc, slice.getSource(), slice.getMixedOffsets(), sizes,
                                                    slice.getMixedStrides());
    }
    if (auto concat = dyn_cast<tensor::ConcatOp>(first)) {
      SmallVector<Value> parts;
      for (unsigned input = 0; input < first->getNumOperands(); ++input)
        parts.push_back(join(operands(values, input), dim));
      return builder.create<tensor::ConcatOp>(loc, concat.getDim(), parts);
    }
    auto const type = RankedTensorType::get(shape, getElementTypeOrSelf(values.front()));
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(first))
      return builder.create<tensor::ExpandShapeOp>(loc, type, join(operands(values, 0), *sourceDim(first, dim)),
                                                   expand.getReassociationIndices());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(first))
      return builder.create<tensor::CollapseShapeOp>(loc, type, join(operands(values, 0), *sourceDim(first, dim)),
                                                     collapse.getReassociationIndices());
    auto generic = cast<linalg::GenericOp>(first);
    SmallVector<Value> inputs;
    for (unsigned input = 0; input < unsigned(generic.getNumDpsInputs()); ++input) {
      unsigned const place = *inputDim(generic, dim, input);
      inputs.push_back(place == nowhere ? generic.getInputs()[input] : join(operands(values, input), place));
    }
    linalg::GenericOp made = withInputs(builder, generic, inputs, shape);
    made->setLoc(loc);
    return made.getResult(0);
  }

  OpBuilder &builder;
  unsigned looked = 0;
  bool hasProduct = false;
  SmallVector<SmallVector<Value>> weights;                            // that are to be joined
  DenseSet<Operation *> readers;                                      // operations that go into the whole
  SmallVector<std::tuple<SmallVector<Value>, unsigned, Value>> known; // at most as many as were looked at
};

struct JoinedParts : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> const parts(op.getInputs());
    Join join(rewriter);
    if (parts.size() < 2 || !op.getResultType().hasStaticShape() || !join.isPossible(parts, op.getDim()) ||
        !join.isWorthwhile())
      return failure();
    rewriter.replaceOp(op, join.join(parts, op.getDim()));
    return success();
  }
};

} // namespace

void populateJoinedParts(RewritePatternSet &patterns) { patterns.add<JoinedParts>(patterns.getContext()); }

} // namespace ml2k
