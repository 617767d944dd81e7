//===- Sampling.cpp - images read between their pixels: GridSample, RoiAlign --------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

static Value toIndex(Scalars &s, Value x) {
  return s.create<arith::IndexCastOp>(s.b.getIndexType(), s.create<arith::FPToSIOp>(s.b.getI64Type(), x));
}

static Value clamped(Scalars &s, Value x, double low, double high) {
  return s.min(s.max(x, s.constantLike(x, low)), s.constantLike(x, high));
}

//===--- GridSample -----------------------------------------------------------------------------------------------===//

namespace {
struct Sampling {
  int64_t taps; // along each axis: 1 nearest, 2 linear, 4 cubic
  std::string padding;
  bool alignCorners;
};

/// What is read along one axis: pixels, whether they are inside, and their weights.
struct AxisTaps {
  llvm::SmallVector<Value> positions, inside, weights;
};
} // namespace

/// Folded back at both borders until it lies between them.
static Value reflected(Scalars &s, Value x, double low, double high) {
  double const span = high - low;
  if (span == 0)
    return s.constantLike(x, low);
  Value const distance = s.abs(s.sub(x, s.constantLike(x, low))), period = s.constantLike(x, 2 * span);
  Value const rest = s.sub(distance, s.mul(period, s.create<math::FloorOp>(s.div(distance, period))));
  return s.add(s.constantLike(x, low), s.min(rest, s.sub(period, rest)));
}

/// A place in the image, or the pixel beside one, where the padding puts it.
static Value padded(Scalars &s, Sampling const &sampling, Value x, int64_t extent) {
  double const last = static_cast<double>(extent - 1);
  if (sampling.padding == "border")
    return clamped(s, x, 0, last);
  if (sampling.padding == "reflection")
    return sampling.alignCorners ? reflected(s, x, 0, last) : reflected(s, x, -0.5, last + 0.5);
  return x;
}

/// Keys' kernel with a = -0.75 at the distances of the four pixels around a place.
static llvm::SmallVector<Value> cubicWeights(Scalars &s, Value fraction) {
  double const a = -0.75;
  auto constant = [&](double value) { return s.constantLike(fraction, value); };
  auto near = [&](Value x) { // |x| <= 1
    return s.add(s.mul(s.mul(s.sub(s.mul(constant(a + 2), x), constant(a + 3)), x), x), constant(1));
  };
  auto far = [&](Value x) { // 1 < |x| < 2
    Value const inner = s.mul(s.sub(s.mul(constant(a), x), constant(5 * a)), x);
    return s.sub(s.mul(s.add(inner, constant(8 * a)), x), constant(4 * a));
  };
  Value const rest = s.sub(constant(1), fraction);
  return {far(s.add(fraction, constant(1))), near(fraction), near(rest), far(s.add(rest, constant(1)))};
}

static AxisTaps tapsAlong(Scalars &s, Sampling const &sampling, Value at, int64_t extent) {
  double const size = static_cast<double>(extent);
  auto constant = [&](double value) { return s.constantLike(at, value); };
  // -1 and 1 are the centres of the outer pixels, or their outer edges
  Value x = sampling.alignCorners
                ? s.mul(s.mul(s.add(at, constant(1)), constant(0.5)), constant(size - 1))
                : s.mul(s.sub(s.mul(s.add(at, constant(1)), constant(size)), constant(1)), constant(0.5));
  if (sampling.taps == 1)
    x = s.create<math::RoundEvenOp>(x);
  x = padded(s, sampling, x, extent);
  Value const floor = s.create<math::FloorOp>(x), fraction = s.sub(x, floor);
  AxisTaps taps;
  if (sampling.taps == 1)
    taps.weights = {constant(1)};
  else if (sampling.taps == 2)
    taps.weights = {s.sub(constant(1), fraction), fraction};
  else
    taps.weights = cubicWeights(s, fraction);
  for (int64_t tap = 0; tap < sampling.taps; ++tap) {
    Value pixel = sampling.taps == 1 ? x : s.add(floor, constant(sampling.taps == 4 ? tap - 1 : tap));
    pixel = padded(s, sampling, pixel, extent);
    Value const bounded = clamped(s, pixel, 0, size - 1);
    taps.inside.push_back(s.compare(Compare::eq, pixel, bounded));
    taps.positions.push_back(toIndex(s, bounded));
  }
  return taps;
}

static Sampling samplingOf(Node &node) {
  std::string const mode = node.stringAttr("mode", node.opset < 20 ? "bilinear" : "linear");
  Sampling sampling{0, node.stringAttr("padding_mode", "zeros"), node.intAttr("align_corners", 0) != 0};
  sampling.taps = mode == "nearest" ? 1 : mode == "bilinear" || mode == "linear" ? 2 : 4;
  if (sampling.taps == 4 && mode != "bicubic" && mode != "cubic")
    node.refuse("mode \"" + mode + "\" is unknown");
  if (sampling.padding != "zeros" && sampling.padding != "border" && sampling.padding != "reflection")
    node.refuse("padding_mode \"" + sampling.padding + "\" is unknown");
  return sampling;
}

/// The sum of the pixels that `axes` name, along one after another, times their weights. `at` holds what was chosen.
static Value sampledFrom(Scalars &s, Sampling const &sampling, Value x, ArrayRef<AxisTaps> axes, Value weight,
                         Value isInside, llvm::SmallVector<Value> &at) {
  if (axes.empty()) {
    Value pixel = s.create<tensor::ExtractOp>(x, at);
    pixel = s.convert(pixel, computeType(pixel.getType()));
    if (isInside)
      pixel = s.select(isInside, pixel, s.constantLike(pixel, 0));
    return weight ? s.mul(weight, pixel) : pixel;
  }
  Value sum;
  for (int64_t tap = 0; tap < sampling.taps; ++tap) {
    AxisTaps const &own = axes.front();
    Value const weights = sampling.taps == 1 ? Value() : weight ? s.mul(weight, own.weights[tap]) : own.weights[tap];
    Value inside = sampling.padding != "zeros" ? Value() : own.inside[tap];
    if (isInside)
      inside = s.create<arith::AndIOp>(isInside, inside);
    at.push_back(own.positions[tap]);
    Value const part = sampledFrom(s, sampling, x, axes.drop_front(), weights, inside, at);
    at.pop_back();
    sum = sum ? s.add(sum, part) : part;
  }
  return sum;
}

/// y[n, c, (d,) h, w] is x[n, c] at the place grid[n, (d,) h, w] = (column, row(, plane)), all of them in [-1, 1].
static void importGridSample(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needFloat(1);
  node.needRank(0, 4, node.opset < 20 ? 4 : 5);
  int64_t const rank = node.rank(0), axes = rank - 2;
  node.needRank(1, rank, rank);
  Ints const shape(node.shape(0));
  if (llvm::any_of(IntsRef(shape).drop_front(2),
                   [](int64_t extent) { return ShapedType::isDynamic(extent) || extent < 1; }))
    node.needStatic(0);
  if (node.shape(1).back() != axes)
    node.refuse("places of shape " + shapeText(node.shape(1)) + " have no " + Twine(axes) + " coordinates");
  Sampling const sampling = samplingOf(node);
  if (axes == 3 && sampling.taps == 4)
    node.refuse("volumes are sampled by the nearest or linearly");
  Value const x = node.in(0), grid = node.in(1);
  Sizes sizes{b.sizeOf(x, 0), b.sizeOf(x, 1)};
  for (int64_t axis = 0; axis < axes; ++axis)
    sizes.push_back(b.sizeOf(grid, 1 + axis));
  Type const type = computeType(node.element(0));
  node.out(0, b.map({}, {}, sizes, node.element(0), [&](Scalars &s, ValueRange) -> Value {
    llvm::SmallVector<Value> loops;
    for (int64_t dim = 0; dim < rank; ++dim)
      loops.push_back(s.create<linalg::IndexOp>(dim));
    llvm::SmallVector<AxisTaps> taps;
    for (int64_t axis = 0; axis < axes; ++axis) {
      llvm::SmallVector<Value> at{loops[0]};
      at.append(loops.begin() + 2, loops.end());
      at.push_back(s.index(axes - 1 - axis));
      taps.push_back(tapsAlong(s, sampling, s.convert(s.create<tensor::ExtractOp>(grid, at), type), shape[2 + axis]));
    }
    llvm::SmallVector<Value> at{loops[0], loops[1]};
    return sampledFrom(s, sampling, x, taps, Value(), Value(), at);
  }));
}

//===--- RoiAlign -------------------------------------------------------------------------------------------------===//

/// The pixel before a place, the one behind it, the weight of the latter; the place lies in [0, extent - 1] then.
static std::array<Value, 3> neighbours(Scalars &s, Value at, int64_t extent) {
  Value const place = clamped(s, at, 0, static_cast<double>(extent - 1));
  Value const low = s.create<math::FloorOp>(place);
  Value const high = s.min(s.add(low, s.constantLike(low, 1)), s.constantLike(low, static_cast<double>(extent - 1)));
  return {toIndex(s, low), toIndex(s, high), s.sub(place, low)};
}

/// x[image, channel] at a place; 0 further outside than one pixel.
static Value bilinear(Scalars &s, Value x, Value image, Value channel, Value row, Value column, IntsRef shape) {
  Type const type = row.getType();
  auto const [top, bottom, down] = neighbours(s, row, shape[2]);
  auto const [left, right, across] = neighbours(s, column, shape[3]);
  auto pixel = [&, image, channel](Value r, Value c) {
    return s.convert(s.create<tensor::ExtractOp>(x, ValueRange{image, channel, r, c}), type);
  };
  auto between = [&](Value l, Value r, Value weight) { return s.add(l, s.mul(weight, s.sub(r, l))); };
  Value const value = between(between(pixel(top, left), pixel(top, right), across),
                              between(pixel(bottom, left), pixel(bottom, right), across), down);
  auto isNear = [&](Value at, int64_t extent) -> Value {
    Value const above = s.compare(Compare::ge, at, s.constantLike(at, -1));
    Value const below = s.compare(Compare::le, at, s.constantLike(at, static_cast<double>(extent)));
    return s.create<arith::AndIOp>(above, below);
  };
  Value const isInside = s.create<arith::AndIOp>(isNear(row, shape[2]), isNear(column, shape[3]));
  return s.select(isInside, value, s.constantLike(value, 0));
}

/// The mean of sampling_ratio^2 places in each of output_height * output_width parts of a region.
static void importRoiAlign(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needRank(0, 4, 4);
  node.needRank(1, 2, 2);
  node.needRank(2, 1, 1);
  if (node.stringAttr("mode", "avg") != "avg")
    node.refuse("only mode avg is supported");
  int64_t const samples = node.intAttr("sampling_ratio", 0);
  if (samples < 1)
    node.refuse("sampling_ratio 0 lets the data decide about the number of samples; only fixed ratios are supported");
  int64_t const height = node.intAttr("output_height", 1), width = node.intAttr("output_width", 1);
  if (height < 1 || width < 1)
    node.refuse("output_height and output_width have to be positive sizes");
  bool const isHalfPixel =
      node.opset >= 16 && node.stringAttr("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  double const scale = node.floatAttr("spatial_scale", 1.0), offset = isHalfPixel ? 0.5 : 0;
  Ints const shape(node.shape(0));
  if (ShapedType::isDynamic(shape[2]) || ShapedType::isDynamic(shape[3]) || shape[2] < 1 || shape[3] < 1)
    node.needStatic(0);
  Value const x = node.in(0), regions = node.in(1), images = node.in(2);
  Sizes const sizes{b.sizeOf(regions, 0), b.sizeOf(x, 1), b.getIndexAttr(height), b.getIndexAttr(width)};
  Type const type = computeType(node.element(0));
  Value const taps = b.empty(b.sizes({samples, samples}), node.element(0));
  auto term = [&](Scalars &s, ValueRange) -> Value {
    auto loop = [&](int64_t dim) -> Value { return s.create<linalg::IndexOp>(dim); };
    auto real = [&](Value index) -> Value {
      return s.create<arith::SIToFPOp>(type, s.create<arith::IndexCastOp>(s.b.getI64Type(), index));
    };
    auto corner = [&](int64_t which) {
      Value const edge = s.convert(s.create<tensor::ExtractOp>(regions, ValueRange{loop(0), s.index(which)}), type);
      return s.sub(s.mul(edge, s.constantLike(edge, scale)), s.constantLike(edge, offset));
    };
    /// Where the sample lies along an axis: of the part `at` out of `parts`, the place `tap`.
    auto place = [&](int64_t axis, Value at, int64_t parts, Value tap) {
      Value const begin = corner(axis);
      Value extent = s.sub(corner(axis + 2), begin);
      if (!isHalfPixel)
        extent = s.max(extent, s.constantLike(extent, 1));
      Value const part = s.div(extent, s.constantLike(extent, static_cast<double>(parts)));
      Value const inPart =
          s.div(s.add(real(tap), s.constantLike(part, 0.5)), s.constantLike(part, static_cast<double>(samples)));
      return s.add(begin, s.mul(part, s.add(real(at), inPart)));
    };
    Value image = s.index(0); // of one image none has to be chosen
    if (shape[0] != 1)
      image = s.create<nest::PositionOp>(s.b.getIndexType(), s.create<tensor::ExtractOp>(images, ValueRange{loop(0)}),
                                         s.index(shape[0]));
    return bilinear(s, x, image, loop(1), place(1, loop(2), height, loop(4)), place(0, loop(3), width, loop(5)), shape);
  };
  Value const sum = b.foldOver({taps}, {b.selectDims(6, {4, 5})}, sizes, node.element(0), Build::Fold::sum, term);
  node.out(0, b.elementwise(sum, [&](Scalars &s, ValueRange v) {
    return s.div(v[0], s.constantLike(v[0], static_cast<double>(samples * samples)));
  }));
}

void registerSampling(Registry &table) {
  table.add("GridSample", {16, 20, 22}, importGridSample);
  table.add("RoiAlign", {10, 16, 22}, importRoiAlign);
}

} // namespace ml2k::frontend
