//===- RaiseRemainders.cpp - remainders of divisions that round down ----------------------------------------------===//
//
// `%` of Python and mod of affine maps have the sign of the divisor, arith.remsi that of the dividend; front ends write
// the difference out. A person calls floor_mod.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Rewrite.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISEREMAINDERS
#include "passes/prepare/Passes.h.inc"

static std::optional<int64_t> numberOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

static bool isZero(Value value) { return numberOf(value) == 0; }

static Value compared(Value value, Value with, arith::CmpIPredicate predicate) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == predicate && compare.getLhs() == with && isZero(compare.getRhs())
             ? value
             : Value();
}

/// The two operands of a commutative operation for which the checks hold in this order.
template <class Op, class First, class Second> static bool isOf(Value value, First const &first, Second const &second) {
  auto op = value.getDefiningOp<Op>();
  return op && ((first(op.getLhs()) && second(op.getRhs())) || (first(op.getRhs()) && second(op.getLhs())));
}

/// `rest + ((rest >> 63) & divisor)` of a divisor above zero.
static arith::RemSIOp maskedRemainder(arith::AddIOp add) {
  if (!add.getType().isIntOrIndex())
    return {};
  for (auto [from, moved] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    auto rest = from.getDefiningOp<arith::RemSIOp>();
    std::optional<int64_t> const divisor = rest ? numberOf(rest.getRhs()) : std::nullopt;
    unsigned const bits = from.getType().isIndex() ? 64 : from.getType().getIntOrFloatBitWidth();
    auto const isSign = [&, from = from](Value value) {
      auto shift = value.getDefiningOp<arith::ShRSIOp>();
      return shift && shift.getLhs() == from && numberOf(shift.getRhs()) == bits - 1;
    };
    auto const isDivisor = [&](Value value) { return value == rest.getRhs() || numberOf(value) == divisor; };
    if (divisor && *divisor > 0 && isOf<arith::AndIOp>(moved, isSign, isDivisor))
      return rest;
  }
  return {};
}

/// `wrong ? rest + divisor : rest`
static arith::RemSIOp chosenRemainder(arith::SelectOp select) {
  using P = arith::CmpIPredicate;
  auto rest = select.getFalseValue().getDefiningOp<arith::RemSIOp>();
  if (!rest)
    return {};
  Value const divisor = rest.getRhs();
  auto const isRest = [&](Value value) { return value == rest.getResult(); };
  auto const isDivisor = [&](Value value) {
    return value == divisor || (numberOf(value) && numberOf(value) == numberOf(divisor));
  };
  if (!isOf<arith::AddIOp>(select.getTrueValue(), isRest, isDivisor))
    return {};
  auto const isNegative = [&](Value value) { return bool(compared(value, rest, P::slt)); };
  if (numberOf(divisor).value_or(0) > 0 && isNegative(select.getCondition()))
    return rest;
  auto const isUnequal = [&](Value value) { return bool(compared(value, rest, P::ne)); };
  auto const isDivisorNegative = [&](Value value) { return bool(compared(value, divisor, P::slt)); };
  auto const differ = [&](Value value) { return isOf<arith::XOrIOp>(value, isNegative, isDivisorNegative); };
  return isOf<arith::AndIOp>(select.getCondition(), isUnequal, differ) ? rest : arith::RemSIOp();
}

static void raise(Operation *op, arith::RemSIOp rest) {
  if (!rest)
    return;
  OpBuilder builder(op);
  auto made = builder.create<nest::FloorModOp>(op->getLoc(), rest.getType(), rest.getLhs(), rest.getRhs());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(made);
  eraseUnused(op);
}

/// A remainder is 0 or not whatever its sign.
static void compareToZero(arith::CmpIOp compare) {
  auto rest = compare.getLhs().getDefiningOp<nest::FloorModOp>();
  using P = arith::CmpIPredicate;
  if (!rest || !rest->hasOneUse() || !isZero(compare.getRhs()) ||
      !llvm::is_contained({P::eq, P::ne}, compare.getPredicate()))
    return;
  OpBuilder builder(rest);
  compare.getLhsMutable().assign(builder.create<arith::RemSIOp>(rest.getLoc(), rest.getLhs(), rest.getRhs()));
  rest->erase();
}

namespace {
struct RaiseRemainders : impl::RaiseRemaindersBase<RaiseRemainders> {
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, arith::RemSIOp>> found;
    getOperation().walk([&](Operation *op) {
      if (auto add = dyn_cast<arith::AddIOp>(op))
        found.push_back({op, maskedRemainder(add)});
      else if (auto select = dyn_cast<arith::SelectOp>(op))
        found.push_back({op, chosenRemainder(select)});
    });
    for (auto [op, rest] : found)
      raise(op, rest);
    getOperation().walk([&](arith::CmpIOp compare) { compareToZero(compare); });
  }
};
} // namespace
} // namespace ml2k
