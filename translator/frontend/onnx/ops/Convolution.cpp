//===- Convolution.cpp - Conv and ConvTranspose -------------------------------------------------------------------===//
//
// One-dimensional convolutions become two-dimensional ones over a single row: one form for everything behind.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Quantized.h"
#include "translator/frontend/onnx/ops/Window.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// A filter for every channel of volumes: n c d h w | r s t
static Value convolveChannels(Build &b, Value x, Value w, Window const &window, SizesRef sizes) {
  llvm::SmallVector<AffineExpr> read{b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  for (unsigned i = 0; i < 3; ++i)
    read.push_back(b.getAffineDimExpr(2 + i) * window.strides[i] + b.getAffineDimExpr(5 + i) * window.dilations[i]);
  return b.contract({x, b.squeeze(w, {1})}, {AffineMap::get(8, 0, read, b.getContext()), b.selectDims(8, {1, 5, 6, 7})},
                    sizes, 5);
}

/// Three dimensions and groups, for which there is no operation: n g f d h w | c r s t
static Value convolveGroups(Build &b, Value x, Value w, Window const &window, SizesRef sizes, int64_t groups) {
  IntsRef const in = Build::shapeOf(x), kernel = Build::shapeOf(w);
  int64_t const outputs = kernel[0] / groups, channels = kernel[1];
  x = b.reshape(x, {in[0], groups, channels, in[2], in[3], in[4]});
  w = b.reshape(w, {groups, outputs, channels, kernel[2], kernel[3], kernel[4]});
  auto dim = [&](unsigned at) { return b.getAffineDimExpr(at); };
  llvm::SmallVector<AffineExpr> read{dim(0), dim(1), dim(6)};
  for (unsigned i = 0; i < 3; ++i)
    read.push_back(dim(3 + i) * window.strides[i] + dim(7 + i) * window.dilations[i]);
  Sizes const grouped{sizes[0], b.getIndexAttr(groups), b.getIndexAttr(outputs), sizes[2], sizes[3], sizes[4]};
  Value const y = b.contract(
      {x, w}, {AffineMap::get(10, 0, read, b.getContext()), b.selectDims(10, {1, 2, 6, 7, 8, 9})}, grouped, 6);
  IntsRef const out = Build::shapeOf(y);
  return b.reshape(y, {out[0], groups * outputs, out[3], out[4], out[5]});
}

Value convolve(Build &b, Value x, Value w, Window const &window, int64_t groups) {
  int64_t const spatial = Build::rankOf(x) - 2, inputs = Build::shapeOf(x)[1], outputs = Build::shapeOf(w)[0];
  Sizes sizes{b.sizeOf(x, 0), b.getIndexAttr(outputs)};
  sizes.append(window.outputSizes(b, x));
  Type const element = computeType(Build::elementOf(x));
  auto const strides = b.getI64VectorAttr(window.strides), dilations = b.getI64VectorAttr(window.dilations);
  auto create = [&]<typename Op>(Value weight, Value init) {
    return b.create<Op>(TypeRange(init.getType()), ValueRange{x, weight}, ValueRange{init}, strides, dilations)
        .getResult(0);
  };
  if (spatial == 3 && groups == inputs && outputs == inputs && groups != 1)
    return convolveChannels(b, x, w, window, sizes);
  if (spatial == 3 && groups != 1)
    return convolveGroups(b, x, w, window, sizes, groups);
  if (spatial == 3)
    return create.operator()<linalg::Conv3DNcdhwFcdhwOp>(w, b.initial(sizes, element, Build::Fold::sum));
  if (groups == 1)
    return create.operator()<linalg::Conv2DNchwFchwOp>(w, b.initial(sizes, element, Build::Fold::sum));
  if (groups == inputs && outputs == inputs)
    return create.operator()<linalg::DepthwiseConv2DNchwChwOp>(b.squeeze(w, {1}),
                                                               b.initial(sizes, element, Build::Fold::sum));
  IntsRef const in = Build::shapeOf(x), kernel = Build::shapeOf(w);
  x = b.reshape(x, {in[0], groups, inputs / groups, in[2], in[3]});
  w = b.reshape(w, {groups, outputs / groups, inputs / groups, kernel[2], kernel[3]});
  Sizes grouped{sizes[0], b.getIndexAttr(groups), b.getIndexAttr(outputs / groups), sizes[2], sizes[3]};
  Value const y = create.operator()<linalg::Conv2DNgchwGfchwOp>(w, b.initial(grouped, element, Build::Fold::sum));
  IntsRef const out = Build::shapeOf(y);
  return b.reshape(y, {out[0], outputs, out[3], out[4]});
}

static Value addBias(Node &node, Value y) {
  if (!node.has(2))
    return y;
  return node.b.alongAxis(y, {node.in(2)}, 1, [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); });
}

/// The input, which has as many channels as the weight says; forward() checks that where it is known only then.
static Value inputOf(Node &node, Value x, int64_t channels, int64_t groups) {
  Build &b = node.b;
  Ints shape(node.shape(0));
  bool const isOpen = ShapedType::isDynamic(shape[1]);
  if (groups < 1 || (!isOpen && shape[1] != channels) || node.shape(1)[0] % groups != 0)
    node.refuse("input " + shapeText(node.shape(0)) + " and weight " + shapeText(node.shape(1)) + " do not fit " +
                Twine(groups) + " group(s)");
  if (isOpen)
    b.extents.requireEqual(node.extents(0)[1], channels);
  shape[1] = channels;
  return b.casted(x, tensorType(shape, Build::elementOf(x)));
}

/// Filters of single channels take floats: no pairs of products are summed there.
static std::optional<IntegerFactors> integersOf(Node &node, int64_t groups) {
  bool const isDepthwise = groups != 1 && node.shape(1)[1] == 1;
  return isDepthwise ? std::nullopt : integerFactors(node, 0);
}

static void importConv(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 5);
  node.needRank(1, node.rank(0), node.rank(0));
  node.needStatic(1);
  int64_t const groups = node.intAttr("group", 1);
  auto const integers = integersOf(node, groups);
  Value x = inputOf(node, integers ? integers->left : node.in(0), node.shape(1)[1] * groups, groups),
        w = integers ? integers->right : node.in(1);
  Window window = Window::of(node, node.shape(1).drop_front(2));
  bool const isFlat = node.rank(0) == 3;
  if (isFlat) {
    x = node.b.unsqueeze(x, {2});
    w = node.b.unsqueeze(w, {2});
    window.addRow();
  }
  Value y = !node.constant(1) && window.open.empty() && isConvolvedByPlanes(x, groups)
                ? convolveByPlanes(node.b, x, w, window)
                : convolve(node.b, window.pad(node.b, x, node.b.scalar(Build::elementOf(x), 0)), w, window, groups);
  if (isFlat)
    y = node.b.squeeze(y, {2});
  if (integers)
    y = scaledSum(node, y, *integers, 1);
  node.out(0, node.b.elementwiseCast(addBias(node, y), node.element(0)));
}

/// Along positions, each channel by itself: an output reads its own position and those before it, the first ones what
/// is left of an earlier call.
static void importCausalConvWithState(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needRank(0, 3, 3);
  node.needRank(1, 3, 3);
  node.needStatic(1);
  int64_t const channels = node.shape(1)[0], width = node.shape(1)[2], before = width - 1;
  std::string const activation = node.stringAttr("activation", "none");
  if (channels < 1 || width < 1 || node.shape(1)[1] != 1 ||
      (activation != "none" && activation != "silu" && activation != "swish"))
    node.refuse("weights of shape " + shapeText(node.shape(1)) + " or activation \"" + activation + "\" do not fit");
  for (size_t input : {1, 2, 3})
    if (node.has(input) && node.element(input) != node.element(0))
      node.refuse("the inputs are of different types");
  Value x = inputOf(node, node.in(0), channels, channels);
  if (node.has(3)) {
    node.needRank(3, 3, 3);
    if (node.shape(3).drop_front() != IntsRef({channels, before}))
      node.refuse("a state of shape " + shapeText(node.shape(3)) + " is none of " + Twine(before) + " positions");
    b.extents.requireEqual(node.extents(3)[0], node.extents(0)[0]);
    x = b.concat({node.in(3), x}, 2);
  } else {
    x = b.pad(x, {0, 0, before}, {0, 0, 0}, b.scalar(Build::elementOf(x), 0));
  }
  std::vector<Extent> const all = b.extentsOf(x);
  node.out(1, b.sliceAt(x, {0, 0, all[2] - Extent(before)}, {all[0], all[1], before}, {1, 1, 1}));
  Window window{{width}, {1}, {1}, {0}, {0}, {0}, {}};
  window.addRow();
  Value y = convolve(b, b.unsqueeze(x, {2}), b.unsqueeze(node.in(1), {2}), window, channels);
  y = addBias(node, b.squeeze(y, {2}));
  if (activation != "none")
    y = b.elementwise(y, [](Scalars &s, ValueRange v) { return s.mul(v[0], s.sigmoid(v[0])); });
  node.out(0, b.elementwiseCast(y, node.element(0)));
}

//===--- Transposed -----------------------------------------------------------------------------------------------===//

/// Windows that neither overlap nor leave gaps, of weights that only the run knows: every output element has one input
/// position, so that the operation is a contraction over channels whose result is written block by block.
static Value convTransposeBlocks(Build &b, Value x, Value w) {
  IntsRef const kernel = Build::shapeOf(w);
  // n f h r w s | c
  Sizes const sizes{b.sizeOf(x, 0), b.getIndexAttr(kernel[1]), b.sizeOf(x, 2), b.getIndexAttr(kernel[2]),
                    b.sizeOf(x, 3), b.getIndexAttr(kernel[3])};
  Value const init = b.initial(sizes, Build::elementOf(x), Build::Fold::sum);
  llvm::SmallVector<AffineMap> const maps{b.selectDims(7, {0, 6, 2, 4}), b.selectDims(7, {6, 1, 3, 5}),
                                          b.selectDims(7, {0, 1, 2, 3, 4, 5})};
  llvm::SmallVector<utils::IteratorType> iterators(7, utils::IteratorType::parallel);
  iterators[6] = utils::IteratorType::reduction;
  Value const blocks =
      b.create<linalg::GenericOp>(TypeRange(init.getType()), ValueRange{x, w}, ValueRange{init}, maps, iterators,
                                  [](OpBuilder &nested, Location loc, ValueRange v) {
                                    Scalars s(nested, loc, false);
                                    Value const sum = s.add(v[2], s.mul(v[0], v[1]));
                                    nested.create<linalg::YieldOp>(loc, sum);
                                  })
          .getResult(0);
  std::vector<Extent> const in = b.extentsOf(x);
  return b.reshapeTo(blocks, {in[0], kernel[1], in[2] * kernel[2], in[3] * kernel[3]});
}

/// Of a single pixel, as generators of images begin with: a product whose columns are the elements of the window,
/// channels last.
static Value convTransposePixel(Build &b, Value x, Value w) {
  std::vector<Extent> const in = b.extentsOf(x);
  IntsRef const kernel = Build::shapeOf(w); // c f, then the window
  int64_t const rank = kernel.size();
  Ints order{0}, back{0, rank - 1};
  std::vector<Extent> shape{in[0]};
  int64_t columns = kernel[1];
  for (int64_t i = 2; i < rank; ++i) {
    order.push_back(i);
    back.push_back(i - 1);
    shape.push_back(kernel[i]);
    columns *= kernel[i];
  }
  order.push_back(1);
  shape.push_back(kernel[1]);
  Value const weight = b.reshape(b.transpose(w, order), {kernel[0], columns});
  return b.transpose(b.reshapeTo(b.matmul(b.reshapeTo(x, {in[0], in[1]}), weight), shape), back);
}

/// Zeros between the elements of x, one less than the stride.
static Value spread(Build &b, Value x, IntsRef strides) {
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return x;
  Sizes sizes = b.sizesOf(x);
  Ints steps{1, 1};
  for (auto [i, stride] : llvm::enumerate(strides)) {
    sizes[2 + i] = b.extents.size((b.extents.of(x, 2 + i) - 1) * stride + 1);
    steps.push_back(stride);
  }
  Value const zeros = b.initial(sizes, Build::elementOf(x), Build::Fold::sum);
  return b.create<tensor::InsertSliceOp>(x, zeros, b.sizes(Ints(steps.size(), 0)), b.sizesOf(x), b.sizes(steps));
}

/// w[c, f, r, s] as the weight [f, c, R-1-r, S-1-s] of an ordinary convolution, per group of input channels.
static Value mirrored(Build &b, Value w, int64_t groups) {
  IntsRef const from = Build::shapeOf(w);
  int64_t const inputs = from[0] / groups, outputs = from[1];
  int64_t const rank = from.size();
  Ints shape{groups * outputs, inputs};
  AffineExpr const f = b.getAffineDimExpr(0);
  llvm::SmallVector<AffineExpr> exprs{f.floorDiv(outputs) * inputs + b.getAffineDimExpr(1), f % outputs};
  if (groups == 1)
    exprs = {b.getAffineDimExpr(1), f};
  for (int64_t dim = 2; dim < rank; ++dim) {
    shape.push_back(from[dim]);
    exprs.push_back(b.getAffineConstantExpr(from[dim] - 1) - b.getAffineDimExpr(dim));
  }
  return b.map({w}, {AffineMap::get(rank, 0, exprs, b.getContext())}, b.sizes(shape), Build::elementOf(w),
               [](Scalars &, ValueRange v) { return v[0]; });
}

static Value convTranspose(Node &node, Value x, Value w, TransposedWindow const &window, int64_t groups) {
  Build &b = node.b;
  if (groups == 1 && window.isBlocks() && Build::rankOf(x) == 4 && !node.constant(1))
    return convTransposeBlocks(b, x, w);
  auto const isOne = [](int64_t extent) { return extent == 1; };
  auto const isZero = [](int64_t pad) { return pad == 0; };
  if (groups == 1 && llvm::all_of(Build::shapeOf(x).drop_front(2), isOne) && llvm::all_of(window.dilations, isOne) &&
      llvm::all_of(window.low, isZero) && llvm::all_of(window.high, isZero))
    return convTransposePixel(b, x, w);
  x = spread(b, x, window.strides);
  Ints low{0, 0}, high{0, 0};
  bool isCropped = false;
  for (size_t i = 0; i < window.strides.size(); ++i) {
    int64_t const reach = window.dilations[i] * (window.kernel[i] - 1);
    low.push_back(reach - window.low[i]);
    high.push_back(reach - window.high[i]);
    isCropped |= low.back() < 0 || high.back() < 0;
  }
  if (isCropped)
    node.refuse("pads larger than the kernel are not supported");
  x = b.pad(x, low, high, b.scalar(Build::elementOf(x), 0));
  Window plain;
  plain.kernel = window.kernel;
  plain.strides.assign(window.strides.size(), 1);
  plain.dilations = window.dilations;
  plain.low.assign(window.strides.size(), 0);
  plain.high = plain.low;
  w = mirrored(b, w, groups);
  return !node.constant(1) && isConvolvedByPlanes(x, groups) ? convolveByPlanes(b, x, w, plain)
                                                             : convolve(b, x, w, plain, groups);
}

static void importConvTranspose(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 5);
  node.needRank(1, node.rank(0), node.rank(0));
  node.needStatic(1);
  int64_t const groups = node.intAttr("group", 1);
  Value x = inputOf(node, node.in(0), node.shape(1)[0], groups), w = node.in(1);
  TransposedWindow window = TransposedWindow::of(node, node.shape(1).drop_front(2));
  bool const isFlat = node.rank(0) == 3;
  if (isFlat) {
    x = node.b.unsqueeze(x, {2});
    w = node.b.unsqueeze(w, {2});
    window.addRow();
  }
  Value y = convTranspose(node, x, w, window, groups);
  if (isFlat)
    y = node.b.squeeze(y, {2});
  node.out(0, node.b.elementwiseCast(addBias(node, y), node.element(0)));
}

void registerConvolution(Registry &table) {
  table.add("CausalConvWithState", {27}, importCausalConvWithState);
  table.add("Conv", {1, 11, 22}, importConv);
  table.add("ConvTranspose", {1, 11, 22}, importConvTranspose);
}

} // namespace ml2k::frontend
