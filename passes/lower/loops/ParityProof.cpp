//===- ParityProof.cpp - subscripts that never agree, since their sums are even and odd ---------------------------===//
//
// A sweep over the red elements of a chessboard reads the black ones next to them: row and column of the one make an
// even sum, those of the other an odd one, whatever the iteration. Sums, products by constants and remainders of even
// numbers keep parities in integers of any width, even where they overflow.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/ParityProof.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr unsigned mostSteps = 64, mostSubscripts = 4, mostFacts = 3, mostAround = 16;

/// Odd where an odd number of these values is, or the other way round.
struct Parity {
  llvm::SmallSetVector<Value, 4> values;
  bool isTurned = false;

  void add(Parity const &other) {
    for (Value value : other.values)
      if (!values.insert(value))
        values.remove(value);
    isTurned ^= other.isTurned;
  }

  bool hasSameValues(Parity const &other) const {
    return values.size() == other.values.size() &&
           llvm::all_of(values, [&](Value value) { return other.values.contains(value); });
  }
};

std::optional<bool> isOddConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant[0];
}

/// Where a loop starts that goes on by an even step.
Value startOfEvenSteps(Value index) {
  auto const argument = dyn_cast<BlockArgument>(index);
  Operation *const op = argument ? argument.getOwner()->getParentOp() : nullptr;
  auto loop = dyn_cast_or_null<scf::ForOp>(op);
  std::optional<int64_t> const step =
      loop && loop.getInductionVar() == index ? getConstantIntValue(loop.getStep()) : std::nullopt;
  return step && *step % 2 == 0 ? loop.getLowerBound() : Value();
}

/// `steps`: how many values may still be looked at.
Parity parityOf(Value value, unsigned &steps) {
  Parity parity;
  if (std::optional<bool> const isOdd = isOddConstant(value)) {
    parity.isTurned = *isOdd;
    return parity;
  }
  Operation *const op = value.getDefiningOp();
  if (steps == 0) {
    parity.values.insert(value);
    return parity;
  }
  --steps;
  if (Value const start = startOfEvenSteps(value))
    return parityOf(start, steps);
  if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return parityOf(op->getOperand(0), steps);
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::XOrIOp>(op)) {
    parity = parityOf(op->getOperand(0), steps);
    parity.add(parityOf(op->getOperand(1), steps));
    return parity;
  }
  std::optional<bool> const isOdd = op && op->getNumOperands() == 2 ? isOddConstant(op->getOperand(1)) : std::nullopt;
  if (isOdd && isa<arith::MulIOp, arith::AndIOp>(op)) // of a mask the last bit counts
    return *isOdd ? parityOf(op->getOperand(0), steps) : parity;
  if (isOdd == false && isa<arith::RemSIOp, arith::RemUIOp>(op))
    return parityOf(op->getOperand(0), steps);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) { // a remainder that is not negative
    Parity const yes = parityOf(select.getTrueValue(), steps), no = parityOf(select.getFalseValue(), steps);
    if (yes.hasSameValues(no) && yes.isTurned == no.isTurned)
      return yes;
  }
  parity.values.insert(value);
  return parity;
}

Parity parityOf(Value value) {
  unsigned steps = mostSteps;
  return parityOf(value, steps);
}

/// Whether a value is the remainder of a division by two, so that it is odd where it is not even: 0, 1 or, perhaps, -1.
bool isRemainder(Value value) {
  Operation *const op = value.getDefiningOp();
  if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return isRemainder(op->getOperand(0));
  APInt constant;
  if (!op || op->getNumOperands() != 2 || !matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return false;
  return isa<arith::RemSIOp, arith::RemUIOp>(op) ? constant == 2 : isa<arith::AndIOp>(op) && constant == 1;
}

/// What is even where a condition holds, or does not hold.
void addFacts(Value condition, bool holds, SmallVectorImpl<Parity> &facts) {
  Operation *const op = condition.getDefiningOp();
  if (!op || facts.size() >= mostFacts)
    return;
  if (holds ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op)) {
    addFacts(op->getOperand(0), holds, facts);
    addFacts(op->getOperand(1), holds, facts);
    return;
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare ||
      (compare.getPredicate() != arith::CmpIPredicate::eq && compare.getPredicate() != arith::CmpIPredicate::ne))
    return;
  Parity fact = parityOf(compare.getLhs());
  bool const areEqual = (compare.getPredicate() == arith::CmpIPredicate::eq) == holds;
  if (areEqual) {
    fact.add(parityOf(compare.getRhs()));
    facts.push_back(fact);
  } else if (isRemainder(compare.getLhs()) && matchPattern(compare.getRhs(), m_Zero())) {
    fact.isTurned ^= true;
    facts.push_back(fact);
  }
}

SmallVector<Parity> factsAt(Operation *op, scf::ForOp loop) {
  SmallVector<Parity> facts;
  for (unsigned i = 0; i < mostAround && op != loop && op->getParentOp(); ++i, op = op->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(op->getParentOp()))
      addFacts(branch.getCondition(), op->getParentRegion() == &branch.getThenRegion(), facts);
  return facts;
}

/// The sums of subscripts whose parity is the same in all iterations of the loop, by which subscripts these are.
SmallVector<std::optional<Parity>> parities(PlaceOf place, scf::ForOp loop) {
  SmallVector<Parity> const facts = factsAt(place.op, loop);
  auto const subscripts = llvm::map_to_vector(place.subscripts, [](Value value) { return parityOf(value); });
  auto const varies = [&](Value value) { return loop->isAncestor(value.getParentRegion()->getParentOp()); };
  auto const sumOf = [](ArrayRef<Parity> all, unsigned which, Parity sum) {
    for (auto [i, parity] : llvm::enumerate(all))
      if (which >> i & 1)
        sum.add(parity);
    return sum;
  };
  SmallVector<std::optional<Parity>> found(size_t(1) << subscripts.size());
  for (unsigned which = 1; which < found.size(); ++which)
    for (unsigned with = 0; with < 1U << facts.size() && !found[which]; ++with)
      if (Parity const sum = sumOf(facts, with, sumOf(subscripts, which, {})); llvm::none_of(sum.values, varies))
        found[which] = sum;
  return found;
}

} // namespace

bool differInParity(PlaceOf a, PlaceOf b, scf::ForOp loop) {
  size_t const rank = a.subscripts.size();
  auto const isAnywhere = [](PlaceOf place) { return llvm::any_of(place.subscripts, [](Value at) { return !at; }); };
  if (rank != b.subscripts.size() || rank > mostSubscripts || isAnywhere(a) || isAnywhere(b))
    return false;
  return llvm::any_of(llvm::zip(parities(a, loop), parities(b, loop)), [](auto const &pair) {
    auto const &[x, y] = pair;
    return x && y && x->hasSameValues(*y) && x->isTurned != y->isTurned;
  });
}

} // namespace ml2k
