//===- DigitsProof.cpp - subscripts whose parts are like digits of a number ---------------------------------------===//
//
// Two accesses meet where the differences of their subscripts are zero. Such a difference is a polynomial:
// (i - i') * m + (j - j'), with i and i' for the index in one iteration and in the other. Where all of it that is no
// multiple of m is between -m and m, both parts are zero. What is left at last says which indices are equal. The proof
// succeeds if that of the loop is one of them, or if a difference is never zero.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/DigitsProof.h"

#include "passes/lower/loops/CarriedBounds.h"
#include "passes/lower/loops/IndexPolynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr unsigned mostUnknowns = 24, mostOperations = 64, mostEquations = 12, mostParents = 16, mostRounds = 3;

/// A number of both accesses. It has one unknown if it is the same for them, two if it varies.
struct Number {
  Value value; ///< null for quotients, remainders and iterations in steps
  bool varies = false;
  unsigned depth = 0; ///< of the loop it is an index of, from outside
  std::optional<int64_t> least;
  std::optional<IndexPolynomial> lower, upper; ///< inclusive
  /// Of quotients and remainders
  std::optional<IndexPolynomial> dividend, divisor;
  bool isQuotient = false;
  /// An index may be lower + scale * number; then `upper` is that of scale * number.
  bool isCounted = false;
  IndexPolynomial scale = 1;
  bool isEqual = false; ///< in both accesses, if they meet
};

unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  while ((op = op->getParentOp()))
    ++depth;
  return depth;
}

class Digits {
public:
  explicit Digits(scf::ForOp loop) : loop(loop) {}

  bool neverMeet(PlaceOf a, PlaceOf b) {
    addExecuted(a.op);
    addExecuted(b.op);
    for (auto [x, y] : llvm::zip(a.subscripts, b.subscripts))
      if (x && y)
        addEquation(formOf(x) - ofOther(formOf(y)));
    IndexPolynomial const index = formOf(loop.getInductionVar());
    for (unsigned round = 0; round < mostRounds; ++round) // what was found equal changes equations
      for (unsigned i = 0; i < equations.size(); ++i) {   // which grow
        if (isNeverZero(equations[i]))
          return true;
        split(i);
      }
    return isDetermined(index);
  }

private:
  //===--- Unknowns -----------------------------------------------------------------------------------------------===//

  // Number n is unknown 2 n in the first access and 2 n + 1 in the second one, if it varies.
  Number &numberOf(unsigned unknown) { return numbers[unknown / 2]; }

  IndexPolynomial ofOther(IndexPolynomial const &form) {
    return form.renumbered([&](unsigned unknown) { return numberOf(unknown).varies ? unknown ^ 1 : unknown; });
  }

  bool isShared(IndexPolynomial const &form) {
    return llvm::all_of(form.terms(), [&](auto const &term) {
      return llvm::none_of(term.first, [&](unsigned unknown) { return numberOf(unknown).varies; });
    });
  }

  static IndexPolynomial unknownTooMany() {
    IndexPolynomial const large = IndexPolynomial(std::numeric_limits<int64_t>::max());
    return large * large;
  }

  IndexPolynomial added(Number number) {
    if (numbers.size() == mostUnknowns)
      return unknownTooMany();
    numbers.push_back(std::move(number));
    return IndexPolynomial::unknown(2 * (numbers.size() - 1));
  }

  bool isInvariant(Value value, unsigned depth = 4) {
    if (loop.isDefinedOutsideOfLoop(value))
      return true;
    Operation *op = value.getDefiningOp();
    return op && depth > 0 && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand, depth - 1); });
  }

  /// An index or what nothing is known of.
  IndexPolynomial symbolOf(Value value) {
    for (auto [place, number] : llvm::enumerate(numbers))
      if (number.value == value)
        return number.isCounted ? *number.lower + number.scale * IndexPolynomial::unknown(2 * place)
                                : IndexPolynomial::unknown(2 * place);
    Number number;
    number.value = value;
    number.varies = !isInvariant(value);
    number.least = leastCarried(value);
    if (value.getDefiningOp<memref::DimOp>())
      number.least = 0;
    if (auto shift = value.getDefiningOp<arith::ShLIOp>())
      if (APInt one; matchPattern(shift.getLhs(), m_ConstantInt(&one)) && one.isStrictlyPositive())
        number.least = 1;
    auto const argument = dyn_cast<BlockArgument>(value);
    auto around = argument ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp()) : LoopLikeOpInterface();
    std::optional<SmallVector<Value>> const indices = around ? around.getLoopInductionVars() : std::nullopt;
    auto const *place = indices ? llvm::find(*indices, value) : nullptr;
    if (!indices || place == indices->end())
      return added(std::move(number));
    size_t const which = place - indices->begin();
    auto const lowers = around.getLoopLowerBounds(), uppers = around.getLoopUpperBounds(),
               steps = around.getLoopSteps();
    if (!lowers || !uppers || !steps)
      return added(std::move(number));
    IndexPolynomial const lower = boundOf((*lowers)[which]), last = lastOf((*uppers)[which], lower);
    number.depth = depthOf(around);
    number.scale = boundOf((*steps)[which]);
    number.isCounted = !(number.scale == 1) || !isShared(lower);
    number.lower = lower;
    number.upper = number.isCounted ? last - lower : last;
    addNonNegative(number.scale - 1);
    IndexPolynomial const count = added(number);
    return number.isCounted ? lower + number.scale * count : count;
  }

  /// The last index in front of a bound, which may be the least of two: of these, one that is as far from `lower` in
  /// all iterations, if there is one.
  IndexPolynomial lastOf(OpFoldResult bound, IndexPolynomial const &lower) {
    Value value = dyn_cast<Value>(bound);
    while (value && value.getDefiningOp<arith::IndexCastOp>())
      value = value.getDefiningOp()->getOperand(0);
    if (auto least = value ? value.getDefiningOp<arith::MinSIOp>() : arith::MinSIOp()) {
      IndexPolynomial const one = formOf(least.getLhs()), other = formOf(least.getRhs());
      return (isShared(other - lower) ? other : one) - 1;
    }
    return boundOf(bound) - 1;
  }

  IndexPolynomial boundOf(OpFoldResult bound) {
    if (auto value = dyn_cast<Value>(bound))
      return formOf(value);
    return *getConstantIntValue(bound);
  }

  IndexPolynomial quotientOf(IndexPolynomial dividend, IndexPolynomial divisor, bool isQuotient) {
    if (!dividend.isKnown() || !divisor.isKnown() || !isShared(divisor))
      return unknownTooMany();
    if (isQuotient) // floor(floor(p / a) / b) = floor(p / (a * b))
      if (Number const *inner = onlyNumberOf(dividend); inner && inner->isQuotient) {
        divisor = divisor * *inner->divisor;
        dividend = *inner->dividend;
      }
    for (auto [place, number] : llvm::enumerate(numbers))
      if (number.dividend && number.isQuotient == isQuotient && *number.dividend == dividend &&
          *number.divisor == divisor)
        return IndexPolynomial::unknown(2 * place);
    Number number;
    number.varies = !isShared(dividend);
    for (auto const &[product, coefficient] : dividend.terms())
      for (unsigned unknown : product)
        number.depth = std::max(number.depth, numberOf(unknown).depth);
    number.dividend = dividend;
    number.divisor = divisor;
    number.isQuotient = isQuotient;
    if (isQuotient && isNonNegative(dividend))
      number.lower = 0;
    if (!isQuotient) {
      number.lower = 0;
      number.upper = divisor - 1;
    }
    return added(std::move(number));
  }

  Number const *onlyNumberOf(IndexPolynomial const &form) {
    auto const &terms = form.terms();
    bool const isOne = terms.size() == 1 && terms.begin()->first.size() == 1 && terms.begin()->second == 1;
    return isOne ? &numberOf(terms.begin()->first.front()) : nullptr;
  }

  //===--- Forms of integers --------------------------------------------------------------------------------------===//

  /// Of the first access.
  IndexPolynomial formOf(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    Operation *const op = value.getDefiningOp();
    if (!op || operations == mostOperations)
      return symbolOf(value);
    ++operations;
    IndexPolynomial form = unknownTooMany();
    if (isa<arith::IndexCastOp>(op))
      return formOf(op->getOperand(0));
    if (isa<arith::AddIOp>(op))
      form = formOf(op->getOperand(0)) + formOf(op->getOperand(1));
    else if (isa<arith::SubIOp>(op))
      form = formOf(op->getOperand(0)) - formOf(op->getOperand(1));
    else if (isa<arith::MulIOp>(op))
      form = formOf(op->getOperand(0)) * formOf(op->getOperand(1));
    else if (isa<arith::SelectOp>(op))
      form = remainderOf(cast<arith::SelectOp>(op));
    else if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      form = divisionOf(op);
    return form.isKnown() ? form : symbolOf(value);
  }

  /// Of a division by what is above zero; those that round to zero, of what is not negative.
  IndexPolynomial divisionOf(Operation *op) {
    IndexPolynomial const dividend = formOf(op->getOperand(0)), divisor = formOf(op->getOperand(1));
    if (!isNonNegative(divisor - 1) || !(isa<arith::FloorDivSIOp>(op) || isNonNegative(dividend)))
      return unknownTooMany();
    return quotientOf(dividend, divisor, !isa<arith::RemSIOp, arith::RemUIOp>(op));
  }

  /// A remainder that is not negative: r + m where it is, else r.
  IndexPolynomial remainderOf(arith::SelectOp select) {
    auto remainder = select.getFalseValue().getDefiningOp<arith::RemSIOp>();
    auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
    if (!remainder || !sum || sum.getLhs() != remainder || sum.getRhs() != remainder.getRhs() ||
        !isOfOtherSign(select.getCondition(), remainder))
      return unknownTooMany();
    IndexPolynomial const divisor = formOf(remainder.getRhs());
    if (!isNonNegative(divisor - 1))
      return unknownTooMany();
    return quotientOf(formOf(remainder.getLhs()), divisor, false);
  }

  static bool isBelowZero(Value condition, Value value) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    return compare && compare.getPredicate() == arith::CmpIPredicate::slt && compare.getLhs() == value &&
           matchPattern(compare.getRhs(), m_Zero());
  }

  /// r < 0, or r != 0 and (r < 0) != (m < 0), for a divisor m above zero.
  static bool isOfOtherSign(Value condition, arith::RemSIOp remainder) {
    if (isBelowZero(condition, remainder))
      return true;
    auto both = condition.getDefiningOp<arith::AndIOp>();
    if (!both)
      return false;
    for (auto [one, other] : {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())}) {
      auto differs = one.getDefiningOp<arith::CmpIOp>();
      auto signs = other.getDefiningOp<arith::XOrIOp>();
      if (differs && signs && differs.getPredicate() == arith::CmpIPredicate::ne && differs.getLhs() == remainder &&
          matchPattern(differs.getRhs(), m_Zero()) && isBelowZero(signs.getLhs(), remainder) &&
          isBelowZero(signs.getRhs(), remainder.getRhs()))
        return true;
    }
    return false;
  }

  //===--- Bounds -------------------------------------------------------------------------------------------------===//

  /// The loops around an operation that runs have an iteration.
  void addExecuted(Operation *op) {
    for (unsigned i = 0; i < mostParents && op; ++i, op = op->getParentOp()) {
      auto around = dyn_cast<LoopLikeOpInterface>(op);
      auto const lowers = around ? around.getLoopLowerBounds() : std::nullopt;
      auto const uppers = around ? around.getLoopUpperBounds() : std::nullopt;
      if (!lowers || !uppers)
        continue;
      for (auto [lower, upper] : llvm::zip(*lowers, *uppers)) {
        addDivisor(lower, upper);
        addNonNegative(boundOf(upper) - boundOf(lower) - 1);
      }
    }
  }

  /// Where a quotient of what is not negative is more than zero, its divisor is.
  void addDivisor(OpFoldResult lower, OpFoldResult upper) {
    Value quotient = dyn_cast<Value>(upper);
    while (quotient && quotient.getDefiningOp<arith::IndexCastOp>())
      quotient = quotient.getDefiningOp()->getOperand(0);
    Operation *const op = quotient ? quotient.getDefiningOp() : nullptr;
    if (isa_and_nonnull<arith::FloorDivSIOp, arith::DivSIOp>(op) && getConstantIntValue(lower).value_or(-1) >= 0 &&
        isNonNegative(formOf(op->getOperand(0))))
      addNonNegative(formOf(op->getOperand(1)) - 1);
  }

  /// What a form that is not negative says of its only term.
  void addNonNegative(IndexPolynomial const &form) {
    int64_t const constant = form.constant();
    if (!form.isKnown() || form.terms().size() != (constant ? 2 : 1) || constant > 0)
      return;
    auto const &[product, coefficient] = *form.terms().rbegin();
    if (product.empty() || coefficient <= 0 || !isShared(form))
      return;
    if (product.size() == 1) {
      auto &least = numberOf(product.front()).least;
      least =
          std::max(least.value_or(std::numeric_limits<int64_t>::min()), llvm::divideCeilSigned(-constant, coefficient));
    } else if (constant < 0 && llvm::all_of(product, [&](unsigned factor) { return numberOf(factor).least >= 0; })) {
      for (unsigned factor : product) // none of them is zero
        numberOf(factor).least = std::max<int64_t>(*numberOf(factor).least, 1);
    }
  }

  /// True if it is never below zero: with what varies at its least, and each unknown as a sum of what it is at least
  /// and a number that is not negative, no coefficient is.
  bool isNonNegative(IndexPolynomial const &form, unsigned depth = 0) {
    std::optional<IndexPolynomial> low = form.isKnown() ? extreme(form, false, depth) : std::nullopt;
    if (!low)
      return false;
    for (unsigned place = 0; place < numbers.size(); ++place)
      if (low->has(2 * place)) {
        std::optional<int64_t> least = numbers[place].least;
        if (!least && numbers[place].lower && isConstant(*numbers[place].lower))
          least = numbers[place].isCounted ? 0 : numbers[place].lower->constant();
        if (!least)
          return false;
        low = low->substituted(2 * place, IndexPolynomial::unknown(2 * place) + *least);
      }
    return low->isKnown() && llvm::all_of(low->terms(), [](auto const &term) { return term.second >= 0; });
  }

  static bool isConstant(IndexPolynomial const &form) {
    return llvm::all_of(form.terms(), [](auto const &term) { return term.first.empty(); });
  }

  /// The most or the least that a form can be, in terms of what both accesses share; nothing if that is not known.
  std::optional<IndexPolynomial> extreme(IndexPolynomial form, bool most, unsigned depth) {
    if (depth > 4)
      return std::nullopt;
    for (unsigned i = 0; i <= 2 * mostUnknowns; ++i) {
      std::optional<unsigned> const next = innermost(form);
      if (!next || !form.isKnown())
        break;
      auto const [factor, rest] = form.by(*next);
      std::optional<IndexPolynomial> const product = extremeProduct(factor, *next, most, depth);
      if (!product)
        return std::nullopt;
      form = *product + rest;
    }
    return form.isKnown() && isShared(form) ? std::optional(form) : std::nullopt;
  }

  std::optional<unsigned> innermost(IndexPolynomial const &form) {
    std::optional<unsigned> found;
    for (auto const &[product, coefficient] : form.terms())
      for (unsigned unknown : product)
        if (numberOf(unknown).varies && (!found || numberOf(unknown).depth > numberOf(*found).depth))
          found = unknown;
    return found;
  }

  /// Of factor * unknown
  std::optional<IndexPolynomial> extremeProduct(IndexPolynomial const &factor, unsigned unknown, bool most,
                                                unsigned depth) {
    Number const number = numberOf(unknown);
    bool const isUp = isNonNegative(factor, depth + 1);
    if (!factor.isKnown() || !(isUp || isNonNegative(IndexPolynomial() - factor, depth + 1)))
      return std::nullopt;
    auto const onSide = [&](IndexPolynomial const &form) { return unknown & 1 ? ofOther(form) : form; };
    bool const isUpper = isUp == most;
    if (!number.isCounted) {
      auto const &bound = isUpper ? number.upper : number.lower;
      return bound ? std::optional(factor * onSide(*bound)) : std::nullopt;
    }
    if (!isUpper)
      return IndexPolynomial();
    auto const [count, left] = factor.dividedBy(number.scale);
    return left.isZero() ? std::optional(count * onSide(*number.upper)) : std::nullopt;
  }

  bool isBelow(IndexPolynomial const &form, IndexPolynomial const &bound) {
    std::optional<IndexPolynomial> const high = extreme(form, true, 0);
    return high && isNonNegative(bound - *high - 1);
  }

  bool isNeverZero(IndexPolynomial const &form) {
    IndexPolynomial const negative = IndexPolynomial() - form;
    return isNonNegative(form - 1) || isNonNegative(negative - 1);
  }

  //===--- Equations ----------------------------------------------------------------------------------------------===//

  void addEquation(IndexPolynomial const &form) {
    if (!form.isKnown() || form.isZero() || equations.size() == mostEquations || llvm::is_contained(equations, form))
      return;
    equations.push_back(form);
  }

  /// An equation whose rest is less than a factor of its other part is one of both.
  void split(unsigned which) {
    IndexPolynomial const form = equations[which];
    if (isDifference(form))
      return addSumsOfParts(form);
    SmallVector<unsigned> unknowns;
    for (auto const &[product, coefficient] : form.terms())
      for (unsigned unknown : product)
        if (numberOf(unknown).varies && !llvm::is_contained(unknowns, unknown))
          unknowns.push_back(unknown);
    for (unsigned unknown : unknowns) {
      IndexPolynomial const factor = form.by(unknown).factor;
      if (!factor.isKnown() || !isShared(factor) || factor == 1 || !isNonNegative(factor - 1))
        continue;
      auto const [coarse, rest] = form.dividedBy(factor);
      if (coarse.isZero() || !coarse.isKnown() || !isBelow(rest, factor) || !isBelow(IndexPolynomial() - rest, factor))
        continue;
      addEquation(coarse);
      addEquation(rest);
      return;
    }
    addSumsOfParts(form);
  }

  /// t in place of m * q + r; and of r alone t - m * q.
  void addSumsOfParts(IndexPolynomial const &form) {
    for (unsigned place = 0; place < numbers.size(); ++place)
      for (unsigned side : {0u, 1u}) {
        unsigned const unknown = 2 * place + side;
        Number const number = numbers[place];
        if (!number.dividend || number.isQuotient || (side && !number.varies) || !form.has(unknown))
          continue;
        IndexPolynomial const whole =
            *number.dividend - *number.divisor * quotientOf(*number.dividend, *number.divisor, true);
        IndexPolynomial const changed = form.substituted(unknown, side ? ofOther(whole) : whole);
        if (changed.isKnown())
          return addEquation(changed);
      }
  }

  /// v = v', of one number that varies.
  bool isDifference(IndexPolynomial const &form) {
    auto const &terms = form.terms();
    if (terms.size() != 2 || terms.begin()->second != -terms.rbegin()->second)
      return false;
    auto const &one = terms.begin()->first, &other = terms.rbegin()->first;
    if (one.size() != 1 || other.size() != 1 || (one.front() ^ other.front()) != 1)
      return false;
    numberOf(one.front()).isEqual = true;
    for (IndexPolynomial &equation : equations)
      if (!(equation == form))
        equation = equation.substituted(one.front() | 1, IndexPolynomial::unknown(one.front() & ~1U));
    return true;
  }

  /// Whether an integer is the same for both accesses, if they meet.
  bool isDetermined(IndexPolynomial const &form) {
    return hasEqualParts(form) || llvm::all_of(form.terms(), [&](auto const &term) {
             return llvm::all_of(term.first, [&](unsigned unknown) {
               Number const &number = numberOf(unknown);
               return !number.varies || number.isEqual || hasEqualParts(IndexPolynomial::unknown(unknown & ~1U));
             });
           });
  }

  /// By quotient and remainder of one division.
  bool hasEqualParts(IndexPolynomial const &dividend, unsigned depth = 4) {
    for (unsigned place = 0; depth > 0 && place < numbers.size(); ++place) {
      Number const number = numbers[place];
      if (!number.dividend || number.isQuotient || !number.isEqual || !(*number.dividend == dividend))
        continue;
      IndexPolynomial const quotient = quotientOf(dividend, *number.divisor, true);
      Number const *found = onlyNumberOf(quotient);
      if (found && (found->isEqual || hasEqualParts(quotient, depth - 1)))
        return true;
    }
    return false;
  }

  scf::ForOp loop;
  std::vector<Number> numbers;
  std::vector<IndexPolynomial> equations;
  unsigned operations = 0;
};

} // namespace

bool haveDifferentDigits(PlaceOf a, PlaceOf b, scf::ForOp loop) { return Digits(loop).neverMeet(a, b); }

} // namespace ml2k
