//===- ComplexNumbers.cpp - complex arithmetic on real and imaginary parts ----------------------------------------===//
//
// The formulas of textbooks, but for quotients and roots, whose intermediate values must neither overflow nor vanish.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/ComplexNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace {

struct Number {
  Value real, imaginary;
};

/// Writes expressions of reals.
struct Reals {
  OpBuilder &builder;
  Location location;
  arith::FastMathFlagsAttr flags = {}; ///< of the operation on complex numbers

  template <class Op, class... Values> Value make(Values... values) {
    auto op = builder.create<Op>(location, values...);
    if (flags && isa<arith::ArithFastMathInterface>(op.getOperation()))
      op->setAttr("fastmath", flags);
    return op;
  }
  Value add(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value subtract(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value multiply(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  Value divide(Value a, Value b) { return make<arith::DivFOp>(a, b); }
  Value negate(Value a) { return make<arith::NegFOp>(a); }
  Value absolute(Value a) { return make<math::AbsFOp>(a); }
  Value root(Value a) { return make<math::SqrtOp>(a); }
  Value select(Value condition, Value a, Value b) { return make<arith::SelectOp>(condition, a, b); }
  Value compare(arith::CmpFPredicate how, Value a, Value b) { return make<arith::CmpFOp>(how, a, b); }
  Value constant(Value like, double value) {
    return make<arith::ConstantOp>(builder.getFloatAttr(like.getType(), value));
  }

  Value size(Number z) { return root(add(multiply(z.real, z.real), multiply(z.imaginary, z.imaginary))); }
  Value angle(Number z) { return make<math::Atan2Op>(z.imaginary, z.real); }
  Number product(Number a, Number b) {
    return {subtract(multiply(a.real, b.real), multiply(a.imaginary, b.imaginary)),
            add(multiply(a.real, b.imaginary), multiply(a.imaginary, b.real))};
  }
  Number exponential(Number z) {
    Value const size = make<math::ExpOp>(z.real);
    return {multiply(size, make<math::CosOp>(z.imaginary)), multiply(size, make<math::SinOp>(z.imaginary))};
  }
  Number logarithm(Number z) { return {make<math::LogOp>(size(z)), angle(z)}; }
  Number quotient(Number a, Number b);
  Number squareRoot(Number z);
};

} // namespace

/// By the ratio of the divisor's parts.
Number Reals::quotient(Number a, Number b) {
  Value const upright = compare(arith::CmpFPredicate::OLT, absolute(b.real), absolute(b.imaginary));
  auto const pick = [&](Value yes, Value no) { return select(upright, yes, no); };
  Value const ratio = divide(pick(b.real, b.imaginary), pick(b.imaginary, b.real));
  Value const below = add(pick(b.imaginary, b.real), multiply(ratio, pick(b.real, b.imaginary)));
  Value const real = add(pick(a.imaginary, a.real), multiply(pick(a.real, a.imaginary), ratio));
  Value const turned = multiply(pick(a.imaginary, a.real), ratio);
  Value const imaginary = pick(subtract(turned, a.real), subtract(a.imaginary, turned));
  return {divide(real, below), divide(imaginary, below)};
}

/// t = sqrt((|z| + |x|) / 2) and y / 2t, the larger one where the sign of x wants it: no difference cancels digits.
Number Reals::squareRoot(Number z) {
  Value const zero = constant(z.real, 0), half = constant(z.real, 0.5);
  Value const large = root(multiply(add(size(z), absolute(z.real)), half));
  Value const isZero = compare(arith::CmpFPredicate::OEQ, large, zero);
  Value const small = select(isZero, zero, divide(multiply(z.imaginary, half), large));
  Value const isRight = compare(arith::CmpFPredicate::OGE, z.real, zero);
  return {select(isRight, large, absolute(small)), select(isRight, small, make<math::CopySignOp>(large, z.imaginary))};
}

//===--- The operations -------------------------------------------------------------------------------------------===//

using Formula = Number (*)(Reals &, Number, Number); // one that gives a real has no imaginary part

static llvm::StringMap<Formula> const &formulas() {
  static llvm::StringMap<Formula> const table = {
      {"complex.re", [](Reals &, Number z, Number) { return Number{z.real, {}}; }},
      {"complex.im", [](Reals &, Number z, Number) { return Number{z.imaginary, {}}; }},
      {"complex.abs", [](Reals &r, Number z, Number) { return Number{r.size(z), {}}; }},
      {"complex.angle", [](Reals &r, Number z, Number) { return Number{r.angle(z), {}}; }},
      {"complex.conj", [](Reals &r, Number z, Number) { return Number{z.real, r.negate(z.imaginary)}; }},
      {"complex.neg", [](Reals &r, Number z, Number) { return Number{r.negate(z.real), r.negate(z.imaginary)}; }},
      {"complex.add",
       [](Reals &r, Number a, Number b) { return Number{r.add(a.real, b.real), r.add(a.imaginary, b.imaginary)}; }},
      {"complex.sub",
       [](Reals &r, Number a, Number b) {
         return Number{r.subtract(a.real, b.real), r.subtract(a.imaginary, b.imaginary)};
       }},
      {"complex.mul", [](Reals &r, Number a, Number b) { return r.product(a, b); }},
      {"complex.div", [](Reals &r, Number a, Number b) { return r.quotient(a, b); }},
      {"complex.exp", [](Reals &r, Number z, Number) { return r.exponential(z); }},
      {"complex.log", [](Reals &r, Number z, Number) { return r.logarithm(z); }},
      {"complex.sqrt", [](Reals &r, Number z, Number) { return r.squareRoot(z); }},
      {"complex.pow", [](Reals &r, Number a, Number b) { return r.exponential(r.product(b, r.logarithm(a))); }},
      {"complex.cos",
       [](Reals &r, Number z, Number) {
         return Number{r.multiply(r.make<math::CosOp>(z.real), r.make<math::CoshOp>(z.imaginary)),
                       r.negate(r.multiply(r.make<math::SinOp>(z.real), r.make<math::SinhOp>(z.imaginary)))};
       }},
      {"complex.sin", [](Reals &r, Number z, Number) {
         return Number{r.multiply(r.make<math::SinOp>(z.real), r.make<math::CoshOp>(z.imaginary)),
                       r.multiply(r.make<math::CosOp>(z.real), r.make<math::SinhOp>(z.imaginary))};
       }}};
  return table;
}

static Value compareParts(Operation *op, ValueRange parts, Reals &reals) {
  bool const isEqual = isa<complex::EqualOp>(op);
  auto const how = isEqual ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::UNE;
  Value const real = reals.compare(how, parts[0], parts[2]), imaginary = reals.compare(how, parts[1], parts[3]);
  return isEqual ? reals.make<arith::AndIOp>(real, imaginary) : reals.make<arith::OrIOp>(real, imaginary);
}

SmallVector<Value> ml2k::mlir_import::computeParts(Operation *op, ValueRange parts, OpBuilder &builder) {
  auto const named = dyn_cast<NameLoc>(op->getLoc()); // the name is the result's alone
  Reals reals{builder, named ? named.getChildLoc() : op->getLoc()};
  if (isa<complex::CreateOp>(op))
    return SmallVector<Value>(parts);
  if (auto constant = dyn_cast<complex::ConstantOp>(op)) {
    auto const make = [&](Attribute part) { return reals.make<arith::ConstantOp>(cast<FloatAttr>(part)); };
    return {make(constant.getValue()[0]), make(constant.getValue()[1])};
  }
  if (isa<complex::EqualOp, complex::NotEqualOp>(op))
    return {compareParts(op, parts, reals)};
  auto const found = formulas().find(op->getName().getStringRef());
  if (found == formulas().end())
    return {};
  if (isa<complex::AddOp, complex::SubOp, complex::MulOp>(op)) // whose parts are sums of products
    reals.flags = op->getAttrOfType<arith::FastMathFlagsAttr>("fastmath");
  Number const b = parts.size() == 4 ? Number{parts[2], parts[3]} : Number{};
  Number const result = found->second(reals, {parts[0], parts[1]}, b);
  return result.imaginary ? SmallVector<Value>{result.real, result.imaginary} : SmallVector<Value>{result.real};
}
