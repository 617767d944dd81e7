//===- ReadParts.cpp - a product of whose result slices are read makes no more -----------------------------------===//
//
// A neural operator reads the lowest frequencies of a transform. The others are not computed: their columns are left
// out of the weight, or their rows out of the product in front.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/NeededElements.h"
#include "passes/canonicalize/Ranges.h"
#include "passes/schedule/Tensors.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr size_t mostSlices = 64; ///< of one result: time must not grow with the square of the program

/// Whether a value is the product of something and a weight.
bool isWeightProduct(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  return op && op.hasPureTensorSemantics() && isMultiplyAdd(op) &&
         llvm::any_of(op.getInputs(), [](Value input) { return input.getDefiningOp<nest::WeightOp>() != nullptr; });
}

/// The slices that are all that is read of a value; empty if something else reads it, too.
SmallVector<tensor::ExtractSliceOp> slicesOf(Value value) {
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slices.size() == mostSlices || !slice.hasUnitStride() ||
        ShapedType::isDynamicShape(slice.getStaticOffsets()) || ShapedType::isDynamicShape(slice.getStaticSizes()) ||
        llvm::is_contained(slice.getStaticSizes(), 0))
      return {};
    slices.push_back(slice);
  }
  return slices;
}

struct ReadParts : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1 || !isWeightProduct(op.getResult(0)) || !hasFreshOutput(op))
      return failure();
    auto const type = cast<RankedTensorType>(op.getResult(0).getType());
    AffineMap const output = op.getIndexingMapsArray().back();
    SmallVector<tensor::ExtractSliceOp> const slices = slicesOf(op.getResult(0));
    if (slices.empty() || !type.hasStaticShape() || !output.isProjectedPermutation())
      return failure();
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (auto const ranges = readAt(op, dim, slices); ranges && ranges->size() < type.getDimSize(dim)) {
        narrow(op, dim, *ranges, slices, rewriter);
        return success();
      }
    return failure();
  }

  /// The positions of a dimension that are read, as far as the operands can be cut so; nothing where they cannot.
  static std::optional<Ranges> readAt(linalg::GenericOp op, unsigned dim, ArrayRef<tensor::ExtractSliceOp> slices) {
    unsigned const loop = op.getIndexingMapsArray().back().getDimPosition(dim);
    if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
      return std::nullopt;
    Ranges ranges;
    for (tensor::ExtractSliceOp slice : slices)
      ranges.add(slice.getStaticOffsets()[dim], slice.getStaticOffsets()[dim] + slice.getStaticSizes()[dim]);
    bool areApart = true;
    for (auto [input, map] : llvm::zip(op.getInputs(), op.getIndexingMapsArray())) {
      auto const dims = dimensionsOf(map, loop);
      bool const isCut = input.getDefiningOp<nest::WeightOp>() || (input.hasOneUse() && isWeightProduct(input));
      if (!dims || dims->size() > 1 || (!dims->empty() && !isCut))
        return std::nullopt;
      areApart &= dims->empty() || hasPartAt(input, ranges);
    }
    return areApart ? ranges : ranges.hull();
  }

  static void narrow(linalg::GenericOp op, unsigned dim, Ranges const &ranges, ArrayRef<tensor::ExtractSliceOp> slices,
                     PatternRewriter &rewriter) {
    unsigned const loop = op.getIndexingMapsArray().back().getDimPosition(dim);
    SmallVector<Value> inputs;
    for (auto [input, map] : llvm::zip(op.getInputs(), op.getIndexingMapsArray())) {
      inputs.push_back(input);
      auto const places = dimensionsOf(map, loop);
      for (unsigned place : *places)
        inputs.back() = partAt(rewriter, op.getLoc(), inputs.back(), place, ranges);
    }
    SmallVector<int64_t> shape(cast<RankedTensorType>(op.getResult(0).getType()).getShape());
    shape[dim] = ranges.size();
    Value const made = withInputs(rewriter, op, inputs, shape).getResult(0);
    for (tensor::ExtractSliceOp slice : slices) {
      rewriter.setInsertionPoint(slice);
      SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
      offsets[dim] = rewriter.getIndexAttr(ranges.placeOf(slice.getStaticOffsets()[dim]));
      rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(slice, slice.getType(), made, offsets, slice.getMixedSizes(),
                                                          slice.getMixedStrides());
    }
  }
};

} // namespace

void populateReadParts(RewritePatternSet &patterns) { patterns.add<ReadParts>(patterns.getContext()); }

} // namespace ml2k
