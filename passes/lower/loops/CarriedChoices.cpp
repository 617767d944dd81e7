//===- CarriedChoices.cpp - under what conditions a loop changes what it carries ----------------------------------===//

#include "passes/lower/loops/CarriedChoices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

/// Both parts of a condition that holds.
static void addConditions(SmallVectorImpl<std::pair<Value, bool>> &path, Value condition, bool holds) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both || !holds) {
    path.emplace_back(condition, holds);
    return;
  }
  addConditions(path, both.getLhs(), true);
  addConditions(path, both.getRhs(), true);
}

Choice choiceOf(OpOperand &yielded, Value carried) {
  Choice choice{{}, &yielded, 0};
  while (true) {
    Value const value = choice.leaf->get();
    auto const result = dyn_cast<OpResult>(value);
    OpOperand *yes = nullptr, *no = nullptr;
    Value condition;
    if (auto select = value.getDefiningOp<arith::SelectOp>()) {
      condition = select.getCondition();
      yes = &select.getTrueValueMutable(), no = &select.getFalseValueMutable();
    } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      condition = branch.getCondition();
      yes = &branch.thenYield()->getOpOperand(result.getResultNumber());
      no = &branch.elseYield()->getOpOperand(result.getResultNumber());
    }
    bool const isOwn = yes && value.hasOneUse(); // nothing else looks at it
    bool const takes = isOwn && no->get() == carried && yes->get() != carried;
    if (!takes && !(isOwn && yes->get() == carried && no->get() != carried))
      return choice;
    addConditions(choice.path, condition, takes);
    choice.leaf = takes ? yes : no;
    ++choice.depth;
  }
}

std::optional<Comparison> comparisonOf(Value condition, BlockArgument best) {
  Operation *const op = condition.getDefiningOp();
  if (!isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(op) || (op->getOperand(0) == best) == (op->getOperand(1) == best))
    return std::nullopt;
  bool const isSwapped = op->getOperand(0) == best;
  Comparison found{op, op->getOperand(isSwapped ? 1 : 0), false, false};
  auto const is = [&](bool isLess, bool isStrict) {
    found.isLess = isLess != isSwapped;
    found.isStrict = isStrict;
    return found;
  };
  if (auto floats = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    P const predicate = floats.getPredicate();
    bool const isLess = predicate == P::OLT || predicate == P::OLE,
               isStrict = predicate == P::OLT || predicate == P::OGT;
    return isLess || isStrict || predicate == P::OGE ? std::optional(is(isLess, isStrict)) : std::nullopt;
  }
  using P = arith::CmpIPredicate;
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case P::slt:
  case P::ult:
    return is(true, true);
  case P::sle:
  case P::ule:
    return is(true, false);
  case P::sgt:
  case P::ugt:
    return is(false, true);
  case P::sge:
  case P::uge:
    return is(false, false);
  default:
    return std::nullopt;
  }
}

bool comparesUnsigned(Operation *compare) {
  auto integers = dyn_cast<arith::CmpIOp>(compare);
  using P = arith::CmpIPredicate;
  return integers && llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, integers.getPredicate());
}

/// A product, also of either sign or chosen from others.
static bool mayBeProduct(Value value, unsigned depth = 4) {
  Operation *const op = value.getDefiningOp();
  return isa_and_nonnull<arith::MulFOp>(op) ||
         (isa_and_nonnull<arith::NegFOp, arith::SelectOp>(op) &&
          (depth == 0 || llvm::any_of(op->getOperands(), [&](Value part) { return mayBeProduct(part, depth - 1); })));
}

bool isComputedOneWay(Value value, scf::ForOp loop, unsigned depth) {
  Operation *const op = value.getDefiningOp();
  if (!op || !loop->isAncestor(op) || isa<memref::LoadOp>(op))
    return true;
  bool const isSum = isa<arith::AddFOp, arith::SubFOp>(op);
  bool const isKnown = isa<arith::ArithDialect>(op->getDialect()) ||
                       isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::RoundOp,
                           math::RoundEvenOp, math::TruncOp>(op);
  return depth > 0 && isKnown &&
         !(isSum && llvm::any_of(op->getOperands(), [](Value part) { return mayBeProduct(part); })) &&
         llvm::all_of(op->getOperands(), [&](Value part) { return isComputedOneWay(part, loop, depth - 1); });
}

bool isComputedAlike(Value a, Value b, unsigned depth) {
  Operation *const x = a.getDefiningOp(), *const y = b.getDefiningOp();
  return a == b || (depth > 0 && x && y && (isPure(x) || isa<memref::LoadOp>(x)) && x->getNumResults() == 1 &&
                    x->getName() == y->getName() && x->getAttrDictionary() == y->getAttrDictionary() &&
                    x->getResultTypes() == y->getResultTypes() && x->getNumRegions() == 0 &&
                    x->getNumOperands() == y->getNumOperands() &&
                    llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto pair) {
                      return isComputedAlike(std::get<0>(pair), std::get<1>(pair), depth - 1);
                    }));
}

bool joinsTerm(Operation *op, BlockArgument best, Comparison const &by) {
  bool const isJoin = by.isLess ? (comparesUnsigned(by.op) ? isa<arith::MinUIOp>(op) : isa<arith::MinSIOp>(op))
                                : (comparesUnsigned(by.op) ? isa<arith::MaxUIOp>(op) : isa<arith::MaxSIOp>(op));
  return isJoin && llvm::is_contained(op->getOperands(), best) && llvm::is_contained(op->getOperands(), by.term);
}

} // namespace ml2k
