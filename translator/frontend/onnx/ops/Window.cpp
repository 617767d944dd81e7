//===- Window.cpp - kernel, strides, dilations and pads of convolutions and pools ---------------------------------===//

#include "translator/frontend/onnx/ops/Window.h"
#include "translator/frontend/onnx/ops/Padding.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

static Ints spatialAttr(Node &node, StringRef name, size_t count, int64_t otherwise, int64_t least) {
  Ints const values = node.intsAttr(name).value_or(Ints(count, otherwise));
  if (values.size() != count)
    node.refuse("attribute " + name + " has " + Twine(values.size()) + " values, " + Twine(count) + " are needed");
  for (int64_t value : values)
    if (value < least)
      node.refuse("attribute " + name + " holds " + Twine(value));
  return values;
}

static void checkKernel(Node &node, IntsRef kernel) {
  if (auto const given = node.intsAttr("kernel_shape"); given && IntsRef(*given) != kernel)
    node.refuse("kernel_shape " + shapeText(*given) + " is not that of the weight, " + shapeText(kernel));
  for (int64_t extent : kernel)
    if (extent < 1)
      node.refuse("kernel " + shapeText(kernel) + " has no taps");
}

/// The same where the extent is known at run time only: with n outputs, (n - 1) * stride + reach - extent elements are
/// missing, which is at least reach - stride.
static void padSameAtRunTime(Node &node, Window &window, size_t i, bool isUpper) {
  int64_t const stride = window.strides[i], reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
  window.low[i] = window.high[i] = 0;
  if (reach == 1)
    return;
  if (reach < stride)
    node.refuse("auto_pad with strides beyond the kernel needs known extents; give them by --dim");
  // m = (extent + stride - 1) mod stride is left of reach - 1: half of that rounded down is r - ceil((r + m) / 2)
  Extents &extents = node.b.extents;
  Extent const extent = node.extents(0)[2 + i], more = extent + (stride - 1);
  Extent const outputs = extents.quotient(more, stride);
  int64_t const r = isUpper ? reach - 1 : reach;
  Extent const half = Extent(r) - extents.quotient(more - outputs * stride + (r + 1), 2);
  Extent const total = outputs * stride + (reach - stride) - extent;
  window.open.resize(window.kernel.size());
  window.open[i] = {half, total - half};
}

/// SAME pads: as many outputs as inputs per stride, the odd element at the end or at the beginning.
static void padSame(Node &node, Window &window, size_t i, bool isUpper) {
  int64_t const extent = node.shape(0)[2 + i], reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
  bool const isUnknown = ShapedType::isDynamic(extent);
  if (isUnknown && window.strides[i] != 1)
    return padSameAtRunTime(node, window, i, isUpper);
  int64_t const outputs = (extent + window.strides[i] - 1) / window.strides[i];
  int64_t const total =
      isUnknown ? reach - 1 : std::max<int64_t>((outputs - 1) * window.strides[i] + reach - extent, 0);
  window.low[i] = isUpper ? total / 2 : total - total / 2;
  window.high[i] = total - window.low[i];
}

/// Rounds the number of outputs up, except for a window that would start in the padding at the end.
static void padCeil(Node &node, Window &window, size_t i) {
  int64_t const extent = node.shape(0)[2 + i], reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
  if (ShapedType::isDynamic(extent)) { // as many as may be needed: a window that would start behind them does not fit
    window.overhang[i] = std::min(window.strides[i], reach - window.high[i]) - 1;
    if (window.overhang[i] < 0)
      node.refuse("pads larger than the kernel need known extents with ceil_mode; give them by --dim");
    window.high[i] += window.overhang[i];
    return;
  }
  int64_t const room = extent + window.low[i] + window.high[i] - reach;
  int64_t last = (room + window.strides[i] - 1) / window.strides[i]; // the last output's position
  if (last * window.strides[i] >= extent + window.low[i])
    --last;
  window.overhang[i] = std::max<int64_t>(last * window.strides[i] - room, 0);
  window.high[i] += window.overhang[i];
}

Window Window::of(Node &node, IntsRef kernel) {
  checkKernel(node, kernel);
  size_t const count = kernel.size();
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides = spatialAttr(node, "strides", count, 1, 1);
  window.dilations = spatialAttr(node, "dilations", count, 1, 1);
  window.overhang.assign(count, 0);
  Ints const pads = spatialAttr(node, "pads", 2 * count, 0, 0);
  window.low.assign(pads.begin(), pads.begin() + count);
  window.high.assign(pads.begin() + count, pads.end());
  std::string const mode = node.stringAttr("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    node.refuse("auto_pad \"" + mode + "\" is unknown");
  for (size_t i = 0; i < count; ++i) {
    if (mode == "VALID")
      window.low[i] = window.high[i] = 0;
    else if (mode != "NOTSET")
      padSame(node, window, i, mode == "SAME_UPPER");
    if (node.intAttr("ceil_mode", 0))
      padCeil(node, window, i);
    int64_t const extent = node.shape(0)[2 + i], reach = (kernel[i] - 1) * window.dilations[i] + 1;
    if (!ShapedType::isDynamic(extent) && extent + window.low[i] + window.high[i] < reach)
      node.refuse("kernel " + shapeText(kernel) + " does not fit into input " + shapeText(node.shape(0)));
  }
  return window;
}

void Window::addRow() {
  for (Ints *values : {&kernel, &strides, &dilations})
    values->insert(values->begin(), 1);
  for (Ints *values : {&low, &high, &overhang})
    values->insert(values->begin(), 0);
  if (!open.empty())
    open.emplace(open.begin(), Extent(0), Extent(0));
}

static Ints withBatchAndChannels(IntsRef spatial) {
  Ints values{0, 0};
  values.append(spatial.begin(), spatial.end());
  return values;
}

Value Window::pad(Build &b, Value x, Value scalar) const {
  if (!open.empty()) {
    std::vector<Extent> before(2), after(2);
    for (auto const &[first, last] : open) {
      before.push_back(first);
      after.push_back(last);
    }
    x = padAtRunTime(b, x, before, after, "constant", b.fill({}, scalar));
  }
  return b.pad(x, withBatchAndChannels(low), withBatchAndChannels(high), scalar);
}

Sizes Window::outputSizes(Build &b, Value x) const {
  Sizes sizes;
  for (size_t i = 0; i < kernel.size(); ++i) {
    Extent const room = b.extents.of(x, 2 + i) - ((kernel[i] - 1) * dilations[i] + 1);
    b.extents.requireAtLeast(room, 0);
    sizes.push_back(b.extents.size(b.extents.quotient(room, strides[i]) + 1));
  }
  return sizes;
}

//===--- Transposed -----------------------------------------------------------------------------------------------===//

TransposedWindow TransposedWindow::of(Node &node, IntsRef kernel) {
  checkKernel(node, kernel);
  size_t const count = kernel.size();
  TransposedWindow window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides = spatialAttr(node, "strides", count, 1, 1);
  window.dilations = spatialAttr(node, "dilations", count, 1, 1);
  Ints const pads = spatialAttr(node, "pads", 2 * count, 0, 0),
             extra = spatialAttr(node, "output_padding", count, 0, 0);
  auto const outputs = node.intsAttr("output_shape"); // of the image, or with batch and channels
  if (outputs && outputs->size() != count && outputs->size() != count + 2)
    node.refuse("attribute output_shape has " + Twine(outputs->size()) + " values, " + Twine(count) + " are needed");
  std::string const mode = node.stringAttr("auto_pad", "NOTSET");
  for (size_t i = 0; i < count; ++i) {
    int64_t const reach = (kernel[i] - 1) * window.dilations[i] + 1, stride = window.strides[i];
    int64_t low = pads[i], high = pads[count + i];
    bool const isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if ((outputs || isSame) && ShapedType::isDynamic(node.shape(0)[2 + i]))
      node.refuse((outputs ? "output_shape" : "auto_pad") + Twine(" needs known extents; give them by --dim"));
    if (outputs || isSame) {
      int64_t const full = (node.shape(0)[2 + i] - 1) * stride + reach + extra[i];
      int64_t const wanted = outputs ? (*outputs)[outputs->size() - count + i] : node.shape(0)[2 + i] * stride;
      int64_t const total = full - wanted, cut = std::max<int64_t>(total, 0); // what is missing is added at the end
      low = mode == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
      high = total - low;
    }
    window.low.push_back(low);
    window.high.push_back(high - extra[i]);
  }
  return window;
}

void TransposedWindow::addRow() {
  for (Ints *values : {&kernel, &strides, &dilations})
    values->insert(values->begin(), 1);
  for (Ints *values : {&low, &high})
    values->insert(values->begin(), 0);
}

bool TransposedWindow::isBlocks() const {
  auto all = [](IntsRef values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  return kernel == strides && all(dilations, 1) && all(low, 0) && all(high, 0);
}

} // namespace ml2k::frontend
