//===- Normalization.cpp - softmax, batch, layer, instance and local response normalization -----------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Rows.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>

using namespace mlir;

namespace ml2k::frontend {

using Fold = Build::Fold;

//===--- Softmax --------------------------------------------------------------------------------------------------===//

/// Before opset 13 everything from the axis on is normalized together.
static Ints softmaxAxes(Node &node) {
  node.needFloat(0);
  node.needRank(0, 1, 16);
  int64_t const rank = node.rank(0);
  int64_t const axis = node.axisAttr("axis", node.opset < 13 && rank > 1 ? 1 : -1, rank);
  if (node.opset < 13)
    return llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(0)));
  return {axis};
}

/// x less its largest element, and the sum of the exponentials of that.
static std::pair<Value, Value> shiftedAndSum(Build &b, Value x, IntsRef axes, bool ofExponentials) {
  auto const largest = [&] {
    Part const part(b, "max");
    return b.reduce(x, axes, /*keepDims=*/true, Fold::max);
  }();
  std::optional<Part> part(std::in_place, b, ofExponentials ? "exp" : "sum");
  Value const shifted = b.elementwise({x, largest}, [&](Scalars &s, ValueRange v) {
    Value const difference = s.sub(v[0], v[1]);
    return ofExponentials ? s.exp(difference) : difference;
  });
  part.reset();
  part.emplace(b, "sum");
  Value const sum = b.reduce(shifted, axes, /*keepDims=*/true, Fold::sum, false,
                             [&](Scalars &s, ValueRange v) { return ofExponentials ? v[0] : s.exp(v[0]); });
  return {shifted, sum};
}

Value softmax(Build &b, Value x, IntsRef axes) {
  auto const [exponentials, sum] = shiftedAndSum(b, x, axes, /*ofExponentials=*/true);
  return b.elementwise({exponentials, sum}, [](Scalars &s, ValueRange v) { return s.div(v[0], v[1]); });
}

static void importSoftmax(Node &node) {
  Ints const axes = softmaxAxes(node);
  node.out(0, softmax(node.b, node.in(0), axes));
}

static void importLogSoftmax(Node &node) {
  Ints const axes = softmaxAxes(node);
  auto const [shifted, sum] = shiftedAndSum(node.b, node.in(0), axes, /*ofExponentials=*/false);
  node.out(0, node.b.elementwise({shifted, sum}, [](Scalars &s, ValueRange v) { return s.sub(v[0], s.log(v[1])); }));
}

//===--- By mean and variance -------------------------------------------------------------------------------------===//

namespace {
struct Moments {
  Value mean, centred, variance; // mean and variance keep their dimensions
};
} // namespace

static Moments moments(Build &b, Value x, IntsRef axes) {
  Moments m;
  std::optional<Part> part(std::in_place, b, "average");
  m.mean = b.unsqueeze(b.mean(x, axes), axes);
  part.reset();
  part.emplace(b, "variance");
  m.centred = b.elementwise({x, m.mean}, [](Scalars &s, ValueRange v) { return s.sub(v[0], v[1]); });
  Value const squares = b.elementwise(m.centred, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[0]); });
  m.variance = b.unsqueeze(b.mean(squares, axes), axes);
  return m;
}

/// 1 / sqrt(variance + epsilon)
static Value inverseDeviation(Build &b, Value variance, double epsilon) {
  return b.elementwise(variance, [&](Scalars &s, ValueRange v) {
    return s.div(s.constantLike(v[0], 1), s.sqrt(s.add(v[0], s.constantLike(v[0], epsilon))));
  });
}

static void importLayerNormalization(Node &node) {
  node.needFloat(0);
  Build &b = node.b;
  int64_t const axis = node.axisAttr("axis", -1, node.rank(0));
  Ints const axes = llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(0)));
  Moments const m = moments(b, node.in(0), axes);
  Value const inverse = inverseDeviation(b, m.variance, node.floatAttr("epsilon", 1e-5));
  llvm::SmallVector<Value> inputs{m.centred, inverse, node.in(1)};
  if (node.has(2))
    inputs.push_back(node.in(2));
  node.out(0, b.elementwise(inputs, [](Scalars &s, ValueRange v) {
    Value const scaled = s.mul(s.mul(v[0], v[1]), v[2]);
    return v.size() == 4 ? s.add(scaled, v[3]) : scaled;
  }));
  node.out(1, m.mean);
  node.out(2, inverse);
}

static void importRMSNormalization(Node &node) {
  node.needFloat(0);
  Build &b = node.b;
  int64_t const axis = node.axisAttr("axis", -1, node.rank(0));
  Ints const axes = llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(0)));
  Value const x = node.in(0);
  Value const squares = b.elementwise(x, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[0]); });
  Value const inverse = inverseDeviation(b, b.unsqueeze(b.mean(squares, axes), axes), node.floatAttr("epsilon", 1e-5));
  node.out(0, b.elementwise({x, inverse, node.in(1)},
                            [](Scalars &s, ValueRange v) { return s.mul(s.mul(v[0], v[1]), v[2]); }));
}

/// By the mean and variance of this batch, which also move the running ones: exporters standardize weights by it.
static void importTrainedBatches(Node &node) {
  Build &b = node.b;
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(1, node.rank(0)));
  axes[0] = 0;
  Moments const m = moments(b, node.in(0), axes);
  Value const inverse = inverseDeviation(b, m.variance, node.floatAttr("epsilon", 1e-5));
  Value const normal = b.elementwise({m.centred, inverse}, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[1]); });
  node.out(0, b.alongAxis(normal, {node.in(1), node.in(2)}, 1,
                          [](Scalars &s, ValueRange v) { return s.add(s.mul(v[0], v[1]), v[2]); }));
  double const momentum = node.floatAttr("momentum", 0.9);
  for (auto [place, now] : llvm::enumerate(std::array{m.mean, m.variance})) {
    Value const old = node.in(3 + place);
    Value const current = b.reshapeTo(now, {node.extents(0)[1]});
    node.out(1 + place, b.elementwise({old, current}, [&](Scalars &s, ValueRange v) {
      return s.add(s.mul(v[0], s.constantLike(v[0], momentum)), s.mul(v[1], s.constantLike(v[1], 1 - momentum)));
    }));
  }
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias per channel.
static void importBatchNormalization(Node &node) {
  node.needFloat(0);
  node.needRank(0, 2, 8);
  bool const isTraining = node.opset >= 14 ? node.intAttr("training_mode", 0) != 0
                          : node.opset < 7 ? node.intAttr("is_test", 0) == 0
                                           : node.wants(1);
  if (isTraining && node.opset < 14)
    node.refuse("training mode is supported from opset 14 on");
  if (isTraining)
    return importTrainedBatches(node);
  if (node.opset < 9 && !node.intAttr("spatial", 1))
    node.refuse("spatial = 0 is not supported");
  double const epsilon = node.floatAttr("epsilon", 1e-5);
  node.out(0, node.b.alongAxis(node.in(0), {node.in(1), node.in(2), node.in(3), node.in(4)}, 1,
                               [&](Scalars &s, ValueRange v) {
                                 Value const deviation = s.sqrt(s.add(v[4], s.constantLike(v[4], epsilon)));
                                 Value const normal = s.div(s.sub(v[0], v[3]), deviation);
                                 return s.add(s.mul(normal, v[1]), v[2]);
                               }));
}

/// Scale and bias are per channel: [C] beside [N, C, ...].
static void importInstanceNormalization(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 8);
  Build &b = node.b;
  Ints const axes = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  Moments const m = moments(b, node.in(0), axes);
  Value const inverse = inverseDeviation(b, m.variance, node.floatAttr("epsilon", 1e-5));
  Value const normal = b.elementwise({m.centred, inverse}, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[1]); });
  node.out(0, b.alongAxis(normal, {node.in(1), node.in(2)}, 1,
                          [](Scalars &s, ValueRange v) { return s.add(s.mul(v[0], v[1]), v[2]); }));
}

/// Opset 18 scales per group, 21 per channel.
static void importGroupNormalization(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 8);
  Build &b = node.b;
  int64_t const groups = node.intAttr("num_groups"), channels = node.shape(0)[1];
  if (groups < 1 || ShapedType::isDynamic(channels) || channels % groups)
    node.refuse(llvm::Twine(channels) + " channels do not make " + llvm::Twine(groups) + " groups");
  std::vector<Extent> const shape = node.extents(0);
  Extent rest = channels / groups;
  for (Extent const &extent : ArrayRef(shape).drop_front(2))
    rest = rest * extent;
  Value const x = b.reshapeTo(node.in(0), {shape[0], groups, rest});
  Moments const m = moments(b, x, {2});
  Value const inverse = inverseDeviation(b, m.variance, node.floatAttr("epsilon", 1e-5));
  Value normal = b.elementwise({m.centred, inverse}, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[1]); });
  bool const perGroup = node.opset < 21;
  if (!perGroup)
    normal = b.reshapeTo(normal, shape);
  Value const result = b.alongAxis(normal, {node.in(1), node.in(2)}, 1,
                                   [](Scalars &s, ValueRange v) { return s.add(s.mul(v[0], v[1]), v[2]); });
  node.out(0, b.reshapeTo(result, shape));
}

static void importMeanVarianceNormalization(Node &node) {
  node.needFloat(0);
  Build &b = node.b;
  Ints const axes = node.axes(node.intsAttr("axes").value_or(Ints{0, 2, 3}), node.rank(0));
  Moments const m = moments(b, node.in(0), axes);
  node.out(0, b.elementwise({m.centred, m.variance}, [](Scalars &s, ValueRange v) {
    return s.div(v[0], s.add(s.sqrt(v[1]), s.constantLike(v[1], 1e-9)));
  }));
}

static void importLpNormalization(Node &node) {
  node.needFloat(0);
  Build &b = node.b;
  int64_t const axis = node.axisAttr("axis", -1, node.rank(0)), p = node.intAttr("p", 2);
  Value const x = node.in(0);
  Value const sum = b.reduce(x, {axis}, /*keepDims=*/true, Fold::sum, false,
                             [&](Scalars &s, ValueRange v) { return p == 1 ? s.abs(v[0]) : s.mul(v[0], v[0]); });
  node.out(0, b.elementwise({x, sum}, [&](Scalars &s, ValueRange v) { // nothing but zeros stays that
    Value const zero = s.constantLike(v[0], 0), norm = p == 1 ? v[1] : s.sqrt(v[1]);
    return s.select(s.compare(Compare::eq, v[1], zero), zero, s.div(v[0], norm));
  }));
}

//===--- Local response -------------------------------------------------------------------------------------------===//

/// x / (bias + alpha / size * sum of squares of the `size` neighbouring channels) ^ beta
static void importLRN(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 8);
  Build &b = node.b;
  int64_t const size = node.intAttr("size"), rank = node.rank(0);
  double const alpha = node.floatAttr("alpha", 1e-4), beta = node.floatAttr("beta", 0.75);
  double const bias = node.floatAttr("bias", 1.0);
  if (size < 1)
    node.refuse("size " + llvm::Twine(size) + " is not positive");
  Value const x = node.in(0);
  Value squares = b.elementwise(x, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[0]); });
  Ints low(rank, 0), high(rank, 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  squares = b.pad(squares, low, high, b.scalar(node.element(0), 0));
  Value const sum = b.foldAlong(squares, 1, size, b.sizesOf(x));
  node.out(0, b.elementwise({x, sum}, [&](Scalars &s, ValueRange v) {
    Value const scale =
        s.add(s.mul(v[1], s.constantLike(v[1], alpha / static_cast<double>(size))), s.constantLike(v[1], bias));
    return s.div(v[0], s.create<math::PowFOp>(scale, s.constantLike(scale, beta)));
  }));
}

void registerNormalization(Registry &table) {
  table.add("Softmax", {1, 11, 13}, importSoftmax);
  table.add("LogSoftmax", {1, 11, 13}, importLogSoftmax);
  table.add("LayerNormalization", {17}, importLayerNormalization);
  table.add("RMSNormalization", {23}, importRMSNormalization);
  table.add("BatchNormalization", {1, 6, 7, 9, 14, 15}, importBatchNormalization);
  table.add("InstanceNormalization", {6, 22}, importInstanceNormalization);
  table.addUnsupported("InstanceNormalization", {1});
  table.add("GroupNormalization", {18, 21}, importGroupNormalization);
  table.add("MeanVarianceNormalization", {9, 13}, importMeanVarianceNormalization);
  table.add("LpNormalization", {1, 22}, importLpNormalization);
  table.add("LRN", {1, 13}, importLRN);
}

} // namespace ml2k::frontend
