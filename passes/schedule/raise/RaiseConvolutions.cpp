//===- RaiseConvolutions.cpp - convolutions and pools become nest.conv and nest.window ----------------------------===//
//
// Whatever its layout and spelling, a convolution or pool is found by its indexing maps: an image dimension addressed
// by stride * output position + dilation * tap. The kernel works on N H W C; transposes around it are left for the
// layout pass. Volumes are batches of their planes, N * D of them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/Combiners.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"
#include "passes/schedule/raise/WindowImages.h"
#include "passes/schedule/raise/WindowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISECONVOLUTIONS
#include "passes/Passes.h.inc"

namespace {

/// A region that yields its first argument.
void passThrough(OpBuilder &builder, Location loc, Region &region, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region, region.end(), type, loc);
  builder.create<nest::YieldOp>(loc, block->getArgument(0));
}

/// The filter as O, C / groups, R, S: a weight in another order.
Value filterInOrder(PatternRewriter &rewriter, linalg::GenericOp op, WindowLoops const &loops, nest::WeightOp weight) {
  AffineMap const map = op.getIndexingMapsArray()[1];
  SmallVector<int64_t> order;
  int64_t outputs = 1, channels = 1;
  auto const type = cast<RankedTensorType>(op.getInputs()[1].getType());
  auto const place = [&](std::optional<unsigned> loop, int64_t &extent) {
    if (!loop)
      return;
    order.push_back(*map.getResultPosition(getAffineDimExpr(*loop, op.getContext())));
    extent *= type.getDimSize(order.back());
  };
  place(loops.group, outputs);
  place(loops.outChannel, outputs);
  place(loops.inChannel, channels);
  SmallVector<int64_t> shape{outputs, channels};
  if (loops.spatial.size() == 1)
    shape.push_back(1);
  for (auto const &spatial : loops.spatial) {
    order.push_back(spatial.filterDim);
    shape.push_back(type.getDimSize(spatial.filterDim));
  }
  if (loops.spatial.size() == 3) { // the kernels of all planes below each other
    shape[3] *= shape[2];
    shape.erase(shape.begin() + 2);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(weight);
  auto const exact = reshaped(weight.getValue(), type.getShape());
  return replacementWeight(rewriter, weight, reshaped(permuted(exact, order), shape));
}

constexpr unsigned behindLayer = 10; ///< operations: the steps of a normalisation, a sum, an activation

/// True for images that lie channels last already: what convolutions and pools make, and elementwise work behind them.
bool followsImage(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<nest::ConvOp, nest::WindowOp>(op))
    return true;
  return depth > 0 &&
         isa_and_nonnull<linalg::GenericOp, linalg::TransposeOp, tensor::ExpandShapeOp, tensor::PadOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return followsImage(operand, depth - 1); });
}

/// Whether elementwise work and plain reductions are all that is between the value and the results of the function.
bool endsAsPlanes(Value value, unsigned depth) {
  return depth > 0 && llvm::all_of(value.getUsers(), [&](Operation *user) {
           auto generic = dyn_cast<linalg::GenericOp>(user);
           if (isa<func::ReturnOp>(user))
             return true;
           if (generic && generic.getNumReductionLoops() > 0)
             return generic.getNumDpsInputs() == 1;
           return isa<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
                  llvm::all_of(user->getResults(), [&](Value result) { return endsAsPlanes(result, depth - 1); });
         });
}

bool isStencil(linalg::GenericOp op, WindowLoops const &loops, unsigned depth = behindLayer);

/// Whether elementwise work, and other stencils, are all that is between the arguments of the function or of a loop and
/// the value.
bool beginsAsPlanes(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<nest::WeightOp, tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  auto const loops = depth > 0 && generic ? WindowLoops::of(generic, 2) : std::nullopt;
  if (loops && loops->isConvolution())
    return isStencil(generic, *loops, depth - 1);
  return depth > 0 &&
         ((generic && generic.getNumReductionLoops() == 0) ||
          isa<linalg::FillOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::PadOp>(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) || beginsAsPlanes(operand, depth - 1);
         });
}

/// A stencil: few sums of few terms for each position. Lines of the image fill vectors and channels would not, unless
/// the image lies channels last, or its results have to.
bool isStencil(linalg::GenericOp op, WindowLoops const &loops, unsigned depth) {
  constexpr int64_t few = 4, fewTerms = 256, line = 16;
  auto const extentOf = [&](std::optional<unsigned> loop) { return loop ? op.getStaticLoopRanges()[*loop] : 1; };
  int64_t const inputs = extentOf(loops.inChannel), outputs = extentOf(loops.outChannel) * extentOf(loops.group);
  auto const weight = cast<RankedTensorType>(op.getInputs()[1].getType());
  if (loops.spatial.size() > 2 || inputs > few || outputs > few || !weight.hasStaticShape() ||
      weight.getNumElements() / outputs > fewTerms)
    return false;
  auto const liesAlong = [](Value tensor, unsigned dim) {
    ArrayRef<int64_t> const shape = cast<RankedTensorType>(tensor.getType()).getShape();
    return llvm::all_of(shape.drop_front(dim + 1), [](int64_t extent) { return extent == 1; });
  };
  WindowLoops::Spatial const &columns = loops.spatial.back();
  int64_t const width = cast<RankedTensorType>(op.getResult(0).getType()).getDimSize(columns.outDim);
  return liesAlong(op.getInputs()[0], columns.imageDim) && liesAlong(op.getResult(0), columns.outDim) &&
         (ShapedType::isDynamic(width) || width >= line) && beginsAsPlanes(op.getInputs()[0], depth) &&
         (outputs == 1 || endsAsPlanes(op.getResult(0), depth));
}

struct RaiseConvolution : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !isMultiplyAdd(op))
      return failure();
    auto const loops = WindowLoops::of(op, 3);
    auto weight = weightBehind(op.getInputs()[1]);
    auto const start = fillValue(op.getOutputs()[0]);
    if (!loops || !loops->isConvolution() || !isWindowed(op, *loops) || !weight || !start || !isZero(*start) ||
        isStencil(op, *loops))
      return failure();
    WindowImage const image = imageChannelsLast(rewriter, op, *loops, loops->inChannel, isZero);
    WindowResult result{rewriter, op, *loops, loops->outChannel};
    Value const filter = filterInOrder(rewriter, op, *loops, weight);
    int64_t const groups = loops->group ? op.getStaticLoopRanges()[*loops->group] : 1;
    auto conv = rewriter.create<nest::ConvOp>(
        op.getLoc(), TypeRange{result.type()}, "conv", ValueRange{image.value, filter}, ValueRange{},
        ValueRange{result.init()}, rewriter.getAffineMapArrayAttr({}),
        perDirection(*loops, &WindowLoops::Spatial::stride), perDirection(*loops, &WindowLoops::Spatial::dilation),
        image.pads, groups, planesOf(op, *loops, image.planes), /*transposed=*/false,
        /*bias=*/IntegerAttr());
    passThrough(rewriter, op.getLoc(), conv.getEpilogue(), result.type().getElementType());
    result.replaceWith(conv->getResult(0));
    return success();
  }
};

/// Pools of images; those of volumes behind convolutions, which lie channels last already, are raised after these.
struct RaisePool : OpRewritePattern<linalg::GenericOp> {
  RaisePool(MLIRContext *context, bool ofVolumes) : OpRewritePattern(context), ofVolumes(ofVolumes) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
      return failure();
    auto const loops = WindowLoops::of(op, ofVolumes ? 3 : 2);
    auto const combiner = poolCombiner(op);
    auto const start = fillValue(op.getOutputs()[0]);
    if (!loops || !loops->isPool() || !combiner || !start || !isNeutral(*combiner, *start))
      return failure();
    auto const isPadding = [&](TypedAttr value) { return isNeutral(*combiner, value); };
    bool const isVolume = loops->spatial.size() == 3;
    // A mean of the taps inside is divided by numbers that depend on the position in the volume
    if (isVolume && (!isWindowed(op, *loops) || !followsImage(op.getInputs()[0], behindLayer) ||
                     (*combiner == nest::Combiner::Sum && op.getInputs()[0].getDefiningOp<tensor::PadOp>())))
      return failure();
    WindowImage const image = imageChannelsLast(rewriter, op, *loops, loops->poolChannel, isPadding);
    WindowResult result{rewriter, op, *loops, loops->poolChannel};
    SmallVector<int64_t> kernel(2, 1);
    for (auto const &spatial : loops->spatial)
      kernel.push_back(op.getStaticLoopRanges()[spatial.tapLoop]);
    kernel.erase(kernel.begin(), kernel.end() - 2);
    auto window = rewriter.create<nest::WindowOp>(
        op.getLoc(), TypeRange{result.type()}, "pool", ValueRange{image.value}, ValueRange{}, ValueRange{result.init()},
        rewriter.getAffineMapArrayAttr({}), *combiner, kernel, perDirection(*loops, &WindowLoops::Spatial::stride),
        perDirection(*loops, &WindowLoops::Spatial::dilation), image.pads, nest::MeanAttr(),
        planesOf(op, *loops, image.planes));
    passThrough(rewriter, op.getLoc(), window.getFinish(), result.type().getElementType());
    result.replaceWith(window->getResult(0));
    return success();
  }

private:
  bool ofVolumes;
};

/// The division of a sum by the number of its terms, if that is all that happens to it.
linalg::GenericOp divisionBy(Value sum, int64_t count) {
  auto generic = sum.hasOneUse() ? dyn_cast<linalg::GenericOp>(*sum.user_begin()) : nullptr;
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) ||
      generic.getBody()->getOperations().size() != 2)
    return nullptr;
  auto division = dyn_cast<arith::DivFOp>(generic.getBody()->front());
  APFloat divisor(0.f);
  bool const matches = division && division.getLhs() == generic.getBody()->getArgument(0) &&
                       matchPattern(division.getRhs(), m_ConstantFloat(&divisor)) && divisor.convertToDouble() == count;
  return matches ? generic : nullptr;
}

/// Whether elementwise work on one tensor leads from the sum to the value: its mean, the inverse of a deviation.
bool isMadeOf(Value value, linalg::GenericOp sum) {
  for (unsigned depth = 0; depth < 6 && value.getDefiningOp(); ++depth) {
    Operation *op = value.getDefiningOp();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (op == sum)
      return true;
    bool const passes = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
                        (isElementwise(generic) && generic.getNumDpsInputs() == 1);
    if (!passes)
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// A mean that is subtracted from what it is the mean of, or a sum of squares: a norm, whose terms are computed where
/// they are summed, and not a pool.
bool belongsToNorm(linalg::GenericOp sum) {
  Value const image = sum.getInputs()[0];
  auto terms = image.getDefiningOp<linalg::GenericOp>();
  auto square = isElementwise(terms) ? dyn_cast<arith::MulFOp>(terms.getBody()->front()) : nullptr;
  if (square && square.getLhs() == square.getRhs())
    return true;
  return llvm::any_of(image.getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<linalg::GenericOp>(user);
    return isElementwise(reader) && isa<arith::SubFOp>(reader.getBody()->front()) &&
           llvm::any_of(reader.getDpsInputs(), [&](Value input) { return input != image && isMadeOf(input, sum); });
  });
}

/// A reduction over the rows and columns of images is a pool with a window as large as they are.
struct RaiseGlobalPool : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumLoops() != 4)
      return failure();
    auto const type = cast<RankedTensorType>(op.getInputs()[0].getType());
    AffineMap const in = op.getIndexingMapsArray()[0], out = op.getIndexingMapsArray()[1];
    auto const reduction = matchReduction(op, 0);
    auto const start = fillValue(op.getOutputs()[0]);
    if (!in.isIdentity() || !isOverImage(out) || !reduction || reduction->term != op.getBody()->getArgument(0) ||
        !start || !isNeutral(reduction->combiner, *start) || type.isDynamicDim(1) || type.isDynamicDim(2) ||
        type.isDynamicDim(3) || !followsImage(op.getInputs()[0], behindLayer) || belongsToNorm(op))
      return failure();
    Location const loc = op.getLoc();
    SmallVector<int64_t> const kernel{type.getDimSize(2), type.getDimSize(3)};
    Value const image = transposed(rewriter, loc, op.getInputs()[0], {0, 2, 3, 1});
    auto const made = RankedTensorType::get({type.getDimSize(0), 1, 1, type.getDimSize(1)}, type.getElementType());
    linalg::GenericOp mean = divisionBy(op->getResult(0), kernel[0] * kernel[1]);
    auto window = rewriter.create<nest::WindowOp>(
        mean ? mean.getLoc() : loc, TypeRange{made}, "pool", ValueRange{image}, ValueRange{},
        ValueRange{emptyLike(
            rewriter, loc, made,
            {{op.getInputs()[0], 0}, {op.getInputs()[0], 1}, {op.getInputs()[0], 1}, {op.getInputs()[0], 1}})},
        rewriter.getAffineMapArrayAttr({}), reduction->combiner, kernel, ArrayRef<int64_t>{1, 1},
        ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, 0, 0, 0},
        mean ? nest::MeanAttr::get(rewriter.getContext(), nest::Mean::All) : nest::MeanAttr(), DenseI64ArrayAttr());
    passThrough(rewriter, loc, window.getFinish(), made.getElementType());
    Value const result = out.getNumResults() == 4 ? transposed(rewriter, loc, window->getResult(0), {0, 3, 1, 2})
                                                  : flat(rewriter, loc, window->getResult(0));
    rewriter.replaceOp(op, result);
    if (mean)
      rewriter.replaceOp(mean, result);
    return success();
  }

  /// The result is N C, or N C 1 1.
  static bool isOverImage(AffineMap out) {
    auto const isDim = [&](unsigned i) { return out.getResult(i) == getAffineDimExpr(i, out.getContext()); };
    auto const isZero = [](AffineExpr expr) { return expr == 0; };
    return (out.getNumResults() == 2 || out.getNumResults() == 4) && isDim(0) && isDim(1) &&
           llvm::all_of(out.getResults().drop_front(2), isZero);
  }

  static Value flat(OpBuilder &builder, Location loc, Value made) {
    return builder.create<tensor::CollapseShapeOp>(loc, made, SmallVector<ReassociationIndices>{{0, 1, 2}, {3}});
  }
};

struct RaiseConvolutions : impl::RaiseConvolutionsBase<RaiseConvolutions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseConvolution>(&getContext());
    patterns.add<RaisePool>(&getContext(), /*ofVolumes=*/false);
    RewritePatternSet behindThem(&getContext());
    behindThem.add<RaiseGlobalPool>(&getContext());
    behindThem.add<RaisePool>(&getContext(), /*ofVolumes=*/true);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))) ||
        failed(rewriteGreedily(getOperation(), std::move(behindThem))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
