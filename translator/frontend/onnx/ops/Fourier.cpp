//===- Fourier.cpp - DFT, STFT and mel weights --------------------------------------------------------------------===//
//
// A transform is a product with a table of cosines and sines [bin, sample, real or imaginary out, in], made here.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

#include <array>
#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {
struct Transform {
  int64_t length;  // of the transform
  int64_t samples; // that there are; what is missing counts as zero
  int64_t parts;   // of a sample: 1 real, 2 complex
  bool isInverse, isOneSided;

  /// The inverse of the one-sided transform of real samples: half of the bins come in, the others are their mirror.
  bool toReal() const { return isInverse && isOneSided; }
  int64_t bins() const { return isOneSided && !isInverse ? length / 2 + 1 : length; }
  int64_t partsOut() const { return toReal() ? 1 : 2; }
  double weight(int64_t at) const {
    if (toReal())
      return at > length / 2 ? 0 : (at == 0 || 2 * at == length ? 1.0 : 2.0) / static_cast<double>(length);
    return at >= length ? 0 : isInverse ? 1.0 / static_cast<double>(length) : 1;
  }
};
} // namespace

static Value tableOf(Node &node, Transform const &transform) {
  Type const element = node.element(0);
  auto const type =
      tensorType({transform.bins(), transform.samples, transform.partsOut(), transform.parts}, element); // or refuses
  double const sign = transform.isInverse ? 1 : -1;
  llvm::SmallVector<Attribute> values;
  for (int64_t bin = 0; bin < transform.bins(); ++bin)
    for (int64_t at = 0; at < transform.samples; ++at) {
      double const turn = static_cast<double>(bin * at % transform.length) / static_cast<double>(transform.length);
      double const angle = 2 * M_PI * turn, weight = transform.weight(at);
      double const real = weight * std::cos(angle), imaginary = weight * sign * std::sin(angle);
      std::array<double, 4> const all{real, -imaginary, imaginary, real}; // rows: real out, imaginary out
      for (double value : ArrayRef(all).take_front(2 * transform.partsOut()))
        values.push_back(node.b.getFloatAttr(element, value));
    }
  if (transform.parts == 1) { // no imaginary part comes in
    llvm::SmallVector<Attribute> reals;
    for (size_t i = 0; i < values.size(); i += 2)
      reals.push_back(values[i]);
    values = reals;
  }
  return node.table("table", DenseElementsAttr::get(type, values));
}

static Transform transformOf(Node &node, int64_t length, int64_t samples, int64_t parts) {
  Transform const transform{length, samples, parts, node.intAttr("inverse", 0) != 0, node.intAttr("onesided", 0) != 0};
  if (parts != 1 && parts != 2)
    node.refuse("the last dimension is " + Twine(parts) + ", 1 (real) or 2 (complex) is needed");
  if (length < 1)
    node.refuse("a transform of length " + Twine(length));
  if (transform.isOneSided && transform.isInverse != (parts == 2))
    node.refuse("onesided is for transforms of real input, or back to it");
  return transform;
}

static void importDFT(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needRank(0, 2, 8);
  int64_t const rank = node.rank(0);
  bool const isOld = node.opset < 20;
  int64_t const given = isOld ? node.intAttr("axis", 1) : node.has(2) ? node.ints(2, "axis")[0] : -2;
  int64_t const axis = node.axis(given, rank), samples = node.shape(0)[axis];
  if (axis == rank - 1)
    node.refuse("the last dimension holds real and imaginary parts; it cannot be transformed");
  if (ShapedType::isDynamic(samples) || ShapedType::isDynamic(node.shape(0).back()))
    node.needStatic(0); // their number is in the table
  bool const toReal = node.intAttr("inverse", 0) && node.intAttr("onesided", 0);
  int64_t const length = node.has(1) ? node.ints(1, "dft_length")[0] : toReal ? 2 * (samples - 1) : samples;
  Transform const transform = transformOf(node, length, samples, node.shape(0).back());
  // Loops: those of the result, then sample and part
  int64_t const sample = rank, part = rank + 1;
  Ints read = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  read[axis] = sample;
  read.back() = part;
  Sizes sizes = b.sizesOf(node.in(0));
  sizes[axis] = b.getIndexAttr(transform.bins());
  sizes.back() = b.getIndexAttr(transform.partsOut());
  node.out(0, b.contract({node.in(0), tableOf(node, transform)},
                         {b.selectDims(rank + 2, read), b.selectDims(rank + 2, {axis, sample, rank - 1, part})}, sizes,
                         rank));
}

/// signal [batch, time, part], frames of frame_length every frame_step: [batch, frame, bin, part]
static void importSTFT(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needStatic(0);
  node.needRank(0, 2, 3);
  if (!node.has(2) && !node.has(3))
    node.refuse("neither window nor frame_length is given");
  int64_t const step = node.ints(1, "frame_step")[0], time = node.shape(0)[1];
  int64_t const length = node.has(3) ? node.ints(3, "frame_length")[0] : node.shape(2)[0];
  int64_t const parts = node.rank(0) == 3 ? node.shape(0)[2] : 1;
  if (step < 1 || length < 1 || length > time)
    node.refuse("frames of " + Twine(length) + " every " + Twine(step) + " do not fit " + Twine(time) + " samples");
  bool const isOneSided = node.intAttr("onesided", 1) != 0;
  Transform const transform{length, length, parts, false, isOneSided};
  if ((parts != 1 && parts != 2) || (isOneSided && parts == 2))
    node.refuse("onesided is for real signals");
  Value const signal = b.reshape(node.in(0), {node.shape(0)[0], time, parts});
  auto dim = [&](unsigned at) { return b.getAffineDimExpr(at); };
  AffineMap const read = AffineMap::get(6, 0, {dim(0), dim(1) * step + dim(4), dim(5)}, b.getContext());
  llvm::SmallVector<Value> inputs{signal, tableOf(node, transform)};
  llvm::SmallVector<AffineMap> maps{read, b.selectDims(6, {2, 4, 3, 5})};
  if (node.has(2)) {
    if (node.rank(2) != 1 || node.shape(2)[0] != length)
      node.refuse("window " + shapeText(node.shape(2)) + " is not of the length of a frame, " + Twine(length));
    inputs.push_back(node.in(2));
    maps.push_back(b.selectDims(6, {4}));
  }
  Ints const shape{node.shape(0)[0], (time - length) / step + 1, transform.bins(), 2};
  node.out(0, b.contract(inputs, maps, b.sizes(shape), 4));
}

//===--- Mel weights ----------------------------------------------------------------------------------------------===//

/// Triangles over the bins of a spectrum, their corners evenly spaced on the mel scale.
static void importMelWeightMatrix(Node &node) {
  auto const bands = static_cast<int64_t>(node.scalar(0, "num_mel_bins"));
  auto const length = static_cast<int64_t>(node.scalar(1, "dft_length"));
  auto const rate = static_cast<int64_t>(node.scalar(2, "sample_rate"));
  auto const dataType = static_cast<int32_t>(node.intAttr("output_datatype", pb::TensorProto::FLOAT));
  Type const element = elementType(*node.b.getContext(), dataType);
  if (!element || !isa<FloatType>(element))
    node.refuse("output_datatype " + dataTypeName(dataType) + " is not supported");
  if (bands < 1 || length < 1 || rate < 1)
    node.refuse("num_mel_bins, dft_length and sample_rate have to be positive");
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double const low = toMel(node.scalar(3, "lower_edge_hertz")), high = toMel(node.scalar(4, "upper_edge_hertz"));
  int64_t const bins = length / 2 + 1;
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double const mel = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
    double const hertz = 700 * (std::pow(10, mel / 2595) - 1);
    corners.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (corners.back() < 0 || corners.back() >= bins)
      node.refuse("the edges lie outside the spectrum");
  }
  tensorType({bins, bands}, element);
  std::vector<double> weights(bins * bands);
  for (int64_t band = 0; band < bands; ++band) {
    int64_t const lower = corners[band], centre = corners[band + 1], upper = corners[band + 2];
    auto weight = [&](int64_t bin) -> double & { return weights[bin * bands + band]; };
    for (int64_t bin = lower; bin < centre; ++bin)
      weight(bin) = static_cast<double>(bin - lower) / static_cast<double>(centre - lower);
    weight(centre) = 1;
    for (int64_t bin = centre; bin < upper; ++bin)
      weight(bin) = static_cast<double>(upper - bin) / static_cast<double>(upper - centre);
  }
  llvm::SmallVector<Attribute> values;
  for (double weight : weights)
    values.push_back(node.b.getFloatAttr(element, weight));
  node.outConstant(0, DenseElementsAttr::get(RankedTensorType::get({bins, bands}, element), values), dataType);
}

void registerFourier(Registry &table) {
  table.add("DFT", {17, 20}, importDFT);
  table.add("STFT", {17}, importSTFT);
  table.add("MelWeightMatrix", {17}, importMelWeightMatrix);
}

} // namespace ml2k::frontend
