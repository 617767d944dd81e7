//===- PairsProof.cpp - elements that are exchanged in pairs ------------------------------------------------------===//
//
// i and j = i ^ mask are partners: j's is i. Of the two iterations that could touch both elements, a condition such as
// j > i holds in one.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/PairsProof.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr unsigned mostBranches = 16;

Value uncast(Value value) {
  while (value && value.getDefiningOp<arith::IndexCastOp>())
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool isIndex(Value value, scf::ForOp loop) { return uncast(value) == loop.getInductionVar(); }

/// The mask of i ^ mask, which is the same in all iterations; null for others.
Value maskOf(Value value, scf::ForOp loop) {
  value = uncast(value);
  auto partner = value ? value.getDefiningOp<arith::XOrIOp>() : arith::XOrIOp();
  if (!partner)
    return {};
  for (auto [index, mask] :
       {std::pair(partner.getLhs(), partner.getRhs()), std::pair(partner.getRhs(), partner.getLhs())})
    if (isIndex(index, loop) && loop.isDefinedOutsideOfLoop(uncast(mask)))
      return uncast(mask);
  return {};
}

/// The mask of the partner that a condition compares with the index, and whether the partner is greater.
std::optional<std::pair<Value, bool>> orderOf(Value condition, bool holds, scf::ForOp loop) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>(); both && holds) {
    auto const one = orderOf(both.getLhs(), true, loop);
    return one ? one : orderOf(both.getRhs(), true, loop);
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  Predicate const predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  bool const isGreater = predicate == Predicate::sgt, isLess = predicate == Predicate::slt;
  if (!isGreater && !isLess)
    return std::nullopt;
  if (Value const mask = maskOf(compare.getLhs(), loop); mask && isIndex(compare.getRhs(), loop))
    return std::pair(mask, isGreater);
  if (Value const mask = maskOf(compare.getRhs(), loop); mask && isIndex(compare.getLhs(), loop))
    return std::pair(mask, isLess);
  return std::nullopt;
}

std::optional<std::pair<Value, bool>> orderAt(Operation *op, scf::ForOp loop) {
  for (unsigned i = 0; i < mostBranches && op != loop && op->getParentOp(); ++i, op = op->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(op->getParentOp()))
      if (auto const order = orderOf(branch.getCondition(), op->getParentRegion() == &branch.getThenRegion(), loop))
        return order;
  return std::nullopt;
}

} // namespace

bool areOfOnePair(PlaceOf a, PlaceOf b, scf::ForOp loop) {
  auto const order = orderAt(a.op, loop);
  if (!order || order != orderAt(b.op, loop))
    return false;
  auto const isOfPair = [&](Value at) { return at && (isIndex(at, loop) || maskOf(at, loop) == order->first); };
  return llvm::any_of(llvm::zip(a.subscripts, b.subscripts),
                      [&](auto const &pair) { return isOfPair(std::get<0>(pair)) && isOfPair(std::get<1>(pair)); });
}

} // namespace ml2k
