//===- Elementwise.cpp - operators with one formula per element ---------------------------------------------*- C++ -*-===//

#include "translator/frontend/onnx/Registry.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ml2k::frontend {

/// Inputs as values; the broadcasting of opset 6 and earlier (`axis` says where the second input's dimensions start) is
/// brought to today's.
static llvm::SmallVector<Value> operands(Node &node) {
  llvm::SmallVector<Value> values = node.allInputs();
  if (node.opset < 7 && values.size() == 2 && node.intAttr("broadcast", 0)) {
    int64_t const rank = node.rank(0), own = node.rank(1);
    int64_t const axis = node.axisAttr("axis", rank - own, std::max<int64_t>(rank, 1));
    Ints shape(node.shape(1));
    shape.append(std::max<int64_t>(rank - axis - own, 0), 1);
    values[1] = node.b.reshape(values[1], shape);
  }
  return values;
}

static void sameTypes(Node const &node) {
  for (size_t at = 1; at < node.inputCount(); ++at)
    if (node.dataType(at) != node.dataType(0))
      node.refuse("input 0 holds " + dataTypeName(node.dataType(0)) + ", input " + llvm::Twine(at) + " holds " +
                  dataTypeName(node.dataType(at)));
}

/// Result of the type of the (equal) inputs.
static void elementwise(Node &node, Formula formula) {
  sameTypes(node);
  auto const values = operands(node);
  node.out(0, node.b.elementwise(values, formula, node.isUnsigned()));
}

/// A formula of floats alone.
static void floatElementwise(Node &node, Formula formula) {
  node.needFloat(0);
  elementwise(node, formula);
}

template <typename Op> static void floatUnary(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return s.create<Op>(x[0]); });
}

//===--- Arithmetic -------------------------------------------------------------------------------------------------===//

using BinaryMethod = Value (Scalars::*)(Value, Value);
using UnaryMethod = Value (Scalars::*)(Value);

template <BinaryMethod method> static void binary(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return (s.*method)(x[0], x[1]); });
}

template <UnaryMethod method> static void unary(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return (s.*method)(x[0]); });
}

template <UnaryMethod method> static void floatMethod(Node &node) {
  node.needFloat(0);
  unary<method>(node);
}

/// Max, Min and Sum of any number of inputs.
template <BinaryMethod method> static void variadic(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) {
    Value result = x[0];
    for (Value next : x.drop_front())
      result = (s.*method)(result, next);
    return result;
  });
}

static void importMean(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) {
    Value sum = x[0];
    for (Value next : x.drop_front())
      sum = s.add(sum, next);
    return s.div(sum, s.constantLike(sum, static_cast<double>(x.size())));
  });
}

static Value isNegative(Scalars &s, Value x) { return s.compare(Compare::lt, x, s.constantLike(x, 0)); }

/// Python's remainder, with the sign of the divisor, unless fmod is given.
static void importMod(Node &node) {
  bool const isFmod = node.intAttr("fmod", 0);
  if (!isFmod && isa<FloatType>(node.element(0)))
    node.refuse("floats need fmod = 1");
  elementwise(node, [&](Scalars &s, ValueRange x) {
    Value const rest = s.remainder(x[0], x[1]);
    if (isFmod || s.isUnsigned)
      return rest;
    Value const isExact = s.compare(Compare::eq, rest, s.constantLike(rest, 0));
    Value const sameSign = s.compare(Compare::eq, isNegative(s, rest), isNegative(s, x[1]));
    return s.select(s.create<arith::OrIOp>(isExact, sameSign), rest, s.add(rest, x[1]));
  });
}

static Value integerPower(Scalars &s, Value base, Value exponent) {
  Type const wide = s.b.getF64Type();
  Value const power = s.create<math::PowFOp>(s.convert(base, wide), s.convert(exponent, wide));
  return s.convert(power, base.getType(), s.isUnsigned);
}

/// The type of the result is the base's.
static void importPow(Node &node) {
  auto const values = operands(node);
  node.out(0, node.b.elementwise(
                  values,
                  [&](Scalars &s, ValueRange x) -> Value {
                    if (!Scalars::isFloat(x[0]))
                      return integerPower(s, x[0], x[1]);
                    Scalars ofExponent(s.b, s.b.getLoc(), node.isUnsigned(1));
                    Value const exponent = ofExponent.convert(x[1], x[0].getType());
                    return s.create<math::PowFOp>(x[0], exponent);
                  },
                  node.isUnsigned()));
}

static void importReciprocal(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return s.div(s.constantLike(x[0], 1), x[0]); });
}

static void importSign(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) {
    Value const zero = s.constantLike(x[0], 0), one = s.constantLike(x[0], 1);
    Value const positive = s.select(s.compare(Compare::gt, x[0], zero), one, zero);
    return s.isUnsigned ? positive : s.select(isNegative(s, x[0]), s.constantLike(x[0], -1), positive);
  });
}

//===--- Activations ------------------------------------------------------------------------------------------------===//

static void importRelu(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.max(x[0], s.constantLike(x[0], 0)); });
}

static void importLeakyRelu(Node &node) {
  double const alpha = node.floatAttr("alpha", 0.01);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.select(isNegative(s, x[0]), s.mul(s.constantLike(x[0], alpha), x[0]), x[0]);
  });
}

static void importThresholdedRelu(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.select(s.compare(Compare::gt, x[0], s.constantLike(x[0], alpha)), x[0], s.constantLike(x[0], 0));
  });
}

static void importPRelu(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.select(isNegative(s, x[0]), s.mul(x[1], x[0]), x[0]); });
}

/// scale * (x < 0 ? alpha * (exp(x / width) - 1) : x)
static void exponentialUnit(Node &node, double scale, double alpha, double width) {
  floatElementwise(node, [&](Scalars &s, ValueRange v) {
    Value const x = v[0];
    Value const scaled = width == 1 ? x : s.div(x, s.constantLike(x, width));
    Value const curve = s.mul(s.constantLike(x, alpha), s.create<math::ExpM1Op>(scaled));
    Value const result = s.select(isNegative(s, x), curve, x);
    return scale == 1 ? result : s.mul(s.constantLike(x, scale), result);
  });
}

static void importElu(Node &node) { exponentialUnit(node, 1, node.floatAttr("alpha", 1.0), 1); }

static void importCelu(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  exponentialUnit(node, 1, alpha, alpha);
}

static void importSelu(Node &node) {
  bool const isOld = node.opset < 6;
  double const alpha = node.floatAttr("alpha", isOld ? 1.6732 : 1.67326319217681884765625);
  exponentialUnit(node, node.floatAttr("gamma", isOld ? 1.0507 : 1.05070102214813232421875), alpha, 1);
}

static Value clamp(Scalars &s, Value x, double low, double high) {
  return s.min(s.max(x, s.constantLike(x, low)), s.constantLike(x, high));
}

static void importHardSigmoid(Node &node) {
  double const alpha = node.floatAttr("alpha", 0.2), beta = node.floatAttr("beta", 0.5);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    Value const line = s.add(s.mul(s.constantLike(x[0], alpha), x[0]), s.constantLike(x[0], beta));
    return clamp(s, line, 0, 1);
  });
}

static void importHardSwish(Node &node) {
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    Value const line = s.add(s.mul(s.constantLike(x[0], 1.0 / 6), x[0]), s.constantLike(x[0], 0.5));
    return s.mul(x[0], clamp(s, line, 0, 1));
  });
}

/// log(1 + exp(x)) without overflow.
static Value softplus(Scalars &s, Value x) {
  Value const tail = s.create<math::Log1pOp>(s.exp(s.neg(s.abs(x))));
  return s.add(s.max(x, s.constantLike(x, 0)), tail);
}

static void importSoftplus(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return softplus(s, x[0]); });
}

static void importSoftsign(Node &node) {
  floatElementwise(node,
                   [](Scalars &s, ValueRange x) { return s.div(x[0], s.add(s.constantLike(x[0], 1), s.abs(x[0]))); });
}

static void importMish(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return s.mul(x[0], s.tanh(softplus(s, x[0]))); });
}

static void importSwish(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.mul(x[0], s.sigmoid(alpha == 1 ? x[0] : s.mul(s.constantLike(x[0], alpha), x[0])));
  });
}

static void importGelu(Node &node) {
  bool const isTanh = node.stringAttr("approximate", "none") == "tanh";
  floatElementwise(node, [&](Scalars &s, ValueRange v) {
    Value const x = v[0];
    auto constant = [&](double value) { return s.constantLike(x, value); };
    Value curve;
    if (isTanh) {
      Value const cube = s.mul(x, s.mul(x, x));
      curve = s.tanh(s.mul(constant(0.7978845608028654), s.add(x, s.mul(constant(0.044715), cube))));
    } else {
      curve = s.erf(s.mul(x, constant(0.7071067811865476)));
    }
    return s.mul(s.mul(constant(0.5), x), s.add(constant(1), curve));
  });
}

static void importShrink(Node &node) {
  double const bias = node.floatAttr("bias", 0.0), lambd = node.floatAttr("lambd", 0.5);
  elementwise(node, [&](Scalars &s, ValueRange x) {
    Type const wide = s.isFloat(x[0]) ? x[0].getType() : Type(s.b.getF32Type());
    Value const value = s.convert(x[0], wide);
    auto constant = [&](double number) { return s.constant(wide, number); };
    Value const above = s.select(s.compare(Compare::gt, value, constant(lambd)), s.sub(value, constant(bias)),
                                 constant(0));
    Value const result = s.select(s.compare(Compare::lt, value, constant(-lambd)), s.add(value, constant(bias)), above);
    return s.convert(result, x[0].getType(), s.isUnsigned);
  });
}

/// Bounds are attributes before opset 11, then optional inputs.
static void importClip(Node &node) {
  if (node.opset < 11) {
    double const low = node.floatAttr("min", -3.4028234663852886e38);
    double const high = node.floatAttr("max", 3.4028234663852886e38);
    return floatElementwise(node, [&](Scalars &s, ValueRange x) { return clamp(s, x[0], low, high); });
  }
  llvm::SmallVector<Value> values{node.in(0)};
  for (size_t at : {1, 2})
    if (node.has(at)) {
      node.needRank(at, 0, 1);
      values.push_back(node.b.reshape(node.in(at), {}));
    }
  node.out(0, node.b.elementwise(
                  values,
                  [&](Scalars &s, ValueRange x) {
                    Value result = x[0];
                    if (node.has(1))
                      result = s.max(result, x[1]);
                    return node.has(2) ? s.min(result, x.back()) : result;
                  },
                  node.isUnsigned()));
}

//===--- Comparisons and logic --------------------------------------------------------------------------------------===//

template <Compare how> static void compare(Node &node) {
  sameTypes(node);
  auto const values = operands(node);
  Value const result = node.b.elementwise(
      values, node.b.getI1Type(), [](Scalars &s, ValueRange x) { return s.compare(how, x[0], x[1]); },
      node.isUnsigned());
  node.out(0, result, pb::TensorProto::BOOL);
}

template <typename Op> static void logical(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.create<Op>(x[0], x[1]); });
}

static void importBitwiseNot(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.create<arith::XOrIOp>(x[0], s.constantLike(x[0], -1)); });
}

/// A shift by the width of the type or more gives 0.
static void importBitShift(Node &node) {
  bool const isLeft = node.stringAttr("direction") == "LEFT";
  elementwise(node, [&](Scalars &s, ValueRange x) {
    Value const shifted = isLeft ? s.create<arith::ShLIOp>(x[0], x[1]) : s.create<arith::ShRUIOp>(x[0], x[1]);
    Value const width = s.constantLike(x[1], x[1].getType().getIntOrFloatBitWidth());
    return s.select(s.compare(Compare::lt, x[1], width), shifted, s.constantLike(x[0], 0));
  });
}

static void importWhere(Node &node) {
  if (node.dataType(1) != node.dataType(2) || node.dataType(0) != pb::TensorProto::BOOL)
    node.refuse("a condition of bool and two inputs of one type are needed");
  Value const result = node.b.elementwise(node.allInputs(), node.element(1), [](Scalars &s, ValueRange x) {
    return s.select(x[0], x[1], x[2]);
  });
  node.out(0, result, node.dataType(1));
}

static void importIsNaN(Node &node) {
  Value const result = node.b.elementwise(node.in(0), node.b.getI1Type(), [](Scalars &s, ValueRange x) {
    return s.compare(Compare::ne, x[0], x[0]);
  });
  node.out(0, result, pb::TensorProto::BOOL);
}

static void importIsInf(Node &node) {
  bool const negative = node.intAttr("detect_negative", 1), positive = node.intAttr("detect_positive", 1);
  node.needFloat(0);
  Value const result = node.b.elementwise(node.in(0), node.b.getI1Type(), [&](Scalars &s, ValueRange x) {
    Value const low = s.compare(Compare::eq, x[0], s.lowest(x[0].getType()));
    Value const high = s.compare(Compare::eq, x[0], s.highest(x[0].getType()));
    if (negative && positive)
      return s.create<arith::OrIOp>(low, high);
    return negative ? low : positive ? high : s.create<arith::ConstantIntOp>(0, 1);
  });
  node.out(0, result, pb::TensorProto::BOOL);
}

//===--- Types ------------------------------------------------------------------------------------------------------===//

static void cast(Node &node, int32_t dataType) {
  Type const element = elementType(*node.b.getContext(), dataType);
  if (!element)
    node.refuse("a cast to " + dataTypeName(dataType) + " is not supported");
  if (dataType == node.dataType(0)) {
    node.outReshaped(0, node.shape(0));
    return;
  }
  Value const result = node.b.elementwise(
      node.in(0), element,
      [&](Scalars &s, ValueRange x) { return s.convert(x[0], element, isUnsignedType(dataType)); }, node.isUnsigned());
  node.out(0, result, dataType);
}

static void importCast(Node &node) { cast(node, static_cast<int32_t>(node.intAttr("to"))); }
static void importCastLike(Node &node) { cast(node, node.dataType(1)); }

void registerElementwise(Registry &table) {
  table.add("Add", {1, 6, 7, 13, 14}, binary<&Scalars::add>);
  table.add("Sub", {1, 6, 7, 13, 14}, binary<&Scalars::sub>);
  table.add("Mul", {1, 6, 7, 13, 14}, binary<&Scalars::mul>);
  table.add("Div", {1, 6, 7, 13, 14}, binary<&Scalars::div>);
  table.add("Mod", {10, 13}, importMod);
  table.add("Pow", {1, 7, 12, 13, 15}, importPow);
  table.add("Max", {1, 6, 8, 12, 13}, variadic<&Scalars::max>);
  table.add("Min", {1, 6, 8, 12, 13}, variadic<&Scalars::min>);
  table.add("Sum", {1, 6, 8, 13}, variadic<&Scalars::add>);
  table.add("Mean", {1, 6, 8, 13}, importMean);
  table.add("Abs", {1, 6, 13}, unary<&Scalars::abs>);
  table.add("Neg", {1, 6, 13}, unary<&Scalars::neg>);
  table.add("Sign", {9, 13}, importSign);
  table.add("Reciprocal", {1, 6, 13}, importReciprocal);
  table.add("Exp", {1, 6, 13}, floatMethod<&Scalars::exp>);
  table.add("Log", {1, 6, 13}, floatMethod<&Scalars::log>);
  table.add("Sqrt", {1, 6, 13}, floatMethod<&Scalars::sqrt>);
  table.add("Tanh", {1, 6, 13}, floatMethod<&Scalars::tanh>);
  table.add("Erf", {9, 13}, floatMethod<&Scalars::erf>);
  table.add("Sigmoid", {1, 6, 13}, floatMethod<&Scalars::sigmoid>);
  table.add("Floor", {1, 6, 13}, floatUnary<math::FloorOp>);
  table.add("Ceil", {1, 6, 13}, floatUnary<math::CeilOp>);
  table.add("Round", {11, 22}, floatUnary<math::RoundEvenOp>);
  table.add("Sin", {7, 22}, floatUnary<math::SinOp>);
  table.add("Cos", {7, 22}, floatUnary<math::CosOp>);
  table.add("Tan", {7, 22}, floatUnary<math::TanOp>);
  table.add("Asin", {7, 22}, floatUnary<math::AsinOp>);
  table.add("Acos", {7, 22}, floatUnary<math::AcosOp>);
  table.add("Atan", {7, 22}, floatUnary<math::AtanOp>);
  table.add("Sinh", {9, 22}, floatUnary<math::SinhOp>);
  table.add("Cosh", {9, 22}, floatUnary<math::CoshOp>);
  table.add("Asinh", {9, 22}, floatUnary<math::AsinhOp>);
  table.add("Acosh", {9, 22}, floatUnary<math::AcoshOp>);
  table.add("Atanh", {9, 22}, floatUnary<math::AtanhOp>);
  table.add("Relu", {1, 6, 13, 14}, importRelu);
  table.add("LeakyRelu", {1, 6, 16}, importLeakyRelu);
  table.add("ThresholdedRelu", {10, 22}, importThresholdedRelu);
  table.add("PRelu", {7, 9, 16}, importPRelu);
  table.addUnsupported("PRelu", {1, 6});
  table.add("Elu", {1, 6, 22}, importElu);
  table.add("Celu", {12}, importCelu);
  table.add("Selu", {1, 6, 22}, importSelu);
  table.add("HardSigmoid", {1, 6, 22}, importHardSigmoid);
  table.add("HardSwish", {14, 22}, importHardSwish);
  table.add("Softplus", {1, 22}, importSoftplus);
  table.add("Softsign", {1, 22}, importSoftsign);
  table.add("Mish", {18, 22}, importMish);
  table.add("Swish", {24}, importSwish);
  table.add("Gelu", {20}, importGelu);
  table.add("Shrink", {9}, importShrink);
  table.add("Clip", {1, 6, 11, 12, 13}, importClip);
  table.add("Equal", {1, 7, 11, 13, 19}, compare<Compare::eq>);
  table.add("Less", {1, 7, 9, 13}, compare<Compare::lt>);
  table.add("LessOrEqual", {12, 16}, compare<Compare::le>);
  table.add("Greater", {1, 7, 9, 13}, compare<Compare::gt>);
  table.add("GreaterOrEqual", {12, 16}, compare<Compare::ge>);
  table.add("And", {1, 7}, logical<arith::AndIOp>);
  table.add("Or", {1, 7}, logical<arith::OrIOp>);
  table.add("Xor", {1, 7}, logical<arith::XOrIOp>);
  table.add("Not", {1}, unary<&Scalars::logicalNot>);
  table.add("BitwiseAnd", {18}, logical<arith::AndIOp>);
  table.add("BitwiseOr", {18}, logical<arith::OrIOp>);
  table.add("BitwiseXor", {18}, logical<arith::XOrIOp>);
  table.add("BitwiseNot", {18}, importBitwiseNot);
  table.add("BitShift", {11}, importBitShift);
  table.add("Where", {9, 16}, importWhere);
  table.add("IsNaN", {9, 13, 20}, importIsNaN);
  table.add("IsInf", {10, 20}, importIsInf);
  table.add("Cast", {6, 9, 13, 19, 21, 23, 24, 25}, importCast);
  table.addUnsupported("Cast", {1});
  table.add("CastLike", {15, 19, 21, 23, 24, 25}, importCastLike);
}

} // namespace ml2k::frontend
