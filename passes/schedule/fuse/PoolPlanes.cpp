//===- PoolPlanes.cpp - pools of images and volumes whose channels come first -------------------------------------===//
//
// A pool joins nothing across channels. Between an image N C H W and a result in the same order it is a pool of N * C
// images of one channel: both transposes go. A pool of volumes N C D H W is one of their slices, then one along D,
// where the pixels of a slice stand for channels.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/schedule/Tensors.h"
#include "passes/schedule/fuse/FusePools.h"
#include "passes/schedule/raise/WindowLoops.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Windows of so many taps, most of them global, are joined along channels.
constexpr int64_t broadWindow = 32;

/// Lines of fewer pixels fill no vector: images of 7 x 7 take 1.3 times as long as with channels last.
constexpr int64_t narrowLine = 12;

linalg::TransposeOp transposeTo(Value value, ArrayRef<int64_t> order) {
  auto transpose = value.getDefiningOp<linalg::TransposeOp>();
  return transpose && transpose.getPermutation() == order ? transpose : nullptr;
}

/// The only reader of a value, if it transposes it so.
linalg::TransposeOp onlyReader(Value value, ArrayRef<int64_t> order) {
  auto transpose = value.hasOneUse() ? dyn_cast<linalg::TransposeOp>(*value.user_begin()) : nullptr;
  return transpose && transpose.getInput() == value && transpose.getPermutation() == order ? transpose : nullptr;
}

bool areStatic(RankedTensorType type) { return llvm::none_of(type.getShape().drop_front(), ShapedType::isDynamic); }

/// The elements in the same order in another shape, by way of one that both are groups of. Of the extents only the
/// first may be unknown.
Value regrouped(OpBuilder &builder, Location loc, Value value, ArrayRef<ReassociationIndices> from,
                ArrayRef<int64_t> shape, ArrayRef<ReassociationIndices> to) {
  Value const between = builder.create<tensor::CollapseShapeOp>(loc, value, from);
  auto const type = RankedTensorType::get(shape, cast<RankedTensorType>(value.getType()).getElementType());
  return builder.create<tensor::ExpandShapeOp>(loc, type, between, to);
}

int64_t times(int64_t extent, int64_t factor) { return ShapedType::isDynamic(extent) ? extent : extent * factor; }

/// Directions of a window: kernel, stride, dilation and both pads of rows, then of columns.
struct WindowParts {
  nest::Combiner combiner;
  SmallVector<int64_t, 2> kernel, strides, dilations;
  SmallVector<int64_t, 4> pads;
  nest::MeanAttr mean;
};

/// A pool of `image` with the result [images, rows, columns, channels], without a finish block yet.
nest::WindowOp windowOver(OpBuilder &builder, Location loc, Value image, RankedTensorType result,
                          WindowParts const &parts) {
  Value const init = emptyLike(builder, loc, result, {{image, 0}, {image, 1}, {image, 2}, {image, 3}});
  return builder.create<nest::WindowOp>(loc, TypeRange{result}, "pool", ValueRange{image}, ValueRange{},
                                        ValueRange{init}, builder.getAffineMapArrayAttr({}), parts.combiner,
                                        parts.kernel, parts.strides, parts.dilations, parts.pads, parts.mean,
                                        DenseI64ArrayAttr());
}

/// A block that yields what `make` builds of the accumulator.
void finishWith(OpBuilder &builder, nest::WindowOp window, Type accumulator, llvm::function_ref<Value(Value)> make) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&window.getFinish(), window.getFinish().end(), accumulator, window.getLoc());
  builder.create<nest::YieldOp>(window.getLoc(), make(block->getArgument(0)));
}

//===--- Images ---------------------------------------------------------------------------------------------------===//

SmallVector<ReassociationIndices> rowsOfLine() { return {{0, 1}, {2}, {3}}; }

/// What lies N C H W, or N C W, and is turned to the image; null if the image comes from elsewhere.
Value channelsFirst(Value image) {
  if (auto turned = transposeTo(image, {0, 2, 3, 1}))
    return turned.getInput();
  if (auto expand = image.getDefiningOp<tensor::ExpandShapeOp>()) {
    auto turned = transposeTo(expand.getSrc(), {0, 2, 1});
    return turned && llvm::equal(expand.getReassociationIndices(), rowsOfLine()) ? turned.getInput() : Value();
  }
  auto copy = image.getDefiningOp<linalg::GenericOp>();
  if (!copy || copy.getNumDpsInputs() != 1 || copy.getNumLoops() != 4 || copy.getNumParallelLoops() != 4 ||
      copy.getBody()->getTerminator()->getOperand(0) != copy.getBody()->getArgument(0))
    return {};
  auto const loop = [&](unsigned d) { return getAffineDimExpr(d, image.getContext()); };
  auto const line = AffineMap::get(4, 0, {loop(0), loop(3), loop(2)}, image.getContext());
  auto const maps = copy.getIndexingMapsArray();
  return maps[0] == line && maps[1].isIdentity() ? copy.getInputs()[0] : Value();
}

/// The operation that turns the result, which nothing else reads, to N C H W or N C W.
linalg::TransposeOp turnedBack(Value result) {
  if (auto turned = onlyReader(result, {0, 3, 1, 2}))
    return turned;
  auto collapse = result.hasOneUse() ? dyn_cast<tensor::CollapseShapeOp>(*result.user_begin()) : nullptr;
  bool const isLine = collapse && llvm::equal(collapse.getReassociationIndices(), rowsOfLine());
  return isLine ? onlyReader(collapse.getResult(), {0, 2, 1}) : nullptr;
}

struct PoolPlanes : OpRewritePattern<nest::WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nest::WindowOp op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op.getPlanes() || !op.getExtras().empty() ||
        op.getKernel()[0] * op.getKernel()[1] >= broadWindow || !op.getFinish().getOps<nest::IndexOp>().empty())
      return failure();
    Value const source = channelsFirst(op.getInputs()[0]);
    auto out = turnedBack(op->getResult(0));
    if (!source || !out)
      return failure();
    auto const in = cast<RankedTensorType>(source.getType()),
               image = cast<RankedTensorType>(op.getInputs()[0].getType()),
               made = cast<RankedTensorType>(op->getResult(0).getType()),
               result = cast<RankedTensorType>(out->getResult(0).getType());
    if (!areStatic(in) || !areStatic(made) || in.getRank() != result.getRank() || image.getDimSize(2) < narrowLine)
      return failure();
    Location const loc = op.getLoc();
    bool const isLine = in.getRank() == 3;
    SmallVector<ReassociationIndices> planesOf{{0, 1}, {2}, {3}}, pixelsOf{{0}, {1}, {2, 3}};
    if (isLine) {
      planesOf = {{0, 1}, {2}};
      pixelsOf = {{0}, {1, 2, 3}};
    }
    int64_t const planes = times(in.getDimSize(0), in.getDimSize(1));
    Value const input =
        regrouped(rewriter, loc, source, planesOf, {planes, image.getDimSize(1), image.getDimSize(2), 1}, pixelsOf);
    auto window = windowOver(
        rewriter, loc, input,
        RankedTensorType::get({planes, made.getDimSize(1), made.getDimSize(2), 1}, made.getElementType()),
        {op.getCombiner(), SmallVector<int64_t, 2>(op.getKernel()), SmallVector<int64_t, 2>(op.getStrides()),
         SmallVector<int64_t, 2>(op.getDilations()), SmallVector<int64_t, 4>(op.getPads()), op.getMeanAttr()});
    rewriter.inlineRegionBefore(op.getFinish(), window.getFinish(), window.getFinish().end());
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(*op->getResult(0).user_begin());
    rewriter.replaceOp(out, regrouped(rewriter, loc, window->getResult(0), pixelsOf, result.getShape(), planesOf));
    if (collapse)
      rewriter.eraseOp(collapse);
    rewriter.eraseOp(op);
    return success();
  }
};

//===--- Volumes --------------------------------------------------------------------------------------------------===//

/// What happens to the sum of a window, and the transpose behind it that makes it N C D H W.
struct VolumeResult {
  linalg::GenericOp step; ///< if anything happens
  linalg::TransposeOp transpose;

  static std::optional<VolumeResult> of(Value folded) {
    VolumeResult result;
    if (auto step = folded.hasOneUse() ? dyn_cast<linalg::GenericOp>(*folded.user_begin()) : nullptr) {
      bool const isStep = step.getNumDpsInputs() == 1 && step.getNumDpsInits() == 1 && step.getInputs()[0] == folded &&
                          step.getNumParallelLoops() == step.getNumLoops() &&
                          !step.payloadUsesValueFromOperand(step.getDpsInitOperand(0)) &&
                          llvm::all_of(step.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
      if (!isStep)
        return std::nullopt;
      result.step = step;
      folded = step->getResult(0);
    }
    result.transpose = onlyReader(folded, {0, 4, 1, 2, 3});
    return result.transpose ? std::optional(result) : std::nullopt;
  }

  Value yielded() { return step.getBody()->getTerminator()->getOperand(0); }

  /// Whether the step divides the sum by its number of taps inside the volume.
  bool isMeanInside(ArrayRef<PoolDirection> directions) {
    Value const sum = step.getBody()->getArgument(0), count = divisorOf(yielded(), sum);
    return count && sum.hasOneUse() &&
           countsTapsInside(count, directions, [](Operation *op) -> std::optional<unsigned> {
             auto index = dyn_cast<linalg::IndexOp>(op);
             return index && index.getDim() >= 1 && index.getDim() <= 3 ? std::optional<unsigned>(index.getDim() - 1)
                                                                        : std::nullopt;
           });
  }
};

/// The padding of D, H and W that the windows can leave out, and what is padded.
Value withoutPadding(Value volume, nest::Combiner combiner, SmallVectorImpl<int64_t> &low,
                     SmallVectorImpl<int64_t> &high) {
  low.assign(3, 0);
  high.assign(3, 0);
  auto pad = volume.getDefiningOp<tensor::PadOp>();
  TypedAttr scalar;
  if (!pad || !pad.getConstantPaddingValue() || !matchPattern(pad.getConstantPaddingValue(), m_Constant(&scalar)) ||
      !isNeutral(combiner, scalar))
    return volume;
  SmallVector<int64_t> lows, highs;
  for (auto [below, above] : llvm::zip(pad.getMixedLowPad(), pad.getMixedHighPad())) {
    lows.push_back(getConstantIntValue(below).value_or(-1));
    highs.push_back(getConstantIntValue(above).value_or(-1));
  }
  auto const isNegative = [](int64_t extent) { return extent < 0; };
  bool const isOutside = lows[0] != 0 || lows[1] != 0 || highs[0] != 0 || highs[1] != 0;
  if (isOutside || llvm::any_of(lows, isNegative) || llvm::any_of(highs, isNegative))
    return volume;
  low.assign(lows.begin() + 2, lows.end());
  high.assign(highs.begin() + 2, highs.end());
  return pad.getSource();
}

/// Whether the windows move along D, H and W of N C D H W, and the result is N D H W C.
bool isOfVolume(linalg::GenericOp op, WindowLoops const &loops) {
  AffineMap const in = op.getIndexingMapsArray()[0], out = op.getIndexingMapsArray()[2];
  auto const isLoop = [&](AffineMap map, unsigned place, unsigned loop) {
    return map.getResult(place) == getAffineDimExpr(loop, op.getContext());
  };
  if (loops.spatial.size() != 3 || !loops.isPool() || !isLoop(in, 0, *loops.batch) ||
      !isLoop(in, 1, *loops.poolChannel) || !isLoop(out, 0, *loops.batch) || !isLoop(out, 4, *loops.poolChannel))
    return false;
  return llvm::all_of(llvm::enumerate(loops.spatial), [](auto const &spatial) {
    return spatial.value().imageDim == spatial.index() + 2 && spatial.value().outDim == spatial.index() + 1;
  });
}

struct PoolVolumes : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumLoops() != 8)
      return failure();
    auto const loops = WindowLoops::of(op, 3);
    auto const combiner = poolCombiner(op);
    auto const start = fillValue(op.getOutputs()[0]);
    if (!loops || !isOfVolume(op, *loops) || !combiner || !start || !isNeutral(*combiner, *start))
      return failure();
    auto result = VolumeResult::of(op->getResult(0));
    SmallVector<int64_t> low, high, kernel;
    for (auto const &spatial : loops->spatial)
      kernel.push_back(op.getStaticLoopRanges()[spatial.tapLoop]);
    Value const volume = withoutPadding(op.getInputs()[0], *combiner, low, high);
    auto const type = cast<RankedTensorType>(volume.getType()),
               folded = cast<RankedTensorType>(op->getResult(0).getType());
    if (!result || !areStatic(type) || !areStatic(folded) || llvm::any_of(kernel, ShapedType::isDynamic) ||
        kernel[1] * kernel[2] >= broadWindow)
      return failure();
    nest::MeanAttr mean;
    if (result->step && result->step.hasIndexSemantics()) {
      SmallVector<PoolDirection> directions;
      for (auto [d, spatial] : llvm::enumerate(loops->spatial))
        directions.push_back(
            {folded.getDimSize(1 + d), type.getDimSize(2 + d), kernel[d], spatial.stride, spatial.dilation, low[d]});
      if (*combiner != nest::Combiner::Sum || !result->isMeanInside(directions))
        return failure();
      mean = nest::MeanAttr::get(op.getContext(), nest::Mean::Inside);
    }
    auto const part = [&](unsigned d) -> WindowLoops::Spatial const & { return loops->spatial[d]; };
    Location const loc = op.getLoc();
    Type const element = folded.getElementType();
    int64_t const planes = times(type.getDimSize(0), type.getDimSize(1)), depth = type.getDimSize(2);
    int64_t const rows = folded.getDimSize(2), columns = folded.getDimSize(3), slices = folded.getDimSize(1);
    auto const made = cast<RankedTensorType>(result->transpose->getResult(0).getType());
    auto const isStill = [&](unsigned d) {
      return kernel[d] == 1 && part(d).stride == 1 && low[d] == 0 && high[d] == 0;
    };
    bool const isAlong = !isStill(0), isAcross = !isAlong || !isStill(1) || !isStill(2);
    auto const finish = [&](Value joined) -> Value {
      if (!result->step || mean)
        return joined;
      IRMapping values;
      values.map(result->step.getBody()->getArgument(0), joined);
      for (Operation &each : result->step.getBody()->without_terminator())
        rewriter.clone(each, values);
      return values.lookupOrDefault(result->yielded());
    };
    Value slicesOf = volume; // [planes * depth, ...], rows * columns pixels in all
    SmallVector<ReassociationIndices> pixelsOf{{0, 1, 2}, {3, 4}};
    if (isAcross) {
      Value const images =
          regrouped(rewriter, loc, volume, {{0, 1, 2}, {3}, {4}},
                    {times(planes, depth), type.getDimSize(3), type.getDimSize(4), 1}, {{0}, {1}, {2, 3}});
      auto across = windowOver(
          rewriter, loc, images,
          RankedTensorType::get({times(planes, depth), rows, columns, 1}, isAlong ? element : made.getElementType()),
          {*combiner,
           {kernel[1], kernel[2]},
           {part(1).stride, part(2).stride},
           {part(1).dilation, part(2).dilation},
           {low[1], low[2], high[1], high[2]},
           mean});
      finishWith(rewriter, across, element, [&](Value joined) { return isAlong ? joined : finish(joined); });
      slicesOf = across->getResult(0);
      pixelsOf = {{0}, {1, 2, 3}};
    }
    Value last;
    if (isAlong) {
      Value const pixels =
          regrouped(rewriter, loc, slicesOf, pixelsOf, {planes, depth, 1, rows * columns}, {{0, 1, 2}, {3}});
      auto along = windowOver(
          rewriter, loc, pixels, RankedTensorType::get({planes, slices, 1, rows * columns}, made.getElementType()),
          {*combiner, {kernel[0], 1}, {part(0).stride, 1}, {part(0).dilation, 1}, {low[0], 0, high[0], 0}, mean});
      finishWith(rewriter, along, element, finish);
      last = regrouped(rewriter, loc, along->getResult(0), {{0}, {1}, {2, 3}}, made.getShape(), {{0, 1}, {2}, {3, 4}});
    } else {
      last = regrouped(rewriter, loc, slicesOf, {{0}, {1}, {2, 3}}, made.getShape(), {{0, 1, 2}, {3}, {4}});
    }
    rewriter.replaceOp(result->transpose, last);
    if (result->step)
      rewriter.eraseOp(result->step);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populatePoolPlanes(RewritePatternSet &patterns) { patterns.add<PoolPlanes, PoolVolumes>(patterns.getContext()); }

} // namespace ml2k
