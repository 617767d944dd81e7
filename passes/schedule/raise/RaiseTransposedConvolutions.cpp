//===- RaiseTransposedConvolutions.cpp - convolutions of images with zeros between their pixels -------------------===//
//
// A transposed convolution of stride s arrives as a convolution of its image spread by s, s - 1 zeros between pixels.
// Most of its products are zero: results p with the same p mod s meet pixels at the same taps only. The kernel is
// divided into those of s * s phases, each a convolution of stride 1 of the image as it is. Volumes, which are batches
// of their planes, have s * s * s phases.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISETRANSPOSEDCONVOLUTIONS
#include "passes/Passes.h.inc"

namespace {

SmallVector<ReassociationIndices> planesAsImages() { return {{0, 1}, {2}, {3}, {4}}; }

/// An image N H W C, or a volume N D H W C, with zeros put between its pixels.
struct SpreadImage {
  Value image;
  SmallVector<int64_t> layout;  ///< dimension of `image` that N, H, W, C each are
  SmallVector<int64_t> strides; ///< along [D,] H and W
};

/// True if a dimension of `spread` is stride * (extent - 1) + 1, whatever the sizes of the run.
bool isExactly(Value spread, int64_t dim, OpFoldResult extent, int64_t stride) {
  using Bounds = ValueBoundsConstraintSet;
  Builder builder(spread.getContext());
  AffineExpr const whole = builder.getAffineDimExpr(0), pixels = builder.getAffineDimExpr(1);
  Bounds::Variable const difference(AffineMap::get(2, 0, whole - (pixels - 1) * stride - 1),
                                    {Bounds::Variable(spread, dim), Bounds::Variable(extent)});
  FailureOr<int64_t> const found = Bounds::computeConstantBound(presburger::BoundType::EQ, difference);
  return succeeded(found) && *found == 0;
}

/// N D H W C as N * D images.
bool isBatchOfPlanes(tensor::CollapseShapeOp op) { return llvm::equal(op.getReassociationIndices(), planesAsImages()); }

std::optional<SpreadImage> spreadImage(Value value) {
  SpreadImage found;
  if (auto planes = value.getDefiningOp<tensor::CollapseShapeOp>(); planes && isBatchOfPlanes(planes))
    value = planes.getSrc();
  int64_t const rank = cast<ShapedType>(value.getType()).getRank();
  found.layout = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>()) {
    found.layout.assign(transpose.getPermutation().begin(), transpose.getPermutation().end());
    value = transpose.getInput();
  }
  auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
  auto const background = insert ? fillValue(insert.getDest()) : std::nullopt;
  if (!background || !isZero(*background) || insert.getSourceType().getRank() != rank ||
      !llvm::all_of(insert.getMixedOffsets(), [](OpFoldResult offset) { return isConstantIntValue(offset, 0); }))
    return std::nullopt;
  found.image = insert.getSource();
  for (auto [i, dim] : llvm::enumerate(found.layout)) {
    auto const stride = getConstantIntValue(insert.getMixedStrides()[dim]);
    if (!stride || !isExactly(insert.getDest(), dim, insert.getMixedSizes()[dim], *stride))
      return std::nullopt;
    if (i > 0 && int64_t(i) < rank - 1)
      found.strides.push_back(*stride);
    else if (*stride != 1)
      return std::nullopt;
  }
  return found;
}

/// One direction of the kernel: its taps, of which those of a phase are every stride-th.
struct Direction {
  int64_t kernel, stride;
  int64_t taps = 0;          ///< of a phase, where a kernel is completed with zeros
  int64_t low = 0, high = 0; ///< pads of the transposed convolution: results that are cut off

  /// None if the results are not as many phases of equal size.
  static std::optional<Direction> of(int64_t kernel, int64_t stride, int64_t padLow, int64_t padHigh) {
    Direction found{kernel, stride};
    found.taps = llvm::divideCeil(kernel, stride);
    found.low = kernel - 1 - padLow;
    found.high = found.taps * stride - 1 - padHigh;
    if (found.low < 0 || found.high < 0 || (found.low + found.high) % stride != 0)
      return std::nullopt;
    return found;
  }

  /// The element of the mirrored kernel that is tap number `tap` of a phase; none where it was completed.
  std::optional<int64_t> element(int64_t phase, int64_t tap) const {
    int64_t const completed = taps * stride - kernel;
    int64_t const first = stride - 1 - (low + phase) % stride;
    int64_t const at = first + stride * tap - completed;
    return at < 0 ? std::nullopt : std::optional(at);
  }
};

/// The kernels of all phases, s * s * s * O C T*R S; images have one plane.
DenseElementsAttr phasesOf(ElementsAttr weight, Direction const &planes, Direction const &rows,
                           Direction const &columns) {
  ArrayRef<int64_t> const shape = cast<ShapedType>(weight.getType()).getShape();
  int64_t const outputs = shape[0], ofPlane = rows.stride * columns.stride;
  SmallVector<int64_t> const phases{planes.stride * ofPlane * outputs, shape[1], planes.taps * rows.taps, columns.taps};
  return gathered(weight, phases, [&](ArrayRef<int64_t> at) -> std::optional<int64_t> {
    int64_t const phase = at[0] / outputs;
    auto const plane = planes.element(phase / ofPlane, at[2] / rows.taps);
    auto const row = rows.element(phase % ofPlane / columns.stride, at[2] % rows.taps);
    auto const column = columns.element(phase % columns.stride, at[3]);
    if (!plane || !row || !column)
      return std::nullopt;
    return ((at[0] % outputs * shape[1] + at[1]) * shape[2] + *plane * rows.kernel + *row) * shape[3] + *column;
  });
}

struct RaiseTransposed : OpRewritePattern<nest::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nest::ConvOp conv, PatternRewriter &rewriter) const override {
    auto const isAllOne = [](ArrayRef<int64_t> values) {
      return llvm::all_of(values, [](int64_t v) { return v == 1; });
    };
    auto weight = conv.getInputs()[1].getDefiningOp<nest::WeightOp>();
    if (conv.getTransposed() || conv.getGroups() != 1 || !isAllOne(conv.getStrides()) ||
        !isAllOne(conv.getDilations()) || !weight)
      return failure();
    auto const spread = spreadImage(conv.getInputs()[0]);
    SmallVector<int64_t> const volume(conv.getPlanes().value_or(ArrayRef<int64_t>()));
    if (!spread || isAllOne(spread->strides))
      return failure();
    bool const isVolume = spread->strides.size() == 3;
    if (volume.empty() ? isVolume && spread->strides[0] != 1 : !isVolume || volume[3] != 1 || volume[4] != 1)
      return failure();
    auto const kernel = conv.getKernel();
    ArrayRef<int64_t> const pads = conv.getPads(), strides = ArrayRef(spread->strides).take_back(2);
    auto const planes =
        volume.empty() ? Direction::of(1, 1, 0, 0) : Direction::of(volume[2], spread->strides[0], volume[5], volume[6]);
    auto const rows = Direction::of(kernel[0], strides[0], pads[0], pads[2]);
    auto const columns = Direction::of(kernel[1], strides[1], pads[1], pads[3]);
    if (!planes || !rows || !columns)
      return failure();
    Value image = transposed(rewriter, conv.getLoc(), spread->image, spread->layout);
    int64_t const depth = cast<ShapedType>(image.getType()).getDimSize(1);
    if (isVolume)
      image = rewriter.create<tensor::CollapseShapeOp>(conv.getLoc(), image, planesAsImages());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(weight);
    Value const phases = replacementWeight(rewriter, weight, phasesOf(weight.getValue(), *planes, *rows, *columns));
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getInputsMutable().assign(ValueRange{image, phases});
      conv.setTransposed(true);
      conv.setStrides(strides);
      conv.setPads({rows->low, columns->low, rows->high, columns->high});
      if (!volume.empty())
        conv.setPlanes(ArrayRef<int64_t>{depth, volume[1], planes->taps, planes->stride, 1, planes->low, planes->high});
    });
    return success();
  }
};

struct RaiseTransposedConvolutions : impl::RaiseTransposedConvolutionsBase<RaiseTransposedConvolutions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseTransposed>(&getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
