//===- Quantization.cpp - linear quantization and integer products ------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Quantized.h"
#include "translator/frontend/onnx/ops/Window.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>
#include <cmath>
#include <functional>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// The representable numbers nearest to a float x.
static Value saturated(Scalars &s, Value x, Type element, bool isUnsigned) {
  unsigned const width = element.getIntOrFloatBitWidth();
  double const low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1);
  double const high = std::ldexp(1.0, isUnsigned ? width : width - 1) - 1;
  return s.convert(s.min(s.max(x, s.constantLike(x, low)), s.constantLike(x, high)), element, isUnsigned);
}

/// A scale or zero point for blocks of elements along an axis: each element as often as its block is long.
static Value forBlocks(Node &node, size_t at, int64_t block) {
  Build &b = node.b;
  int64_t const rank = node.rank(0), axis = node.axisAttr("axis", 1, rank), extent = node.shape(0)[axis];
  node.needStatic(0);
  node.needRank(at, rank, rank);
  Ints shape(node.shape(0)), split(node.shape(at)), read;
  shape[axis] = llvm::divideCeil(extent, std::max<int64_t>(block, 1));
  if (block < 1 || node.shape(at) != IntsRef(shape))
    node.refuse("input " + Twine(at) + " has shape " + shapeText(node.shape(at)) + "; for blocks of " + Twine(block) +
                " it has to have " + shapeText(shape));
  for (int64_t dim = 0; dim < rank; ++dim)
    read.push_back(dim <= axis ? dim : dim + 1);
  split.insert(split.begin() + axis + 1, block);
  Value const copies = b.map(node.in(at), b.selectDims(rank + 1, read), b.sizes(split), node.element(at),
                             [](Scalars &, ValueRange v) { return v[0]; });
  shape[axis] *= block;
  return b.slice(b.reshape(copies, shape), axis, 0, extent);
}

/// A scale or zero point as a value that broadcasts to input 0: a scalar, a vector along the axis, or one for blocks.
static Value alongAxis(Node &node, size_t at) {
  if (node.elements(at) == 1)
    node.keepAsNumber(at);
  Value const x = node.in(at);
  if (int64_t const block = node.intAttr("block_size", 0))
    return forBlocks(node, at, block);
  if (node.elements(at) == 1)
    return node.b.reshape(x, {});
  node.needRank(at, 1, 1);
  int64_t const axis = node.axisAttr("axis", 1, node.rank(0));
  Ints shape(node.rank(0), 1);
  shape[axis] = node.shape(at)[0];
  return node.b.reshape(x, shape);
}

/// x as a wider integer or float, by the signedness of the model.
static Value widened(Value x, bool isUnsigned, Type to, Scalars &s) {
  return Scalars(s.b, s.b.getLoc(), isUnsigned).convert(x, to);
}

/// saturate(round(x / scale) + zero point), rounding half to even.
static void importQuantizeLinear(Node &node) {
  bool const hasZero = node.has(2);
  auto const given = static_cast<int32_t>(node.intAttr("output_dtype", 0));
  int32_t const dataType = hasZero ? node.dataType(2) : given ? given : int32_t(pb::TensorProto::UINT8);
  Type const element = elementType(*node.b.getContext(), dataType);
  bool const isUnsigned = isUnsignedType(dataType);
  if (!element || !isa<IntegerType>(element))
    node.refuse("quantization to " + dataTypeName(dataType) + " is not supported");
  llvm::SmallVector<Value> inputs{node.in(0), alongAxis(node, 1)};
  if (hasZero)
    inputs.push_back(alongAxis(node, 2));
  Value const result = node.b.elementwise(
      inputs, element,
      [&](Scalars &s, ValueRange v) {
        Type const type = s.b.getF32Type();
        Value x = s.convert(v[0], type);
        x = s.create<math::RoundEvenOp>(s.div(x, s.convert(v[1], type)));
        if (hasZero)
          x = s.add(x, widened(v[2], isUnsigned, type, s));
        return saturated(s, x, element, isUnsigned);
      },
      node.isUnsigned());
  node.out(0, result, dataType);
}

static llvm::SmallVector<int32_t> integersOf(DenseElementsAttr constant, bool isUnsigned) {
  return llvm::map_to_vector(constant.getValues<APInt>(), [&](APInt const &value) {
    return static_cast<int32_t>(isUnsigned ? value.getZExtValue() : value.getSExtValue());
  });
}

/// Where the scale of element i of input 0 lies in input `at`; nothing if its shape does not fit.
static std::function<int64_t(int64_t)> placeOfScale(Node &node, size_t at) {
  if (node.elements(at) == 1)
    return [](int64_t) { return 0; };
  int64_t const rank = node.rank(0), axis = node.axisAttr("axis", 1, rank), extent = node.shape(0)[axis];
  int64_t const block = node.intAttr("block_size", 0);
  Ints shape{extent};
  if (block > 0) {
    shape.assign(node.shape(0).begin(), node.shape(0).end());
    shape[axis] = llvm::divideCeil(extent, block);
  }
  if (block < 0 || node.shape(at) != IntsRef(shape))
    return nullptr;
  int64_t inner = 1; // elements that share a position along the axis, as they follow each other
  for (int64_t size : node.shape(0).drop_front(axis + 1))
    inner *= size;
  if (block == 0)
    return [=](int64_t i) { return i / inner % extent; };
  return [=](int64_t i) { return (i / inner / extent * shape[axis] + i / inner % extent / block) * inner + i % inner; };
}

/// The scales of DequantizeLinear, known at import, of integers of 8 bits in no blocks; nothing for others.
static std::shared_ptr<Dequantized> productScales(Node &node) {
  if (!node.b.multipliesIntegers || !node.numbers(1) || !node.element(1).isF32() || !node.element(0).isInteger(8) ||
      node.intAttr("block_size", 0) || node.rank(1) > 1)
    return nullptr;
  Dequantized result;
  for (APFloat const &scale : node.constant(1).getValues<APFloat>())
    result.scale.push_back(scale.convertToFloat());
  if (result.scale.size() > 1)
    result.axis = node.axisAttr("axis", 1, node.rank(0));
  return std::make_shared<Dequantized>(std::move(result));
}

/// (x - zero point) * scale of constants: a weight like any other. `integers` is x - zero point.
static DenseElementsAttr dequantizedWeight(Node &node, DenseElementsAttr &integers) {
  bool const hasZero = node.has(2);
  if (!node.constant(0) || !node.constant(1) || (hasZero && !node.constant(2)) || !isa<IntegerType>(node.element(0)) ||
      !isa<FloatType>(node.element(1)) || (hasZero && !isa<IntegerType>(node.element(2))))
    return {};
  auto const scaleAt = placeOfScale(node, 1), zeroAt = hasZero ? placeOfScale(node, 2) : scaleAt;
  if (!scaleAt || !zeroAt)
    return {};
  bool const isUnsigned = node.isUnsigned();
  llvm::SmallVector<int32_t> const values = integersOf(node.constant(0), isUnsigned),
                                   zeros = hasZero ? integersOf(node.constant(2), isUnsigned)
                                                   : llvm::SmallVector<int32_t>{};
  // Products in the type that they are made in at run time, each rounded once
  auto const scale = node.constant(1).getValues<APFloat>();
  llvm::fltSemantics const &element = cast<FloatType>(node.element(1)).getFloatSemantics();
  llvm::fltSemantics const &compute = cast<FloatType>(computeType(node.element(1))).getFloatSemantics();
  llvm::SmallVector<APFloat> results;
  llvm::SmallVector<int32_t> differences;
  results.reserve(values.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    auto const zero = hasZero ? static_cast<uint32_t>(zeros[zeroAt(i)]) : 0;
    auto const difference = static_cast<int32_t>(static_cast<uint32_t>(value) - zero);
    differences.push_back(difference);
    APFloat result(compute), factor = scale[scaleAt(i)];
    bool isInexact = false;
    result.convertFromAPInt(APInt(32, static_cast<uint64_t>(int64_t(difference)), true), true,
                            APFloat::rmNearestTiesToEven);
    factor.convert(compute, APFloat::rmNearestTiesToEven, &isInexact);
    result.multiply(factor, APFloat::rmNearestTiesToEven);
    result.convert(element, APFloat::rmNearestTiesToEven, &isInexact);
    results.push_back(result);
  }
  integers = DenseElementsAttr::get(RankedTensorType::get(node.shape(0), node.b.getI32Type()), ArrayRef(differences));
  return DenseElementsAttr::get(RankedTensorType::get(node.shape(0), node.element(1)), results);
}

/// (x - zero point) * scale
static void importDequantizeLinear(Node &node) {
  bool const hasZero = node.has(2), isOne = node.has(1) && node.type(1).hasStaticShape() && node.elements(1) == 1;
  std::shared_ptr<Dequantized> known = productScales(node);
  DenseElementsAttr integers;
  if (DenseElementsAttr const weight = dequantizedWeight(node, integers)) {
    StringRef name = node.proto.input(0);
    name.consume_back("_quantized"); // as onnxruntime calls them
    node.outWeight(0, weight, node.dataType(1), name);
    if (known && node.outputs[0]) {
      known->constant = integers;
      node.outputs[0]->dequantized = std::move(known);
    }
    return;
  }
  Type const i32 = node.b.getI32Type();
  llvm::SmallVector<Value> inputs{node.in(0), alongAxis(node, 1)};
  if (hasZero)
    inputs.push_back(alongAxis(node, 2));
  auto const difference = [&](Scalars &s, Value x, Value zero) {
    x = widened(x, node.isUnsigned(), i32, s);
    return zero ? s.sub(x, widened(zero, node.isUnsigned(), i32, s)) : x;
  };
  if (known && isOne) { // apart from their scale, as products take them
    llvm::SmallVector<Value> own{inputs[0]};
    if (hasZero)
      own.push_back(inputs[2]);
    known->integers = node.b.elementwise(
        own, i32, [&](Scalars &s, ValueRange v) { return difference(s, v[0], hasZero ? v[1] : Value()); });
    Value const result =
        node.b.elementwise({known->integers, inputs[1]}, node.element(1), [&](Scalars &s, ValueRange v) {
          return s.mul(s.convert(v[0], computeType(node.element(1))), v[1]);
        });
    node.out(0, result, node.dataType(1));
    if (node.outputs[0])
      node.outputs[0]->dequantized = std::move(known);
    return;
  }
  Value const result = node.b.elementwise(inputs, node.element(1), [&](Scalars &s, ValueRange v) {
    return s.mul(s.convert(difference(s, v[0], hasZero ? v[2] : Value()), computeType(node.element(1))), v[1]);
  });
  node.out(0, result, node.dataType(1));
}

std::optional<IntegerFactors> integerFactors(Node &node, int64_t outputs) {
  Dequantized const *x = node.dequantized(0), *w = node.dequantized(1);
  if (!x || !w || !x->integers || !w->constant || (w->scale.size() > 1 && w->axis != outputs))
    return std::nullopt;
  // No sum of products with up to 255 overflows
  int64_t const count = w->constant.getType().getDimSize(outputs);
  int64_t inner = 1;
  for (int64_t extent : w->constant.getType().getShape().drop_front(outputs + 1))
    inner *= extent;
  std::vector<int64_t> sums(count);
  for (auto [i, value] : llvm::enumerate(w->constant.getValues<int32_t>()))
    sums[int64_t(i) / inner % count] += std::abs(int64_t(value));
  if (llvm::any_of(sums, [](int64_t sum) { return sum > std::numeric_limits<int32_t>::max() / 255; }))
    return std::nullopt;
  IntegerFactors factors{x->integers, node.weight(node.nameOf(1), w->constant), {}};
  for (float const scale : w->scale)
    factors.scale.push_back(scale * x->scale[0]);
  return factors;
}

Value scaledSum(Node &node, Value sum, IntegerFactors const &factors, int64_t axis) {
  Build &b = node.b;
  Type const f32 = b.getF32Type();
  if (factors.scale.size() == 1)
    return b.elementwise(sum, f32, [&](Scalars &s, ValueRange v) {
      Value const x = s.convert(v[0], f32);
      return s.mul(x, s.constantLike(x, factors.scale[0]));
    });
  auto const type = RankedTensorType::get(Ints{int64_t(factors.scale.size())}, f32);
  Value const scales = node.table("scale", DenseElementsAttr::get(type, ArrayRef<float>(factors.scale)));
  sum = b.elementwise(sum, f32, [&](Scalars &s, ValueRange v) { return s.convert(v[0], f32); });
  return b.alongAxis(sum, {scales}, axis, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[1]); });
}

/// The same known now: a weight, which can be packed.
static Value centredWeight(Node &node, size_t at, size_t zeroAt, int64_t axis) {
  llvm::SmallVector<int32_t> values = integersOf(node.constant(at), node.isUnsigned(at));
  llvm::SmallVector<int32_t> const zeros =
      node.has(zeroAt) ? integersOf(node.constant(zeroAt), node.isUnsigned(zeroAt)) : llvm::SmallVector<int32_t>{0};
  int64_t inner = 1; // elements that share a position along the axis, as they follow each other
  for (int64_t extent : node.shape(at).drop_front(axis + 1))
    inner *= extent;
  if (zeros.size() != 1 && int64_t(zeros.size()) != node.shape(at)[axis])
    node.refuse("input " + Twine(zeroAt) + " has " + Twine(zeros.size()) + " zero points for an extent of " +
                Twine(node.shape(at)[axis]));
  for (auto [i, value] : llvm::enumerate(values))
    value -= zeros[zeros.size() == 1 ? 0 : i / inner % zeros.size()];
  auto const type = RankedTensorType::get(node.shape(at), node.b.getI32Type());
  return node.table(at == 0 ? "input" : "weight", DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(values)));
}

/// Input `at` less its zero point, as int32. The zero point is a scalar, or a vector along `axis`.
static Value centred(Node &node, size_t at, size_t zeroAt, int64_t axis) {
  if (node.constant(at) && node.rank(at) > 1 && (!node.has(zeroAt) || node.constant(zeroAt)))
    return centredWeight(node, at, zeroAt, axis);
  Part const part(node.b, at == 0 ? "input" : "weight");
  Type const i32 = node.b.getI32Type();
  bool const isUnsigned = node.isUnsigned(at);
  llvm::SmallVector<Value> inputs{node.in(at)};
  if (node.has(zeroAt)) {
    Ints shape(node.rank(at), 1);
    if (node.elements(zeroAt) != 1)
      shape[axis] = node.elements(zeroAt);
    else
      shape.clear();
    inputs.push_back(node.b.reshape(node.in(zeroAt), shape));
  }
  return node.b.elementwise(inputs, i32, [&](Scalars &s, ValueRange v) {
    Value const x = widened(v[0], isUnsigned, i32, s);
    return v.size() == 1 ? x : s.sub(x, widened(v[1], node.isUnsigned(zeroAt), i32, s));
  });
}

static void importMatMulInteger(Node &node) {
  int64_t const rowAxis = std::max<int64_t>(node.rank(0) - 2, 0), columnAxis = node.rank(1) - 1;
  Value const l = centred(node, 0, 2, rowAxis), r = centred(node, 1, 3, columnAxis);
  node.out(0, node.b.matmulBroadcast(l, r), pb::TensorProto::INT32);
}

/// The convolution of x (input 0) and a weight, both less their zero points.
static Value convolveIntegers(Node &node, size_t zeroAt, size_t weightAt, size_t weightZeroAt) {
  Build &b = node.b;
  node.needRank(0, 3, 5);
  node.needRank(weightAt, node.rank(0), node.rank(0));
  node.needStatic(weightAt);
  IntsRef const weight = node.shape(weightAt);
  int64_t const groups = node.intAttr("group", 1);
  if (groups < 1 || node.shape(0)[1] != weight[1] * groups || weight[0] % groups != 0)
    node.refuse("input " + shapeText(node.shape(0)) + " and weight " + shapeText(weight) + " do not fit " +
                Twine(groups) + " group(s)");
  Window window = Window::of(node, weight.drop_front(2));
  Value x = centred(node, 0, zeroAt, 1), w = centred(node, weightAt, weightZeroAt, 0);
  bool const isFlat = node.rank(0) == 3;
  if (isFlat) {
    x = b.unsqueeze(x, {2});
    w = b.unsqueeze(w, {2});
    window.addRow();
  }
  Value const y = convolve(b, window.pad(b, x, b.scalar(b.getI32Type(), 0)), w, window, groups);
  return isFlat ? b.squeeze(y, {2}) : y;
}

static void importConvInteger(Node &node) { node.out(0, convolveIntegers(node, 2, 1, 3), pb::TensorProto::INT32); }

/// saturate(round(sum * x scale * w scale / y scale) + y zero point). Scales are vectors along `axis` of the sum, or
/// scalars.
static void rescaled(Node &node, Value sum, std::array<size_t, 3> scales, size_t zeroAt, int64_t axis) {
  Build &b = node.b;
  auto along = [&](size_t at) {
    Ints shape;
    if (node.elements(at) == 1) {
      node.keepAsNumber(at);
    } else {
      shape.assign(Build::rankOf(sum), 1);
      shape[axis] = node.elements(at);
    }
    return b.reshape(node.in(at), shape);
  };
  int32_t const dataType = node.dataType(zeroAt);
  bool const isUnsigned = isUnsignedType(dataType);
  Type const element = node.element(zeroAt);
  Value const result = b.elementwise({sum, along(scales[0]), along(scales[1]), along(scales[2]), along(zeroAt)},
                                     element, [&](Scalars &s, ValueRange v) {
                                       Type const f32 = s.b.getF32Type();
                                       Value x = s.mul(s.convert(v[0], f32), s.div(s.mul(v[1], v[2]), v[3]));
                                       x = s.add(s.create<math::RoundEvenOp>(x), widened(v[4], isUnsigned, f32, s));
                                       return saturated(s, x, element, isUnsigned);
                                     });
  node.out(0, result, dataType);
}

static void importQLinearConv(Node &node) {
  Value sum = convolveIntegers(node, 2, 3, 5);
  if (node.has(8))
    sum = node.b.alongAxis(sum, {node.in(8)}, 1, [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); });
  rescaled(node, sum, {1, 4, 6}, 7, 1);
}

static void importQLinearMatMul(Node &node) {
  for (size_t at : {1, 4, 6})
    if (node.elements(at) != 1)
      node.refuse("scales per row or column are not supported");
  rescaled(node, node.b.matmulBroadcast(centred(node, 0, 2, 0), centred(node, 3, 5, 0)), {1, 4, 6}, 7, 0);
}

void registerQuantization(Registry &table) {
  table.add("QuantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, importQuantizeLinear);
  table.add("DequantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, importDequantizeLinear);
  table.add("MatMulInteger", {10}, importMatMulInteger);
  table.add("ConvInteger", {10}, importConvInteger);
  table.add("QLinearConv", {10}, importQLinearConv);
  table.add("QLinearMatMul", {10, 21}, importQLinearMatMul);
}

} // namespace ml2k::frontend
