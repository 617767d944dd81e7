//===- Resize.cpp - Resize and Upsample ---------------------------------------------------------------------------===//
//
// One axis after the other: an output is a weighted sum of 1 (nearest), 2 (linear) or 4 (cubic) elements, of more where
// antialias makes the filter as wide as the step between outputs. Which ones
// and with what weights depends on the position along the axis alone, so that both are tables, made here.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/ops/Resize.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {

using Mode = ResizeMode;

/// taps[t][i]: the t-th element that output i reads, and its weight.
struct Taps {
  std::vector<std::vector<int64_t>> positions;
  std::vector<std::vector<double>> weights;
  std::vector<double> constants; ///< added to output i; empty if there are none
};

struct Axis {
  int64_t from, to;
  double scale;              // to / from, or what the model says
  double begin = 0, end = 1; // the part of the input that is read
};

} // namespace

/// The place in the input of an output position.
static double coordinate(Node &node, Mode const &mode, Axis const &axis, int64_t at) {
  double const x = static_cast<double>(at), from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  double const exact = axis.scale * from; // may have a fraction, which the specification keeps
  if (mode.coordinates == "half_pixel")
    return (x + 0.5) / axis.scale - 0.5;
  if (mode.coordinates == "asymmetric")
    return x / axis.scale;
  if (mode.coordinates == "align_corners")
    return axis.to == 1 ? 0 : x * (from - 1) / (exact - 1);
  if (mode.coordinates == "pytorch_half_pixel")
    return axis.to == 1 ? 0 : (x + 0.5) / axis.scale - 0.5;
  if (mode.coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5) / axis.scale;
  if (mode.coordinates == "half_pixel_symmetric") {
    double const adjustment = to / (axis.scale * from), centre = from / 2;
    return centre * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  if (mode.coordinates == "tf_crop_and_resize") {
    double const span = (axis.end - axis.begin) * (from - 1);
    return axis.to > 1 ? axis.begin * (from - 1) + x * span / (to - 1) : 0.5 * (axis.begin + axis.end) * (from - 1);
  }
  node.refuse("coordinate_transformation_mode \"" + mode.coordinates + "\" is not supported");
}

static double nearest(Node &node, Mode const &mode, double x) {
  if (mode.nearest == "round_prefer_floor")
    return std::ceil(x - 0.5);
  if (mode.nearest == "round_prefer_ceil")
    return std::floor(x + 0.5);
  if (mode.nearest == "floor")
    return std::floor(x);
  if (mode.nearest == "ceil")
    return std::ceil(x);
  node.refuse("nearest_mode \"" + mode.nearest + "\" is unknown");
}

/// Keys' kernel at distance x.
static double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double weightAt(Mode const &mode, double distance) {
  if (mode.kind == "nearest")
    return 1;
  return mode.kind == "linear" ? std::max(1 - std::abs(distance), 0.0) : cubic(distance, mode.cubicCoefficient);
}

static Taps tapsOf(Node &node, Mode const &mode, Axis const &axis) {
  double const reach = mode.kind == "linear" ? 1 : 2, pace = mode.antialias ? std::min(axis.scale, 1.0) : 1;
  auto const before = static_cast<int64_t>(std::floor(-reach / pace)) + 1;
  int64_t const count = mode.kind == "nearest" ? 1 : 2 - 2 * before;
  if (count > 1 << 12)
    node.refuse("scale " + std::to_string(axis.scale) + " is too small");
  constexpr int64_t most = 1 << 22; // entries of the tables
  if (axis.to > most / count)
    node.refuse("an axis is resized to " + Twine(axis.to) + ", where at most " + Twine(most / count) + " is supported");
  Taps taps;
  taps.positions.assign(count, std::vector<int64_t>(axis.to));
  taps.weights.assign(count, std::vector<double>(axis.to));
  bool const isCropped = mode.coordinates == "tf_crop_and_resize";
  taps.constants.assign(isCropped ? axis.to : 0, 0);
  for (int64_t i = 0; i < axis.to; ++i) {
    double const x = coordinate(node, mode, axis, i);
    bool const readsOutside = isCropped && (x < 0 || x > static_cast<double>(axis.from - 1));
    if (readsOutside)
      taps.constants[i] = mode.outside;
    double const first = count == 1 ? nearest(node, mode, x) : std::floor(x) + static_cast<double>(before);
    double total = 0;
    for (int64_t t = 0; t < count; ++t) {
      double const at = first + static_cast<double>(t);
      bool const isOutside = at < 0 || at >= static_cast<double>(axis.from);
      taps.positions[t][i] = static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.from - 1)));
      taps.weights[t][i] = readsOutside || (mode.excludeOutside && isOutside) ? 0 : weightAt(mode, (at - x) * pace);
      total += taps.weights[t][i];
    }
    bool const isScaled = (mode.excludeOutside || mode.antialias) && !readsOutside;
    for (int64_t t = 0; isScaled && t < count; ++t)
      taps.weights[t][i] /= total;
  }
  return taps;
}

//===--- Operations -----------------------------------------------------------------------------------------------===//

/// Every element factors[d] times along dimension d: one broadcast over dimensions that are then merged.
static Value repeat(Build &b, Value x, IntsRef factors) {
  Sizes sizes;
  std::vector<Extent> shape = b.extentsOf(x);
  Ints read;
  for (auto [dim, size] : llvm::enumerate(b.sizesOf(x))) {
    read.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(size);
    if (factors[dim] != 1)
      sizes.push_back(b.getIndexAttr(factors[dim]));
    shape[dim] = shape[dim] * factors[dim];
  }
  if (sizes.size() == shape.size())
    return x;
  Value const copies = b.map(x, b.selectDims(static_cast<int64_t>(sizes.size()), read), sizes, Build::elementOf(x),
                             [](Scalars &, ValueRange v) { return v[0]; });
  return b.reshapeTo(copies, shape);
}

static Value resizeAxis(Node &node, Value x, int64_t axis, Taps const &taps) {
  Build &b = node.b;
  int64_t const rank = Build::rankOf(x), count = taps.positions[0].size();
  bool const isCopy = taps.positions.size() == 1 && taps.constants.empty();
  llvm::SmallVector<Value> tables;
  std::string const name = "axis" + std::to_string(axis);
  Type const element = computeType(Build::elementOf(x));
  for (size_t t = 0; t < taps.positions.size(); ++t) {
    std::string const tap = isCopy ? name : name + ".tap" + std::to_string(t);
    llvm::SmallVector<int32_t> positions(taps.positions[t].begin(), taps.positions[t].end());
    tables.push_back(node.table(tap + ".position", DenseElementsAttr::get(RankedTensorType::get(count, b.getI32Type()),
                                                                          ArrayRef<int32_t>(positions))));
    if (isCopy)
      continue;
    llvm::SmallVector<Attribute> weights;
    for (double weight : taps.weights[t])
      weights.push_back(b.getFloatAttr(element, weight));
    tables.push_back(
        node.table(tap + ".weight", DenseElementsAttr::get(RankedTensorType::get(count, element), weights)));
  }
  if (!taps.constants.empty()) {
    llvm::SmallVector<Attribute> constants;
    for (double constant : taps.constants)
      constants.push_back(b.getFloatAttr(element, constant));
    tables.push_back(
        node.table(name + ".outside", DenseElementsAttr::get(RankedTensorType::get(count, element), constants)));
  }
  Sizes sizes = b.sizesOf(x);
  sizes[axis] = b.getIndexAttr(count);
  llvm::SmallVector<AffineMap> const maps(tables.size(), b.selectDims(rank, {axis}));
  return b.map(tables, maps, sizes, Build::elementOf(x), [&](Scalars &s, ValueRange v) {
    llvm::SmallVector<Value> at;
    for (int64_t dim = 0; dim < rank; ++dim)
      at.push_back(s.create<linalg::IndexOp>(dim));
    Value sum;
    for (size_t t = 0; t < taps.positions.size(); ++t) {
      at[axis] = s.create<arith::IndexCastOp>(s.b.getIndexType(), v[isCopy ? t : 2 * t]);
      Value term = s.convert(s.create<tensor::ExtractOp>(x, at), element);
      if (!isCopy)
        term = s.mul(v[2 * t + 1], term);
      sum = sum ? s.add(sum, term) : term;
    }
    return taps.constants.empty() ? sum : s.add(sum, v.back());
  });
}

/// Whether every element is taken `factor` times.
static bool repeats(Taps const &taps, int64_t factor) {
  for (auto [i, position] : llvm::enumerate(taps.positions[0]))
    if (position != static_cast<int64_t>(i) / factor)
      return false;
  return taps.constants.empty();
}

/// Repetitions are only noted, in `factors`: those of all axes are made together.
static Value resize(Node &node, Value x, int64_t at, Mode const &mode, Axis const &axis, Ints &factors) {
  if (axis.from == axis.to && axis.scale == 1 && axis.begin == 0 && axis.end == 1)
    return x;
  if (axis.from == 0 || axis.to < 0)
    node.refuse("axis " + Twine(at) + " cannot be resized from " + Twine(axis.from) + " to " + Twine(axis.to));
  Taps const taps = tapsOf(node, mode, axis);
  int64_t const factor = axis.to / axis.from;
  if (mode.kind == "nearest" && axis.to % axis.from == 0 && repeats(taps, factor)) {
    factors[at] = factor;
    return x;
  }
  return resizeAxis(node, x, at, taps);
}

/// The same for extents that are known at run time only.
static Value resizeUnknown(Node &node, Value x, int64_t at, Mode const &mode, Extent const &to,
                           std::optional<double> scale, Ints &factors) {
  constexpr int64_t most = 64, sample = 16; // a pattern of positions that is the same for any extent
  auto const ratio = to.dividedBy(node.extents(0)[at]);
  int64_t const factor = ratio ? ratio->number().value_or(0) : 0;
  bool const mayRepeat = mode.kind == "nearest" && mode.coordinates != "align_corners" && 1 < factor && factor <= most;
  if (mayRepeat && repeats(tapsOf(node, mode, {sample, factor * sample, static_cast<double>(factor)}), factor)) {
    factors[at] = factor;
    return x;
  }
  return resizeAtRunTime(node, x, at, mode, to, scale);
}

/// What a scale makes of an extent that is known at run time only, rounded down.
static Extent scaled(Node &node, Extent const &from, double scale) {
  constexpr double most = 1 << 16;
  for (int64_t divisor = 1; divisor <= 1 << 10; divisor *= 2)
    if (double const factor = scale * static_cast<double>(divisor);
        factor == std::floor(factor) && 0 < factor && factor < most)
      return node.b.extents.quotient(from * Extent(static_cast<int64_t>(factor)), divisor);
  node.refuse("scale " + std::to_string(scale) + " of an axis without known extent; give the extent by --dim");
}

//===--- Attributes and inputs ------------------------------------------------------------------------------------===//

static std::vector<double> floats(Node &node, size_t at, StringRef what) {
  DenseElementsAttr const constant = node.constant(at);
  if (!constant)
    node.refuse(what + " (input " + Twine(at) + ", \"" + node.proto.input(at) +
                "\") depends on run-time data; make the input that decides it a constant by --operand");
  if (!isa<FloatType>(constant.getElementType()))
    node.refuse(what + " (input " + Twine(at) + ", \"" + node.proto.input(at) + "\") holds no floating-point numbers");
  std::vector<double> values;
  for (APFloat const &value : constant.getValues<APFloat>())
    values.push_back(FloatAttr::get(constant.getElementType(), value).getValueAsDouble());
  return values;
}

/// The part of each axis that tf_crop_and_resize reads: begins, then ends.
static std::vector<double> regions(Node &node, Mode const &mode, size_t count) {
  std::vector<double> parts(count, 0);
  parts.resize(2 * count, 1);
  if (mode.coordinates != "tf_crop_and_resize")
    return parts;
  parts = floats(node, 1, "roi");
  if (parts.size() != 2 * count)
    node.refuse("roi has " + Twine(parts.size()) + " values, " + Twine(2 * count) + " are needed");
  return parts;
}

static bool isGiven(Node &node, size_t at) { return node.has(at) && node.elements(at) > 0; }

static Ints resizedAxes(Node &node, size_t count) {
  Ints axes = node.intsAttr("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))));
  for (int64_t &axis : axes)
    axis = node.axis(axis, node.rank(0));
  if (count != axes.size())
    node.refuse(Twine(count) + " scales or sizes are given for " + Twine(axes.size()) + " axes");
  return axes;
}

static void run(Node &node, Mode const &mode, IntsRef axes, ArrayRef<double> scales,
                std::optional<std::vector<Extent>> const &sizes) {
  if (mode.kind != "nearest")
    node.needFloat(0);
  Value x = node.in(0);
  std::vector<double> const parts = regions(node, mode, axes.size());
  Ints factors(Build::rankOf(x), 1);
  for (auto [i, at] : llvm::enumerate(axes)) {
    Extent const extent = node.extents(0)[at];
    double const begin = parts[i], end = parts[axes.size() + i];
    if (!extent.number() || (sizes && !(*sizes)[i].number())) {
      bool const isKept = begin == 0 && end == 1 && (sizes ? (*sizes)[i] == extent : scales[i] == 1);
      auto const given = scales.empty() ? std::nullopt : std::optional(scales[i]);
      if (!isKept)
        x = resizeUnknown(node, x, at, mode, sizes ? (*sizes)[i] : scaled(node, extent, scales[i]), given, factors);
      continue;
    }
    int64_t const from = *extent.number();
    double const read = static_cast<double>(from) * (end - begin);
    double const wanted = sizes ? static_cast<double>(*(*sizes)[i].number()) : std::floor(read * scales[i]);
    double const scale = scales.empty() ? wanted / static_cast<double>(from) : scales[i];
    constexpr double most = std::numeric_limits<int32_t>::max();
    if (!(std::abs(wanted) <= most && std::abs(begin) <= most && std::abs(end) <= most && std::abs(scale) <= most))
      node.refuse("the size, scale or roi of axis " + Twine(at) + " is out of range");
    auto const to = static_cast<int64_t>(wanted);
    x = resize(node, x, at, mode, {from, to, scale, begin, end}, factors);
  }
  node.out(0, repeat(node.b, x, factors));
}

static bool keepsAspectRatio(Node &node) {
  std::string const policy = node.stringAttr("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    node.refuse("keep_aspect_ratio_policy \"" + policy + "\" is unknown");
  return policy != "stretch";
}

/// All axes by the scale of the one that fits first, or last.
static void runWithRatio(Node &node, Mode const &mode, IntsRef axes) {
  node.needStatic(0);
  Ints const sizes = node.ints(3, "sizes");
  bool const isLargest = node.stringAttr("keep_aspect_ratio_policy") == "not_smaller";
  double scale = isLargest ? 0 : HUGE_VAL;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    double const own = static_cast<double>(size) / static_cast<double>(std::max<int64_t>(node.shape(0)[axis], 1));
    scale = isLargest ? std::max(scale, own) : std::min(scale, own);
  }
  std::vector<Extent> wanted;
  for (int64_t axis : axes)
    wanted.push_back(static_cast<int64_t>(scale * static_cast<double>(node.shape(0)[axis]) + 0.5));
  run(node, mode, axes, std::vector<double>(axes.size(), scale), wanted);
}

static void importResize(Node &node) {
  bool const isOld = node.opset < 11;
  Mode const mode{node.stringAttr("mode", "nearest"),
                  node.stringAttr("coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel"),
                  node.stringAttr("nearest_mode", isOld ? "floor" : "round_prefer_floor"),
                  node.floatAttr("cubic_coeff_a", -0.75),
                  node.intAttr("exclude_outside", 0) != 0,
                  node.floatAttr("extrapolation_value", 0.0),
                  node.intAttr("antialias", 0) != 0};
  size_t const scalesAt = isOld ? 1 : 2;
  if (!isOld && isGiven(node, 3)) {
    node.needRank(3, 1, 1);
    Ints const axes = resizedAxes(node, node.shape(3)[0]);
    return keepsAspectRatio(node) ? runWithRatio(node, mode, axes)
                                  : run(node, mode, axes, {}, node.shapeInput(3, "sizes"));
  }
  if (!isGiven(node, scalesAt))
    node.refuse("neither scales nor sizes are given");
  auto const scales = floats(node, scalesAt, "scales");
  run(node, mode, resizedAxes(node, scales.size()), scales, std::nullopt);
}

static void importUpsample(Node &node) {
  Mode const mode{node.stringAttr("mode", "nearest"), "asymmetric", "floor", -0.75, false, 0};
  std::vector<double> scales;
  if (node.opset >= 9)
    scales = floats(node, 1, "scales");
  else if (auto const *given = node.attribute("scales"))
    scales.assign(given->floats().begin(), given->floats().end());
  run(node, mode, resizedAxes(node, scales.size()), scales, std::nullopt);
}

void registerResize(Registry &table) {
  table.add("Resize", {10, 11, 13, 18, 19}, importResize);
  table.add("Upsample", {7, 9}, importUpsample);
  table.addUnsupported("Upsample", {1});
}

} // namespace ml2k::frontend
