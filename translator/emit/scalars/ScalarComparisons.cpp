//===- ScalarComparisons.cpp - comparisons as C++ -----------------------------------------------------------------===//

#include "translator/emit/scalars/UnsignedForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {

FailureOr<Expression> compareIntegers(Operation *op, Operands a, ScalarPrinter &) {
  auto compare = cast<arith::CmpIOp>(op);
  static constexpr Raw symbols[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  unsigned const predicate = unsigned(compare.getPredicate());
  Rank const rank = predicate < 2 ? Rank::Equality : Rank::Relation;
  bool const isSigned = predicate < unsigned(arith::CmpIPredicate::ult);
  if (operandType(op).isInteger(1)) // a true i1 is -1 as a signed number
    return isSigned && predicate > 1 ? binary(a[1], symbols[predicate], rank, a[0])
                                     : binary(a[0], symbols[predicate], rank, a[1]);
  bool const isOfUnsigned = (predicate < 2 || !isSigned) && (a[0].unsignedForm() || a[1].unsignedForm());
  if (auto const left = unsignedFormOf(op->getOperand(0), a[0]), right = unsignedFormOf(op->getOperand(1), a[1]);
      isOfUnsigned && left && right)
    return binary(*left, symbols[predicate], rank, *right);
  if (isSigned)
    return binary(a[0], symbols[predicate], rank, a[1]);
  Type const type = operandType(op);
  return binary(asUnsigned(type, a[0]), symbols[predicate], rank, asUnsigned(type, a[1]));
}

/// Ordered comparisons are false for NaN, as C++'s are; unordered ones are the negated opposite.
FailureOr<Expression> compareFloats(Operation *op, Operands a, ScalarPrinter &printer) {
  using P = arith::CmpFPredicate;
  auto const relation = [&](Raw symbol) { return binary(a[0], symbol, Rank::Relation, a[1]); };
  auto const eitherWay = [&] {
    Expression const x = printer.repeatable(a[0], operandType(op)), y = printer.repeatable(a[1], operandType(op));
    return binary(binary(x, "<", Rank::Relation, y), "||", Rank::Or, binary(x, ">", Rank::Relation, y));
  };
  auto const isNan = [&](Raw joint, Raw prefix) {
    auto const one = [&](int i) {
      Expression const test = call(Raw("Kokkos::isnan"), {a[i]});
      return prefix.empty() ? test : unary(prefix, test);
    };
    if (op->getOperand(0) == op->getOperand(1) || isConstant(op->getOperand(1)))
      return one(0);
    return binary(one(0), joint, joint == Raw("||") ? Rank::Or : Rank::And, one(1));
  };
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case P::OEQ:
    return binary(a[0], "==", Rank::Equality, a[1]);
  case P::UNE:
    return binary(a[0], "!=", Rank::Equality, a[1]);
  case P::OGT:
    return relation(">");
  case P::OGE:
    return relation(">=");
  case P::OLT:
    return relation("<");
  case P::OLE:
    return relation("<=");
  case P::UGT:
    return unary("!", relation("<="));
  case P::UGE:
    return unary("!", relation("<"));
  case P::ULT:
    return unary("!", relation(">="));
  case P::ULE:
    return unary("!", relation(">"));
  case P::ONE:
    return eitherWay();
  case P::UEQ:
    return unary("!", eitherWay());
  case P::ORD:
    return isNan("&&", "!");
  case P::UNO:
    return isNan("||", "");
  case P::AlwaysTrue:
    return cpp::boolLiteral(true);
  default:
    return cpp::boolLiteral(false);
  }
}

} // namespace ml2k
