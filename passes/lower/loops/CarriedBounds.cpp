//===- CarriedBounds.cpp - what numbers that loops carry are at least ---------------------------------------------===//

#include "passes/lower/loops/CarriedBounds.h"

#include "translator/ir/Exchanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// Whether `next` is `before` times what is at least one, plus what is at least zero.
static bool isGrown(Value next, Value before) {
  if (next == before)
    return true;
  Operation *op = next.getDefiningOp();
  if (!isa_and_nonnull<arith::MulIOp, arith::AddIOp, arith::ShLIOp>(op))
    return false;
  bool const isTurned = op->getOperand(1) == before && !isa<arith::ShLIOp>(op);
  std::optional<int64_t> const by = constantOf(op->getOperand(isTurned ? 0 : 1));
  return op->getOperand(isTurned ? 1 : 0) == before && by && *by >= (isa<arith::MulIOp>(op) ? 1 : 0);
}

/// What a condition says that a value is at least.
static std::optional<int64_t> leastWhere(Value condition, Value value) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    auto const one = leastWhere(both.getLhs(), value), other = leastWhere(both.getRhs(), value);
    return one && other ? std::optional(std::max(*one, *other)) : one ? one : other;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getLhs() != value)
    return std::nullopt;
  std::optional<int64_t> const bound = constantOf(compare.getRhs());
  if (bound && compare.getPredicate() == arith::CmpIPredicate::sge)
    return bound;
  if (bound && compare.getPredicate() == arith::CmpIPredicate::sgt && *bound < std::numeric_limits<int64_t>::max())
    return *bound + 1;
  return std::nullopt;
}

std::optional<int64_t> leastCarried(Value value) {
  auto const argument = dyn_cast<BlockArgument>(value);
  auto const [loop, place] = argument ? exchangeOf(value) : Exchange();
  if (!loop)
    return std::nullopt;
  auto decided = dyn_cast<scf::WhileOp>(loop);
  bool const isInBody = decided && argument.getOwner() == decided.getAfterBody();
  std::optional<int64_t> least;
  if (isInBody)
    least = leastWhere(decided.getConditionOp().getCondition(), decided.getBeforeArguments()[place]);
  // The body of an scf.while may be handed what it carries at another place.
  bool const isPassed = !decided || isInBody;
  if (std::optional<int64_t> const first = constantOf(initsOf(loop)[place]);
      isPassed && first && *first >= 0 && isGrown(yieldsOf(loop)[place], value))
    least = std::max(least.value_or(*first), *first);
  return least;
}

} // namespace ml2k
