//===- SpreadImages.cpp - images with zeros between their pixels, and around them ---------------------------------===//
//
// torch-mlir writes a transposed convolution as a convolution of its image spread by the stride, in a tensor of zeros
// that is large enough for the pads, too. ONNX's has the pads apart.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/SpreadImages.h"
#include "passes/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

struct PadSpreadImage : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op, PatternRewriter &rewriter) const override {
    RankedTensorType const type = op.getType();
    auto const background = fillValue(op.getDest());
    ArrayRef<int64_t> const strides = op.getStaticStrides(), offsets = op.getStaticOffsets();
    if (!background || !isZero(*background) || op.getSourceType().getRank() != type.getRank() ||
        !type.hasStaticShape() || !op.getSourceType().hasStaticShape() || ShapedType::isDynamicShape(strides) ||
        ShapedType::isDynamicShape(offsets) || llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
      return failure();
    SmallVector<int64_t> extents;
    SmallVector<OpFoldResult> low, high;
    for (auto [size, stride, offset, whole] :
         llvm::zip(op.getSourceType().getShape(), strides, offsets, type.getShape())) {
      if (size == 0 || stride < 1)
        return failure();
      extents.push_back((size - 1) * stride + 1);
      low.push_back(rewriter.getIndexAttr(offset));
      high.push_back(rewriter.getIndexAttr(whole - offset - extents.back()));
    }
    if (extents == type.getShape())
      return failure();
    Location const location = op.getLoc();
    SmallVector<OpFoldResult> const start(extents.size(), rewriter.getIndexAttr(0));
    Value const zero = rewriter.create<arith::ConstantOp>(location, *background);
    Value const empty = rewriter.create<tensor::EmptyOp>(location, extents, type.getElementType());
    Value const zeros = rewriter.create<linalg::FillOp>(location, zero, empty).getResult(0);
    Value const spread = rewriter.create<tensor::InsertSliceOp>(location, op.getSource(), zeros, start,
                                                                op.getMixedSizes(), op.getMixedStrides());
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, type, spread, low, high, zero);
    return success();
  }
};

} // namespace

void populateSpreadImages(RewritePatternSet &patterns) { patterns.add<PadSpreadImage>(patterns.getContext()); }

} // namespace ml2k
