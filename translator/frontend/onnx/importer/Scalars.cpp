//===- Scalars.cpp - scalar arithmetic in the bodies of linalg operations -----------------------------------------===//

#include "translator/frontend/onnx/importer/Scalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ml2k::frontend {

Value Scalars::constant(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return create<arith::ConstantOp>(b.getFloatAttr(floatType, value));
  return create<arith::ConstantOp>(b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

/// A bool is true or false; signed, its one bit would be -1 or 0.
static bool isBool(Type type) { return type.isInteger(1); }

Value Scalars::lowest(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return create<arith::ConstantOp>(
        b.getFloatAttr(floatType, APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/true)));
  unsigned const width = type.getIntOrFloatBitWidth();
  return create<arith::ConstantOp>(
      b.getIntegerAttr(type, isUnsigned || isBool(type) ? APInt::getZero(width) : APInt::getSignedMinValue(width)));
}

Value Scalars::highest(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return create<arith::ConstantOp>(b.getFloatAttr(floatType, APFloat::getInf(floatType.getFloatSemantics())));
  unsigned const width = type.getIntOrFloatBitWidth();
  return create<arith::ConstantOp>(
      b.getIntegerAttr(type, isUnsigned || isBool(type) ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width)));
}

Value Scalars::add(Value l, Value r) { return isFloat(l) ? create<arith::AddFOp>(l, r) : create<arith::AddIOp>(l, r); }

Value Scalars::sub(Value l, Value r) { return isFloat(l) ? create<arith::SubFOp>(l, r) : create<arith::SubIOp>(l, r); }

Value Scalars::mul(Value l, Value r) { return isFloat(l) ? create<arith::MulFOp>(l, r) : create<arith::MulIOp>(l, r); }

Value Scalars::div(Value l, Value r) {
  if (isFloat(l))
    return create<arith::DivFOp>(l, r);
  return isUnsigned ? create<arith::DivUIOp>(l, r) : create<arith::DivSIOp>(l, r);
}

Value Scalars::remainder(Value l, Value r) {
  if (isFloat(l))
    return create<arith::RemFOp>(l, r);
  return isUnsigned ? create<arith::RemUIOp>(l, r) : create<arith::RemSIOp>(l, r);
}

Value Scalars::max(Value l, Value r) {
  if (isFloat(l))
    return create<arith::MaximumFOp>(l, r);
  if (isBool(l.getType()))
    return create<arith::OrIOp>(l, r);
  return isUnsigned ? create<arith::MaxUIOp>(l, r) : create<arith::MaxSIOp>(l, r);
}

Value Scalars::min(Value l, Value r) {
  if (isFloat(l))
    return create<arith::MinimumFOp>(l, r);
  if (isBool(l.getType()))
    return create<arith::AndIOp>(l, r);
  return isUnsigned ? create<arith::MinUIOp>(l, r) : create<arith::MinSIOp>(l, r);
}

Value Scalars::neg(Value x) { return isFloat(x) ? create<arith::NegFOp>(x) : sub(constantLike(x, 0), x); }

Value Scalars::abs(Value x) {
  if (isFloat(x))
    return create<math::AbsFOp>(x);
  return isUnsigned ? x : create<math::AbsIOp>(x);
}

Value Scalars::logicalNot(Value x) { return create<arith::XOrIOp>(x, constantLike(x, 1)); }

Value Scalars::compare(Compare how, Value l, Value r) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static constexpr I signedOnes[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static constexpr I unsignedOnes[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  auto const at = static_cast<size_t>(how);
  if (isFloat(l))
    return create<arith::CmpFOp>(floats[at], l, r);
  return create<arith::CmpIOp>(isUnsigned ? unsignedOnes[at] : signedOnes[at], l, r);
}

Value Scalars::select(Value condition, Value l, Value r) { return create<arith::SelectOp>(condition, l, r); }

Value Scalars::convertToInteger(Value x, Type to, bool toUnsigned) {
  if (isFloat(x))
    return toUnsigned ? create<arith::FPToUIOp>(to, x) : create<arith::FPToSIOp>(to, x);
  unsigned const from = x.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (width < from)
    return create<arith::TruncIOp>(to, x);
  if (width == from)
    return x;
  bool const zeroExtend = isUnsigned || from == 1;
  return zeroExtend ? create<arith::ExtUIOp>(to, x) : create<arith::ExtSIOp>(to, x);
}

Value Scalars::convert(Value x, Type to, bool toUnsigned) {
  Type const from = x.getType();
  if (from == to)
    return x;
  if (to.isInteger(1))
    return compare(Compare::ne, x, constantLike(x, 0));
  if (!isa<FloatType>(to))
    return convertToInteger(x, to, toUnsigned);
  if (!isFloat(x))
    return isUnsigned || from.isInteger(1) ? create<arith::UIToFPOp>(to, x) : create<arith::SIToFPOp>(to, x);
  if (to.getIntOrFloatBitWidth() == from.getIntOrFloatBitWidth()) // f16 and bf16
    return create<arith::TruncFOp>(to, create<arith::ExtFOp>(b.getF32Type(), x));
  return to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth() ? create<arith::TruncFOp>(to, x)
                                                                   : create<arith::ExtFOp>(to, x);
}

Value Scalars::exp(Value x) { return create<math::ExpOp>(x); }
Value Scalars::log(Value x) { return create<math::LogOp>(x); }
Value Scalars::sqrt(Value x) { return create<math::SqrtOp>(x); }
Value Scalars::tanh(Value x) { return create<math::TanhOp>(x); }
Value Scalars::erf(Value x) { return create<math::ErfOp>(x); }

Value Scalars::sigmoid(Value x) {
  Value const one = constantLike(x, 1);
  return div(one, add(one, exp(neg(x))));
}

} // namespace ml2k::frontend
