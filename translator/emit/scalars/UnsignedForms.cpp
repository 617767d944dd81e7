//===- UnsignedForms.cpp - arithmetic on integers that the caller has as unsigned ---------------------------------===//
//
// `x ^ (x << 13u)`, not `x ^ int(unsigned(x) << 13u)`: what is computed from unsigned memory alone, and constants, is
// computed unsigned, where C++ has integers wrap around as MLIR does. The signed form stands beside it for what asks.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/scalars/UnsignedForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

/// Operations that give the same bits for both signs.
static bool hasNoSign(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
             arith::TruncIOp>(op);
}

static bool isUnsigned(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() >= arith::CmpIPredicate::ult;
  return isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp, arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp,
             arith::MaxUIOp, arith::MinUIOp>(op);
}

bool wantsUnsigned(Value value, unsigned depth) {
  constexpr unsigned deepest = 8;
  return depth < deepest && llvm::any_of(
                                value.getUsers(),
                                [&](Operation *user) {
                                  return isUnsigned(user) ||
                                         (hasNoSign(user) && wantsUnsigned(user->getResult(0), depth + 1));
                                });
}

bool isBetterUnsigned(Value value) {
  return wantsUnsigned(value) || llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           auto store = dyn_cast<memref::StoreOp>(user);
           bool const isChosen = isa<arith::SelectOp>(user) && use.getOperandNumber() > 0;
           return hasNoSign(user) || isUnsigned(user) || isa<arith::CmpIOp>(user) || isChosen ||
                  (store && store.getValue() == value);
         });
}

std::optional<Expression> unsignedFormOf(Value value, Expression const &expression) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && !value.getType().isIndex())
    return cpp::unsignedLiteral(constant.getZExtValue());
  return expression.unsignedForm();
}

/// The operands from `first` on as unsigned numbers, if one of them is one and the others are or may be.
static std::optional<SmallVector<Expression>> formsOf(Operation *op, Operands a, unsigned first = 0) {
  SmallVector<Expression> forms;
  bool hasOne = false;
  for (unsigned i = first; i < a.size(); ++i) {
    std::optional<Expression> const form = unsignedFormOf(op->getOperand(i), a[i]);
    if (!form)
      return std::nullopt;
    hasOne |= a[i].unsignedForm().has_value();
    forms.push_back(*form);
  }
  return hasOne ? std::optional(forms) : std::nullopt;
}

/// C++ computes narrow integers in int, which is too narrow for products and shifts of 16 bits.
static Expression inUnsigned(Operation *op, Expression const &form) {
  bool const overflows = isa<arith::MulIOp, arith::ShLIOp>(op) && op->getResult(0).getType().isInteger(16);
  return overflows ? cpp::cast(Raw("unsigned"), form) : form;
}

static Expression bothForms(Operation *op, Expression const &computed) {
  Type const type = op->getResult(0).getType();
  Expression const form =
      type.getIntOrFloatBitWidth() < 32 ? cpp::cast(unsignedScalarType(type).code, computed) : computed;
  return cpp::cast(resultType(op), form).withUnsignedForm(form);
}

static Print infixToo(Print print, Raw symbol, Rank rank) {
  return [=](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    auto const forms = formsOf(op, a);
    APInt constant;
    if (!forms && isUnsigned(op) && !operandType(op).isIndex() && wantsUnsigned(op->getResult(0))) // both casts cancel
      return bothForms(op, binary(asUnsigned(operandType(op), a[0]), symbol, rank, asUnsigned(operandType(op), a[1])));
    if (!forms)
      return print(op, a, printer);
    if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && constant.isAllOnes())
      return bothForms(op, unary("~", forms->front()));
    return bothForms(op, binary(inUnsigned(op, (*forms)[0]), symbol, rank, (*forms)[1]));
  };
}

/// Which sign it is extended to is not said: as what the result is used for.
static Print extendedToo(Print print) {
  return [=](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    FailureOr<Expression> const wide = print(op, a, printer);
    Value const result = op->getResult(0);
    std::optional<Expression> const form = a[0].unsignedForm();
    if (failed(wide) || !form || !wantsUnsigned(result))
      return wide;
    return wide->withUnsignedForm(cpp::cast(unsignedScalarType(result.getType()).code, *form));
  };
}

static Print truncatedToo(Print print) {
  return [=](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    std::optional<Expression> const form = a[0].unsignedForm();
    if (!form || op->getResult(0).getType().isInteger(1))
      return print(op, a, printer);
    Expression const narrow = cpp::cast(unsignedScalarType(op->getResult(0).getType()).code, *form);
    return cpp::cast(resultType(op), narrow).withUnsignedForm(narrow);
  };
}

static Print chosenToo(Print print) {
  return [=](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    auto const forms = formsOf(op, a, /*first=*/1);
    return forms ? bothForms(op, conditional(a[0], (*forms)[0], (*forms)[1])) : print(op, a, printer);
  };
}

void addUnsignedForms(Table &table) {
  auto const add = [&](StringRef name, auto wrap) {
    Print &print = table.find(name)->second.print;
    print = wrap(print);
  };
  struct Infix {
    StringRef operation;
    Raw symbol;
    Rank rank;
  };
  static constexpr Infix infixes[] = {{"arith.addi", "+", Rank::Add},       {"arith.subi", "-", Rank::Add},
                                      {"arith.muli", "*", Rank::Multiply},  {"arith.andi", "&", Rank::BitAnd},
                                      {"arith.ori", "|", Rank::BitOr},      {"arith.xori", "^", Rank::BitXor},
                                      {"arith.shli", "<<", Rank::Shift},    {"arith.shrui", ">>", Rank::Shift},
                                      {"arith.divui", "/", Rank::Multiply}, {"arith.remui", "%", Rank::Multiply}};
  for (Infix const &infix : infixes)
    add(infix.operation, [&](Print const &print) { return infixToo(print, infix.symbol, infix.rank); });
  add("arith.extui", extendedToo);
  add("arith.trunci", truncatedToo);
  add("arith.select", chosenToo);
}

} // namespace ml2k
