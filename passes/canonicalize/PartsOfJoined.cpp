//===- PartsOfJoined.cpp - a part of a concatenation is a part of one of its operands -----------------------------===//
//
// Coupling layers of normalising flows join two halves and split them again in the next layer. Who reads a half reads
// what was joined; where nobody reads the whole, nothing is copied.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/PartsOfJoined.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
namespace {

/// An operand of a concatenation, and where it begins.
struct OperandPart {
  Value part;
  int64_t start = 0;
};

/// The operand that holds positions `from` to `end`; nothing if there is none, or extents before it are not known.
std::optional<OperandPart> partWith(tensor::ConcatOp concat, int64_t from, int64_t end) {
  int64_t start = 0;
  for (Value input : concat.getInputs()) {
    int64_t const extent = cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
    if (ShapedType::isDynamic(extent) || from < start)
      return std::nullopt;
    if (end <= start + extent)
      return OperandPart{input, start};
    start += extent;
  }
  return std::nullopt;
}

struct PartOfJoined : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getSource().getDefiningOp<tensor::ConcatOp>();
    if (!concat)
      return failure();
    uint64_t const dim = concat.getDim();
    auto const offset = getConstantIntValue(op.getMixedOffsets()[dim]),
               size = getConstantIntValue(op.getMixedSizes()[dim]),
               stride = getConstantIntValue(op.getMixedStrides()[dim]);
    if (!offset || !size || !stride || *size < 1)
      return failure();
    auto const found = partWith(concat, *offset, *offset + (*size - 1) * *stride + 1);
    if (!found)
      return failure();
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
    offsets[dim] = rewriter.getIndexAttr(*offset - found->start);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, op.getType(), found->part, offsets, op.getMixedSizes(),
                                                        op.getMixedStrides());
    return success();
  }
};

} // namespace

void populatePartsOfJoined(RewritePatternSet &patterns) { patterns.add<PartOfJoined>(patterns.getContext()); }

} // namespace ml2k
