//===- WindowImages.cpp - what a window works on, as images N H W C -----------------------------------------------===//

#include "passes/schedule/raise/WindowImages.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ml2k;

//===--- The image ------------------------------------------------------------------------------------------------===//

/// The value inside a tensor.pad by the given scalar that pads only the window's dimensions; the padding goes to
/// `image`.
static Value withoutPadding(Value value, ArrayRef<unsigned> spatial, function_ref<bool(TypedAttr)> isPadding,
                            WindowImage &image) {
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
static Value withRows(OpBuilder &builder, Location loc, Value value, int64_t position) {
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

static Value withoutRows(OpBuilder &builder, Location loc, Value value) {
  return builder.create<tensor::CollapseShapeOp>(loc, value, SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}});
}

/// N D H W C as N * D images.
static Value asPlanes(OpBuilder &builder, Location loc, Value volume) {
  return builder.create<tensor::CollapseShapeOp>(loc, volume, SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
}

/// The other way round, for D planes each.
static Value asVolumes(OpBuilder &builder, Location loc, Value planes, ArrayRef<int64_t> shape) {
  auto const type = RankedTensorType::get(shape, cast<RankedTensorType>(planes.getType()).getElementType());
  return builder.create<tensor::ExpandShapeOp>(loc, type, planes,
                                               SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
}

/// [.., g, c] with the last two dimensions as one.
static Value joinLast(OpBuilder &builder, Location loc, Value value) {
  int64_t const rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d + 2 < rank; ++d)
    groups.push_back({d});
  groups.push_back({rank - 2, rank - 1});
  return builder.create<tensor::CollapseShapeOp>(loc, value, groups);
}

/// The dimension of groups if that of the channels within a group follows it: together they are all channels.
static std::optional<int64_t> joinableGroups(AffineMap map, WindowLoops const &loops, std::optional<unsigned> channel) {
  if (!loops.group || !channel)
    return std::nullopt;
  auto const place = [&](unsigned loop) { return *map.getResultPosition(getAffineDimExpr(loop, map.getContext())); };
  return place(*channel) == place(*loops.group) + 1 ? std::optional<int64_t>(place(*loops.group)) : std::nullopt;
}

/// Dimensions [first, first + 1] of a tensor of the given rank as one.
static SmallVector<ReassociationIndices> joining(int64_t first, int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != first + 1)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return groups;
}

/// The tensor with two dimensions as one: what they were split from, if it was split just before.
static Value joinedChannels(OpBuilder &builder, Location loc, Value value, int64_t first) {
  auto const groups = joining(first, cast<RankedTensorType>(value.getType()).getRank());
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
      expand && llvm::equal(expand.getReassociationIndices(), groups))
    return expand.getSrc();
  return builder.create<tensor::CollapseShapeOp>(loc, value, groups);
}

/// Dimensions of an operand in the order batch, window dimensions, then the given channel dimensions.
static SmallVector<int64_t> channelsLast(AffineMap map, WindowLoops const &loops, ArrayRef<unsigned> spatialDims,
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
static Location layoutLocation(linalg::GenericOp op, Value source) {
  auto argument = dyn_cast<BlockArgument>(source);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  auto const name =
      function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name") : StringAttr();
  if (!name)
    return op.getLoc();
  return NameLoc::get(StringAttr::get(op.getContext(), name.str() + ".channels_last"));
}

WindowImage ml2k::imageChannelsLast(PatternRewriter &rewriter, linalg::GenericOp op, WindowLoops const &loops,
                                    std::optional<unsigned> channel, function_ref<bool(TypedAttr)> isPadding) {
  WindowImage image;
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

//===--- The result -----------------------------------------------------------------------------------------------===//

SmallVector<int64_t> WindowResult::order() {
  SmallVector<unsigned> spatial = llvm::map_to_vector(loops.spatial, [](auto const &s) { return s.outDim; });
  return channelsLast(op.getIndexingMapsArray()[2], loops, spatial, {loops.group, channel});
}

RankedTensorType WindowResult::type() {
  auto const out = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<int64_t> shape = volumeShape();
  if (loops.spatial.size() == 3) {
    shape[1] = shape[0] == ShapedType::kDynamic ? shape[0] : shape[0] * shape[1];
    shape.erase(shape.begin());
  }
  return RankedTensorType::get(shape, out.getElementType());
}

SmallVector<int64_t> WindowResult::volumeShape() {
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

Value WindowResult::init() {
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

Value WindowResult::initOfPlanes() {
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

void WindowResult::replaceWith(Value made) {
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

Value WindowResult::splitLast(Value made) {
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

//===--- The window -----------------------------------------------------------------------------------------------===//

SmallVector<int64_t> ml2k::perDirection(WindowLoops const &loops, int64_t WindowLoops::Spatial::*member) {
  SmallVector<int64_t> values(2, 1);
  for (auto const &spatial : loops.spatial)
    values.push_back(spatial.*member);
  return SmallVector<int64_t>(ArrayRef(values).take_back(2));
}

DenseI64ArrayAttr ml2k::planesOf(linalg::GenericOp op, WindowLoops const &loops, std::array<int64_t, 2> pads) {
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

bool ml2k::isWindowed(linalg::GenericOp op, WindowLoops const &loops) {
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
