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
#include "passes/schedule/Tensors.h"
#include "passes/schedule/raise/WindowLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISECONVOLUTIONS
#include "passes/Passes.h.inc"

namespace {

/// An image brought to N H W C, and the padding that came off it.
struct Image {
  Value value;
  SmallVector<int64_t> pads{0, 0, 0, 0};
  std::array<int64_t, 2> planes{0, 0}; ///< padding of volumes in front and behind
};

/// The value inside a tensor.pad by the given scalar that pads only the window's dimensions; the padding goes to
/// `image`.
Value withoutPadding(Value value, ArrayRef<unsigned> spatial, function_ref<bool(TypedAttr)> isPadding, Image &image) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  TypedAttr scalar;
  if (!pad || !pad.getConstantPaddingValue() || !matchPattern(pad.getConstantPaddingValue(), m_Constant(&scalar)) ||
      !isPadding(scalar))
    return value;
  SmallVector<int64_t> pads{0, 0, 0, 0};
  std::array<int64_t, 2> planes{0, 0};
  unsigned const volume = spatial.size() == 3; // directions in front of rows and columns
  for (int64_t d = 0; d < pad.getType().getRank(); ++d) {
    auto const low = getConstantIntValue(pad.getMixedLowPad()[d]), high = getConstantIntValue(pad.getMixedHighPad()[d]);
    if (!low || !high || *low < 0 || *high < 0)
      return value;
    auto const *found = llvm::find(spatial, d);
    if (volume && found == spatial.begin()) {
      planes = {*low, *high};
    } else if (found != spatial.end()) {
      unsigned const row = found - spatial.begin() + 2 - spatial.size();
      pads[row] = *low;
      pads[2 + row] = *high;
    } else if (*low != 0 || *high != 0) {
      return value;
    }
  }
  image.pads = pads;
  image.planes = planes;
  return pad.getSource();
}

/// Adds a row dimension of extent 1 to N W C.
Value withRows(OpBuilder &builder, Location loc, Value value, int64_t position) {
  auto const type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + position, 1);
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, to = 0; d < type.getRank(); ++d) {
    groups.push_back({to++});
    if (d + 1 == position)
      groups.back().push_back(to++);
  }
  return builder.create<tensor::ExpandShapeOp>(loc, RankedTensorType::get(shape, type.getElementType()), value, groups);
}

Value withoutRows(OpBuilder &builder, Location loc, Value value) {
  return builder.create<tensor::CollapseShapeOp>(loc, value, SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}});
}

/// N D H W C as N * D images.
Value asPlanes(OpBuilder &builder, Location loc, Value volume) {
  return builder.create<tensor::CollapseShapeOp>(loc, volume, SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
}

/// The other way round, for D planes each.
Value asVolumes(OpBuilder &builder, Location loc, Value planes, ArrayRef<int64_t> shape) {
  auto const type = RankedTensorType::get(shape, cast<RankedTensorType>(planes.getType()).getElementType());
  return builder.create<tensor::ExpandShapeOp>(loc, type, planes,
                                               SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
}

/// [.., g, c] with the last two dimensions as one.
Value joinLast(OpBuilder &builder, Location loc, Value value) {
  int64_t const rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d + 2 < rank; ++d)
    groups.push_back({d});
  groups.push_back({rank - 2, rank - 1});
  return builder.create<tensor::CollapseShapeOp>(loc, value, groups);
}

/// The dimension of groups if that of the channels within a group follows it: together they are all channels.
std::optional<int64_t> joinableGroups(AffineMap map, WindowLoops const &loops, std::optional<unsigned> channel) {
  if (!loops.group || !channel)
    return std::nullopt;
  auto const place = [&](unsigned loop) { return *map.getResultPosition(getAffineDimExpr(loop, map.getContext())); };
  return place(*channel) == place(*loops.group) + 1 ? std::optional<int64_t>(place(*loops.group)) : std::nullopt;
}

/// Dimensions [first, first + 1] of a tensor of the given rank as one.
SmallVector<ReassociationIndices> joining(int64_t first, int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != first + 1)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return groups;
}

/// The tensor with two dimensions as one: what they were split from, if it was split just before.
Value joinedChannels(OpBuilder &builder, Location loc, Value value, int64_t first) {
  auto const groups = joining(first, cast<RankedTensorType>(value.getType()).getRank());
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
      expand && llvm::equal(expand.getReassociationIndices(), groups))
    return expand.getSrc();
  return builder.create<tensor::CollapseShapeOp>(loc, value, groups);
}

/// Dimensions of an operand in the order batch, window dimensions, then the given channel dimensions.
SmallVector<int64_t> channelsLast(AffineMap map, WindowLoops const &loops, ArrayRef<unsigned> spatialDims,
                                  ArrayRef<std::optional<unsigned>> channels) {
  SmallVector<int64_t> order;
  auto const place = [&](unsigned loop) {
    order.push_back(*map.getResultPosition(getAffineDimExpr(loop, map.getContext())));
  };
  place(*loops.batch);
  for (unsigned d : spatialDims)
    order.push_back(d);
  for (auto loop : channels)
    if (loop)
      place(*loop);
  return order;
}

/// A change of layout of an input of the model is called after the input, not after the layer that wants it.
Location layoutLocation(linalg::GenericOp op, Value source) {
  auto argument = dyn_cast<BlockArgument>(source);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  auto const name =
      function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name") : StringAttr();
  if (!name)
    return op.getLoc();
  return NameLoc::get(StringAttr::get(op.getContext(), name.str() + ".channels_last"));
}

Image imageChannelsLast(PatternRewriter &rewriter, linalg::GenericOp op, WindowLoops const &loops,
                        std::optional<unsigned> channel, function_ref<bool(TypedAttr)> isPadding) {
  Image image;
  AffineMap const map = op.getIndexingMapsArray()[0];
  SmallVector<unsigned> spatial = llvm::map_to_vector(loops.spatial, [](auto const &s) { return s.imageDim; });
  SmallVector<int64_t> order = channelsLast(map, loops, spatial, {loops.group, channel});
  Value source = op.getInputs()[0];
  auto const joined = joinableGroups(map, loops, channel);
  if (joined) {
    source = joinedChannels(rewriter, op.getLoc(), source, *joined);
    order.pop_back();
    for (unsigned &d : spatial)
      d -= d > *joined;
    for (int64_t &d : order)
      d -= d > *joined;
  }
  source = withoutPadding(source, spatial, isPadding, image);
  image.value = transposed(rewriter, layoutLocation(op, source), source, order);
  if (loops.group && channel && !joined)
    image.value = joinLast(rewriter, op.getLoc(), image.value);
  if (loops.spatial.size() == 1)
    image.value = withRows(rewriter, op.getLoc(), image.value, 1);
  if (loops.spatial.size() == 3)
    image.value = asPlanes(rewriter, op.getLoc(), image.value);
  return image;
}

SmallVector<int64_t> perDirection(WindowLoops const &loops, int64_t WindowLoops::Spatial::*member) {
  SmallVector<int64_t> values(2, 1);
  for (auto const &spatial : loops.spatial)
    values.push_back(spatial.*member);
  return SmallVector<int64_t>(ArrayRef(values).take_back(2));
}

/// What the kernel makes, N P Q O, and the way back to the type of the operation's result.
struct Result {
  PatternRewriter &rewriter;
  linalg::GenericOp op;
  WindowLoops const &loops;
  std::optional<unsigned> channel; // output channels beside the group

  SmallVector<int64_t> order() {
    SmallVector<unsigned> spatial = llvm::map_to_vector(loops.spatial, [](auto const &s) { return s.outDim; });
    return channelsLast(op.getIndexingMapsArray()[2], loops, spatial, {loops.group, channel});
  }

  RankedTensorType type() {
    auto const out = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<int64_t> shape = volumeShape();
    if (loops.spatial.size() == 3) {
      shape[1] = shape[0] == ShapedType::kDynamic ? shape[0] : shape[0] * shape[1];
      shape.erase(shape.begin());
    }
    return RankedTensorType::get(shape, out.getElementType());
  }

  /// The same before the planes of a volume are images.
  SmallVector<int64_t> volumeShape() {
    auto const out = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<int64_t> shape = llvm::map_to_vector(order(), [&](int64_t d) { return out.getDimSize(d); });
    if (loops.spatial.size() == 1)
      shape.insert(shape.begin() + 1, 1);
    if (loops.group && channel) {
      int64_t const inner = shape.pop_back_val();
      shape.back() *= inner;
    }
    return shape;
  }

  Value init() {
    if (loops.spatial.size() == 3)
      return initOfPlanes();
    SmallVector<std::pair<Value, int64_t>> sources;
    SmallVector<int64_t> dims = order();
    if (loops.spatial.size() == 1)
      dims.insert(dims.begin() + 1, 0);
    for (int64_t d : ArrayRef<int64_t>(dims).take_front(4))
      sources.push_back({op.getOutputs()[0], d});
    return emptyLike(rewriter, op.getLoc(), type(), sources);
  }

  Value initOfPlanes() {
    Location const loc = op.getLoc();
    SmallVector<int64_t> const dims = order(), shape = volumeShape();
    SmallVector<OpFoldResult> sizes;
    for (int64_t d : ArrayRef<int64_t>(dims).take_front(4))
      sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getOutputs()[0], d));
    AffineExpr const volumes = rewriter.getAffineSymbolExpr(0);
    sizes[1] = affine::makeComposedFoldedAffineApply(rewriter, loc, volumes * shape[1], {sizes[0]});
    sizes.push_back(rewriter.getIndexAttr(shape.back()));
    return rewriter.create<tensor::EmptyOp>(loc, ArrayRef(sizes).drop_front(), type().getElementType());
  }

  void replaceWith(Value made) {
    Location const loc = op.getLoc();
    if (loops.spatial.size() == 3)
      made = asVolumes(rewriter, loc, made, volumeShape());
    if (loops.spatial.size() == 1)
      made = withoutRows(rewriter, loc, made);
    SmallVector<int64_t> channelsLast = order();
    if (auto const joined = joinableGroups(op.getIndexingMapsArray()[2], loops, channel)) {
      channelsLast.pop_back();
      for (int64_t &d : channelsLast)
        d -= d > *joined;
      Value const channels = transposed(rewriter, loc, made, inverse(channelsLast));
      auto const split = cast<RankedTensorType>(op.getResult(0).getType());
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, split, channels, joining(*joined, split.getRank()));
      return;
    }
    if (loops.group && channel)
      made = splitLast(made);
    rewriter.replaceOp(op, transposed(rewriter, loc, made, inverse(channelsLast)));
  }

  Value splitLast(Value made) {
    auto const out = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<int64_t> shape = llvm::map_to_vector(order(), [&](int64_t d) { return out.getDimSize(d); });
    int64_t const rank = shape.size();
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d + 2 < rank; ++d)
      groups.push_back({d});
    groups.push_back({rank - 2, rank - 1});
    return rewriter.create<tensor::ExpandShapeOp>(op.getLoc(), RankedTensorType::get(shape, out.getElementType()), made,
                                                  groups);
  }
};

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

/// What a window has of the planes of a volume; nothing for images, and where each plane is one by itself.
DenseI64ArrayAttr planesOf(linalg::GenericOp op, WindowLoops const &loops, std::array<int64_t, 2> pads) {
  if (loops.spatial.size() != 3)
    return {};
  auto const extentOf = [&](unsigned operand, int64_t dim) {
    return cast<ShapedType>(op->getOperand(operand).getType()).getDimSize(dim);
  };
  WindowLoops::Spatial const &planes = loops.spatial.front();
  if (extentOf(1, planes.filterDim) == 1 && planes.stride == 1 && pads[0] + pads[1] == 0)
    return {};
  return DenseI64ArrayAttr::get(op.getContext(),
                                {extentOf(0, planes.imageDim) - pads[0] - pads[1], extentOf(2, planes.outDim),
                                 extentOf(1, planes.filterDim), planes.stride, planes.dilation, pads[0], pads[1]});
}

/// A volume is a batch of planes if it is known how many they are, and an index counts those of all volumes.
bool isWindowed(linalg::GenericOp op, WindowLoops const &loops) {
  if (loops.spatial.size() != 3)
    return true;
  WindowLoops::Spatial const &planes = loops.spatial.front();
  int64_t const volumes = op.getStaticLoopRanges()[*loops.batch];
  return llvm::all_of(
      std::initializer_list<std::pair<unsigned, unsigned>>{{0, planes.imageDim}, {2, planes.outDim}}, [&](auto pair) {
        int64_t const depth = cast<ShapedType>(op->getOperand(pair.first).getType()).getDimSize(pair.second);
        int64_t all = 0;
        return !ShapedType::isDynamic(depth) &&
               (ShapedType::isDynamic(volumes) || !llvm::MulOverflow(volumes, depth, all));
      });
}

struct RaiseConvolution : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !isMultiplyAdd(op))
      return failure();
    auto const loops = WindowLoops::of(op, 3);
    auto weight = weightBehind(op.getInputs()[1]);
    auto const start = fillValue(op.getOutputs()[0]);
    if (!loops || !loops->isConvolution() || !isWindowed(op, *loops) || !weight || !start || !isZero(*start))
      return failure();
    Image const image = imageChannelsLast(rewriter, op, *loops, loops->inChannel, isZero);
    Result result{rewriter, op, *loops, loops->outChannel};
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
    Image const image = imageChannelsLast(rewriter, op, *loops, loops->poolChannel, isPadding);
    Result result{rewriter, op, *loops, loops->poolChannel};
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
        type.isDynamicDim(3) || !followsImage(op.getInputs()[0], behindLayer))
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
