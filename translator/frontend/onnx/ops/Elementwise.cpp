//===- Elementwise.cpp - operators with one formula per element ---------------------------------------------------===//

#include "translator/frontend/onnx/importer/Formulas.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ml2k::frontend {

/// Inputs as values; the broadcasting of opset 6 and earlier (`axis` says where the second input's dimensions start) is
/// brought to today's.
static llvm::SmallVector<Value> operands(Node &node) {
  llvm::SmallVector<Value> values = node.allInputs();
  if (node.opset < 7 && values.size() == 2 && node.intAttr("broadcast", 0) && node.rank(1) > 0) {
    int64_t const rank = node.rank(0), own = node.rank(1);
    int64_t const axis = node.axisAttr("axis", rank - own, std::max<int64_t>(rank, 1));
    Ints shape(node.shape(1));
    shape.append(std::max<int64_t>(rank - axis - own, 0), 1);
    values[1] = node.b.reshape(values[1], shape);
  }
  return values;
}

static void sameTypes(Node const &node) {
  int32_t const first = node.dataType(0);
  for (size_t at = 1; at < node.inputCount(); ++at)
    if (node.dataType(at) != first)
      node.refuse("input 0 holds " + dataTypeName(first) + ", input " + llvm::Twine(at) + " holds " +
                  dataTypeName(node.dataType(at)));
}

void elementwise(Node &node, Formula formula) {
  sameTypes(node);
  auto const values = operands(node);
  node.out(0, node.b.elementwise(values, formula, node.isUnsigned()));
}

void floatElementwise(Node &node, Formula formula) {
  node.needFloat(0);
  elementwise(node, formula);
}

template <typename Op> static void floatUnary(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return s.create<Op>(x[0]); });
}

//===--- Arithmetic -----------------------------------------------------------------------------------------------===//

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

Value isNegative(Scalars &s, Value x) { return s.compare(Compare::lt, x, s.constantLike(x, 0)); }

/// Python's remainder, with the sign of the divisor, unless fmod is given.
static void importMod(Node &node) {
  bool const isFmod = node.intAttr("fmod", 0);
  if (!isFmod && isa<FloatType>(node.element(0)) && node.opset < 28)
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
  node.keepAsNumber(1);
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
    Value const rest = Scalars::isFloat(x[0]) ? x[0] : zero; // zero, or NaN
    Value const positive = s.select(s.compare(Compare::gt, x[0], zero), one, rest);
    return s.isUnsigned ? positive : s.select(isNegative(s, x[0]), s.constantLike(x[0], -1), positive);
  });
}

//===--- Comparisons and logic ------------------------------------------------------------------------------------===//

template <Compare how> static void compare(Node &node) {
  sameTypes(node);
  auto const values = operands(node);
  Value const result = node.b.elementwise(
      values, node.b.getI1Type(), [](Scalars &s, ValueRange x) { return s.compare(how, x[0], x[1]); },
      node.isUnsigned());
  node.out(0, result, pb::TensorProto::BOOL);
}

template <typename Op> static void logical(Node &node) {
  if (node.inputCount() != 2) // the library does not know the newest operators
    node.refuse("takes 2 inputs, has " + llvm::Twine(node.inputCount()));
  elementwise(node, [](Scalars &s, ValueRange x) { return s.create<Op>(x[0], x[1]); });
}

static void importBitwiseNot(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.create<arith::XOrIOp>(x[0], s.constantLike(x[0], -1)); });
}

/// A shift by the width of the type or more gives 0.
static void importBitShift(Node &node) {
  bool const isLeft = node.stringAttr("direction") == "LEFT";
  elementwise(node, [&](Scalars &s, ValueRange x) -> Value {
    Value const width = s.constantLike(x[1], x[1].getType().getIntOrFloatBitWidth());
    // Of a signed number to the right the sign moves in, at last everywhere
    if (!isLeft && !s.isUnsigned) {
      Value const most = s.constantLike(x[1], x[1].getType().getIntOrFloatBitWidth() - 1);
      Value const isFar = s.create<arith::CmpIOp>(arith::CmpIPredicate::uge, x[1], width);
      return s.create<arith::ShRSIOp>(x[0], s.select(isFar, most, x[1]));
    }
    Value const isNear = s.create<arith::CmpIOp>(arith::CmpIPredicate::ult, x[1], width);
    Value const shifted = isLeft ? s.create<arith::ShLIOp>(x[0], x[1]) : s.create<arith::ShRUIOp>(x[0], x[1]);
    return s.select(isNear, shifted, s.constantLike(x[0], 0));
  });
}

static void importWhere(Node &node) {
  if (node.dataType(1) != node.dataType(2) || node.dataType(0) != pb::TensorProto::BOOL)
    node.refuse("a condition of bool and two inputs of one type are needed");
  Value const result = node.b.elementwise(node.allInputs(), node.element(1),
                                          [](Scalars &s, ValueRange x) { return s.select(x[0], x[1], x[2]); });
  node.out(0, result, node.dataType(1));
}

static void importIsNaN(Node &node) {
  Value const result = node.b.elementwise(node.in(0), node.b.getI1Type(),
                                          [](Scalars &s, ValueRange x) { return s.compare(Compare::ne, x[0], x[0]); });
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

//===--- Types ----------------------------------------------------------------------------------------------------===//

static void cast(Node &node, int32_t dataType) {
  Type const element = elementType(*node.b.getContext(), dataType);
  if (!element)
    node.refuse("a cast to " + dataTypeName(dataType) + " is not supported");
  if (dataType == node.dataType(0)) {
    node.outReshaped(0, node.shape(0));
    return;
  }
  Value const result = node.b.elementwise(
      node.in(0), element, [&](Scalars &s, ValueRange x) { return s.convert(x[0], element, isUnsignedType(dataType)); },
      node.isUnsigned());
  node.out(0, result, dataType);
  bool const holdsSizes = isa<Float32Type, Float64Type>(element); // narrower types round or wrap
  if (holdsSizes && node.constant(0) && node.outputs[0])
    node.outputs[0]->size = node.sizeInput(0);
}

/// The bits of each element as one of another type of their width; a bool has eight.
static void importBitCast(Node &node) {
  int32_t const dataType = static_cast<int32_t>(node.intAttr("to"));
  Type const element = elementType(*node.b.getContext(), dataType), own = node.element(0);
  auto const widthOf = [](Type type) { return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth(); };
  if (!element || widthOf(element) != widthOf(own))
    node.refuse("the bits of " + dataTypeName(node.dataType(0)) + " are none of " + dataTypeName(dataType));
  Value const x = node.in(0);
  auto const cast = [&](Scalars &s, ValueRange v) {
    if (own.isInteger(1) || element.isInteger(1))
      return s.convert(v[0], element);
    Value const bits = s.convert(v[0], own);
    return s.convert(element == own ? bits : s.create<arith::BitcastOp>(element, bits), computeType(element));
  };
  node.out(0, node.b.map(x, node.b.identityMap(node.rank(0)), node.b.sizesOf(x), element, cast), dataType);
}

static void importCast(Node &node) { cast(node, static_cast<int32_t>(node.intAttr("to"))); }
static void importCastLike(Node &node) { cast(node, node.dataType(1)); }

void registerElementwise(Registry &table) {
  table.add("Add", {1, 6, 7, 13, 14}, binary<&Scalars::add>);
  table.add("Sub", {1, 6, 7, 13, 14}, binary<&Scalars::sub>);
  table.add("Mul", {1, 6, 7, 13, 14}, binary<&Scalars::mul>);
  table.add("Div", {1, 6, 7, 13, 14}, binary<&Scalars::div>);
  table.add("Mod", {10, 13, 28}, importMod);
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
  table.add("BitShift", {11, 28}, importBitShift);
  table.add("Where", {9, 16}, importWhere);
  table.add("IsNaN", {9, 13, 20}, importIsNaN);
  table.add("IsInf", {10, 20}, importIsInf);
  table.add("Cast", {6, 9, 13, 19, 21, 23, 24, 25, 28}, importCast);
  table.addUnsupported("Cast", {1});
  table.add("BitCast", {26}, importBitCast);
  table.add("CastLike", {15, 19, 21, 23, 24, 25}, importCastLike);
}

} // namespace ml2k::frontend
