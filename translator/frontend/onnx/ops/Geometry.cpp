//===- Geometry.cpp - places in images that are computed: AffineGrid, DeformConv ----------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// The position of a loop as a number of a float type.
static Value loopNumber(Scalars &s, int64_t dim, Type type) {
  Value const integer = s.create<arith::IndexCastOp>(s.b.getI64Type(), s.create<linalg::IndexOp>(dim));
  return s.create<arith::SIToFPOp>(type, integer);
}

//===--- AffineGrid -----------------------------------------------------------------------------------------------===//

/// grid[n, (d,) h, w, c] = theta[n, c, :] * (x, y, (z,) 1), where x, y and z run from -1 to 1.
static void importAffineGrid(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needRank(0, 3, 3);
  bool const isAligned = node.intAttr("align_corners", 0);
  std::vector<Extent> const size = node.shapeInput(1, "size");
  int64_t const axes = int64_t(size.size()) - 2; // of the image
  if (axes < 2 || axes > 3 || node.shape(0)[1] != axes || node.shape(0)[2] != axes + 1)
    node.refuse("matrices of shape " + shapeText(node.shape(0)) + " do not fit an image of " + Twine(axes) + " axes");
  b.extents.requireEqual(node.extents(0)[0], size[0]);
  std::vector<Extent> shape{size[0]};
  for (int64_t axis = 0; axis < axes; ++axis) {
    auto const extent = size[2 + axis].number();
    if (!extent || *extent < 1)
      node.refuse("the extents of the image have to be known at translation");
    shape.push_back(*extent);
  }
  shape.push_back(axes);
  int64_t const loops = axes + 2;
  llvm::SmallVector<Value> columns;
  for (int64_t k = 0; k <= axes; ++k)
    columns.push_back(b.squeeze(b.slice(node.in(0), 2, k, 1), {2}));
  llvm::SmallVector<AffineMap> const maps(columns.size(), b.selectDims(loops, {0, loops - 1}));
  node.out(0, b.map(columns, maps, b.sizesFor(shape), node.element(0), [&](Scalars &s, ValueRange v) {
    Value sum = v.back();
    for (int64_t k = 0; k < axes; ++k) {
      int64_t const dim = axes - k, extent = *shape[dim].number(); // x is the last axis
      // Centres of pixels, or their outer edges, lie at the borders
      double const step = !isAligned ? 2.0 / double(extent) : extent > 1 ? 2.0 / double(extent - 1) : 0;
      Value const number = loopNumber(s, dim, sum.getType());
      Value const place =
          s.add(s.mul(number, s.constantLike(sum, step)), s.constantLike(sum, isAligned ? -1 : -1 + step / 2));
      sum = s.add(sum, s.mul(v[k], place));
    }
    return sum;
  }));
}

//===--- DeformConv -----------------------------------------------------------------------------------------------===//

namespace {
struct Deformed {
  Ints kernel, strides, dilations, pads;
  int64_t groups, offsetGroups;
};
} // namespace

/// Of an image [.., h, w] at a place; what lies outside is zero.
static Value bilinear(Scalars &s, Value image, ValueRange outer, Value y, Value x, IntsRef extents) {
  Value sum;
  Value const fromY = s.create<math::FloorOp>(y), fromX = s.create<math::FloorOp>(x);
  Value const one = s.constantLike(y, 1);
  auto const along = [&](Value place, Value from, int64_t tap, int64_t extent) {
    Value const pixel = tap ? s.add(from, one) : from,
                share = tap ? s.sub(place, from) : s.sub(one, s.sub(place, from));
    Value const bounded = s.min(s.max(pixel, s.constantLike(pixel, 0)), s.constantLike(pixel, double(extent - 1)));
    Value const weight = s.select(s.compare(Compare::eq, pixel, bounded), share, s.constantLike(share, 0));
    Value const integer = s.create<arith::FPToSIOp>(s.b.getI64Type(), bounded);
    return std::pair(s.create<arith::IndexCastOp>(s.b.getIndexType(), integer), weight);
  };
  for (int64_t tapY : {0, 1})
    for (int64_t tapX : {0, 1}) {
      auto const [row, weightY] = along(y, fromY, tapY, extents[0]);
      auto const [column, weightX] = along(x, fromX, tapX, extents[1]);
      llvm::SmallVector<Value> at(outer);
      at.append({row, column});
      Value const pixel = s.convert(s.create<tensor::ExtractOp>(image, at), y.getType());
      Value const term = s.mul(s.mul(weightY, weightX), pixel);
      sum = sum ? s.add(sum, term) : term;
    }
  return sum;
}

static Deformed deformedOf(Node &node) {
  Ints const kernel(node.shape(1).drop_front(2));
  Deformed deformed{kernel,
                    node.intsAttr("strides").value_or(Ints{1, 1}),
                    node.intsAttr("dilations").value_or(Ints{1, 1}),
                    node.intsAttr("pads").value_or(Ints{0, 0, 0, 0}),
                    node.intAttr("group", 1),
                    node.intAttr("offset_group", 1)};
  auto const isPositive = [](int64_t number) { return number >= 1 && number <= 1 << 15; };
  auto const isPad = [](int64_t number) { return number >= 0 && number <= 1 << 15; };
  if (deformed.strides.size() != 2 || deformed.dilations.size() != 2 || deformed.pads.size() != 4 ||
      !llvm::all_of(deformed.strides, isPositive) || !llvm::all_of(deformed.dilations, isPositive) ||
      !llvm::all_of(deformed.pads, isPad))
    node.refuse("strides, dilations or pads are none of an image");
  int64_t const channels = node.shape(0)[1], outputs = node.shape(1)[0];
  if (deformed.groups < 1 || deformed.offsetGroups < 1 || channels % deformed.groups || outputs % deformed.groups ||
      channels % deformed.offsetGroups || node.shape(1)[1] * deformed.groups != channels)
    node.refuse("weights of shape " + shapeText(node.shape(1)) + " do not fit input " + shapeText(node.shape(0)));
  return deformed;
}

/// A convolution whose taps are moved by offsets, and weighted by a mask: the pixels that they read are a matrix.
static void importDeformConv(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  for (size_t input : {0, 1, 2})
    node.needRank(input, 4, 4);
  node.needStatic(1);
  for (size_t input : {1, 2, 3, 4})
    if (node.has(input) && node.element(input) != node.element(0))
      node.refuse("the inputs are of different types");
  for (int64_t extent : node.shape(0).drop_front())
    if (ShapedType::isDynamic(extent) || extent < 1)
      node.refuse("channels and extents of the image have to be known at translation");
  Deformed const d = deformedOf(node);
  Ints const image(node.shape(0)), filter(node.shape(1));
  Extent const batch = node.extents(0)[0];
  int64_t const taps = d.kernel[0] * d.kernel[1], channels = image[1], outputs = filter[0];
  Ints out;
  for (int64_t axis : {0, 1}) {
    int64_t const room =
        image[2 + axis] + d.pads[axis] + d.pads[axis + 2] - d.dilations[axis] * (d.kernel[axis] - 1) - 1;
    if (room < 0 || d.kernel[axis] < 1)
      node.refuse("the kernel is larger than the image");
    out.push_back(room / d.strides[axis] + 1);
  }
  auto const needShape = [&](size_t input, int64_t rows) {
    node.needRank(input, 4, 4);
    if (node.shape(input).drop_front() != IntsRef({rows, out[0], out[1]}))
      node.refuse("input " + Twine(input) + " has shape " + shapeText(node.shape(input)) + ", [" +
                  b.extents.text(batch) + "," + Twine(rows) + "," + Twine(out[0]) + "," + Twine(out[1]) +
                  "] is needed");
    b.extents.requireEqual(node.extents(input)[0], batch);
  };
  needShape(2, d.offsetGroups * taps * 2);
  // Loops: batch, group of offsets, channel, tap, row, column
  Value const offsets = b.reshapeTo(node.in(2), {batch, d.offsetGroups, taps, 2, out[0], out[1]});
  llvm::SmallVector<Value> inputs;
  for (int64_t axis : {0, 1})
    inputs.push_back(b.squeeze(b.slice(offsets, 3, axis, 1), {3}));
  if (node.has(4)) {
    needShape(4, d.offsetGroups * taps);
    inputs.push_back(b.reshapeTo(node.in(4), {batch, d.offsetGroups, taps, out[0], out[1]}));
  }
  Value const x = b.reshapeTo(node.in(0), {batch, d.offsetGroups, channels / d.offsetGroups, image[2], image[3]});
  Sizes const sizes = b.sizesFor({batch, d.offsetGroups, channels / d.offsetGroups, taps, out[0], out[1]});
  llvm::SmallVector<AffineMap> const maps(inputs.size(), b.selectDims(6, {0, 1, 3, 4, 5}));
  Value const pixels = b.map(inputs, maps, sizes, node.element(0), [&](Scalars &s, ValueRange v) {
    Value const tap = s.create<linalg::IndexOp>(3), width = s.index(d.kernel[1]);
    auto const place = [&](int64_t axis, Value offset, Value inKernel) {
      Value const begin = s.create<arith::MulIOp>(s.create<linalg::IndexOp>(4 + axis), s.index(d.strides[axis]));
      Value const moved = s.create<arith::AddIOp>(begin, s.create<arith::MulIOp>(inKernel, s.index(d.dilations[axis])));
      Value const at = s.create<arith::SubIOp>(moved, s.index(d.pads[axis]));
      Value const number =
          s.create<arith::SIToFPOp>(offset.getType(), s.create<arith::IndexCastOp>(s.b.getI64Type(), at));
      return s.add(number, offset);
    };
    Value const y = place(0, v[0], s.create<arith::DivSIOp>(tap, width));
    Value const x0 = place(1, v[1], s.create<arith::RemSIOp>(tap, width));
    llvm::SmallVector<Value> outer;
    for (int64_t dim : {0, 1, 2})
      outer.push_back(s.create<linalg::IndexOp>(dim));
    Value const sum = bilinear(s, x, outer, y, x0, {image[2], image[3]});
    return v.size() > 2 ? s.mul(sum, v[2]) : sum;
  });
  int64_t const terms = filter[1] * taps;
  Value const matrix = b.reshapeTo(pixels, {batch, d.groups, terms, out[0] * out[1]});
  Value const weights = b.reshapeTo(node.in(1), {d.groups, outputs / d.groups, terms});
  Value const y = b.reshapeTo(b.matmulBroadcast(weights, matrix), {batch, outputs, out[0], out[1]});
  node.out(0, node.has(3) ? b.alongAxis(y, {node.in(3)}, 1, [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); })
                          : y);
}

void registerGeometry(Registry &table) {
  table.add("AffineGrid", {20}, importAffineGrid);
  table.add("DeformConv", {19, 22}, importDeformConv);
}

} // namespace ml2k::frontend
