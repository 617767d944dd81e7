//===- Volume.cpp - convolutions over depth, height and width with computed weights -------------------------------===//
//
// Those with constant weights stay what they are, for ml2k-raise-convolutions. Here, a volume is a batch of its planes.
// The planes that a filter reaches in depth stand next to each other as channels of one image, so that the sum over
// depth, rows, columns and channels is that of a convolution of images with Kd * C channels, for Kd copies of the
// input.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/ops/Window.h"

using namespace mlir;

namespace ml2k::frontend {

bool isConvolvedByPlanes(Value x, int64_t groups) {
  return Build::rankOf(x) == 5 && groups == 1 && !ShapedType::isDynamic(Build::shapeOf(x)[2]);
}

/// The window without its depth.
static Window planesOf(Window const &window) {
  auto const rest = [](Ints const &values) { return Ints(values.begin() + 1, values.end()); };
  Window planes;
  planes.kernel = rest(window.kernel);
  planes.strides = rest(window.strides);
  planes.dilations = rest(window.dilations);
  planes.low = rest(window.low);
  planes.high = rest(window.high);
  return planes;
}

/// x[n, c, d * stride + tap * dilation, h, w] in the order n, d, h, w, tap, c
static Value planesByTap(Build &b, Value x, int64_t depth, Window const &window) {
  AffineExpr n, d, h, w, tap, c;
  bindDims(b.getContext(), n, d, h, w, tap, c);
  AffineExpr const plane = d * window.strides[0] + tap * window.dilations[0];
  Sizes const sizes{
      b.sizeOf(x, 0), b.getIndexAttr(depth), b.sizeOf(x, 3), b.sizeOf(x, 4), b.getIndexAttr(window.kernel[0]),
      b.sizeOf(x, 1)};
  return b.map({x}, {AffineMap::get(6, 0, {n, c, plane, h, w}, b.getContext())}, sizes, Build::elementOf(x),
               [](Scalars &, ValueRange v) { return v[0]; });
}

/// The images n * d of h x w, whose channels are those of every plane within reach.
static Value imagesOf(Build &b, Value x, int64_t depth, Window const &window) {
  bool const isPlane = window.kernel[0] == 1 && window.strides[0] == 1;
  Value const reached = isPlane ? b.transpose(x, {0, 2, 3, 4, 1}) : planesByTap(b, x, depth, window);
  std::vector<Extent> const in = b.extentsOf(x);
  return b.transpose(b.reshapeTo(reached, {in[0] * depth, in[3], in[4], in[1] * window.kernel[0]}), {0, 3, 1, 2});
}

Value convolveByPlanes(Build &b, Value x, Value w, Window const &window) {
  Value const zero = b.scalar(Build::elementOf(x), 0);
  x = b.pad(x, {0, 0, window.low[0], 0, 0}, {0, 0, window.high[0], 0, 0}, zero);
  IntsRef const kernel = Build::shapeOf(w);
  int64_t const outputs = kernel[0], channels = kernel[1], taps = kernel[2];
  int64_t const depth = (Build::shapeOf(x)[2] - window.dilations[0] * (taps - 1) - 1) / window.strides[0] + 1;
  Extent const batch = b.extentsOf(x)[0];
  Window const planes = planesOf(window);
  Value const images = planes.pad(b, imagesOf(b, x, depth, window), zero);
  Value const filters = b.reshape(b.transpose(w, {0, 2, 1, 3, 4}), {outputs, taps * channels, kernel[3], kernel[4]});
  Value const y = convolve(b, images, filters, planes, 1);
  std::vector<Extent> const out = b.extentsOf(y);
  return b.transpose(b.reshapeTo(y, {batch, depth, outputs, out[2], out[3]}), {0, 2, 1, 3, 4});
}

} // namespace ml2k::frontend
