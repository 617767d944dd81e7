//===- Combiners.cpp - what a reduction joins, read off the body of linalg.generic --------------------------------===//
//
// One table says which operation is which combiner; compare-and-select is brought to "term P accumulator ? term :
// accumulator" first. A compare that lets a NaN in but not out again depends on the order of the terms and is not
// matched.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/Combiners.h"

#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using ml2k::nest::Combiner;

//===--- The table ------------------------------------------------------------------------------------------------===//

namespace {
using Create = Value (*)(OpBuilder &, Location, Value, Value);

struct CombinerRow {
  Combiner combiner;
  StringRef operation;
  Create create;
};

template <class Op> Value create(OpBuilder &builder, Location loc, Value a, Value b) {
  return builder.create<Op>(loc, a, b);
}

template <class Op> CombinerRow row(Combiner combiner) { return {combiner, Op::getOperationName(), create<Op>}; }
} // namespace

static ArrayRef<CombinerRow> combinerTable() {
  static CombinerRow const rows[] = {row<arith::AddFOp>(Combiner::Sum),       row<arith::AddIOp>(Combiner::Sum),
                                     row<arith::MulFOp>(Combiner::Prod),      row<arith::MulIOp>(Combiner::Prod),
                                     row<arith::MaximumFOp>(Combiner::Max),   row<arith::MinimumFOp>(Combiner::Min),
                                     row<arith::MaxNumFOp>(Combiner::MaxNum), row<arith::MinNumFOp>(Combiner::MinNum),
                                     row<arith::MaxSIOp>(Combiner::MaxSI),    row<arith::MinSIOp>(Combiner::MinSI),
                                     row<arith::MaxUIOp>(Combiner::MaxUI),    row<arith::MinUIOp>(Combiner::MinUI),
                                     row<arith::AndIOp>(Combiner::And),       row<arith::OrIOp>(Combiner::Or),
                                     row<arith::XOrIOp>(Combiner::Xor)};
  return rows;
}

static bool isFloatOperation(StringRef name) { return name.ends_with("f"); }

Value ml2k::combine(OpBuilder &builder, Location loc, Combiner combiner, Value a, Value b) {
  bool const isFloat = isa<FloatType>(a.getType());
  for (CombinerRow const &entry : combinerTable())
    if (entry.combiner == combiner && isFloatOperation(entry.operation) == isFloat)
      return entry.create(builder, loc, a, b);
  llvm_unreachable("a combiner for a type that it does not join");
}

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

/// A body whose accumulator is joined by one operation of the table.
static std::optional<ml2k::Reduction> matchOperation(BlockArgument accumulator, Value result) {
  Operation *op = result.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || !accumulator.hasOneUse() || *accumulator.user_begin() != op)
    return std::nullopt;
  for (CombinerRow const &entry : combinerTable())
    if (op->getName().getStringRef() == entry.operation)
      return ml2k::Reduction{entry.combiner, op->getOperand(op->getOperand(0) == accumulator ? 1 : 0)};
  return std::nullopt;
}

/// Which of larger and smaller a compare "term P accumulator" keeps; nothing where a NaN would enter.
static std::optional<Combiner> keptBy(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
    return Combiner::MaxNum;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
    return Combiner::MinNum;
  default:
    return std::nullopt;
  }
}

static std::optional<Combiner> keptBy(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    return Combiner::MaxSI;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
    return Combiner::MinSI;
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    return Combiner::MaxUI;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
    return Combiner::MinUI;
  default:
    return std::nullopt;
  }
}

/// a P b as b P' a.
static arith::CmpFPredicate swapped(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  static std::pair<P, P> const pairs[] = {{P::OGT, P::OLT}, {P::OGE, P::OLE}, {P::UGT, P::ULT}, {P::UGE, P::ULE}};
  for (auto [one, other] : pairs) {
    if (predicate == one)
      return other;
    if (predicate == other)
      return one;
  }
  return predicate;
}

static arith::CmpIPredicate swapped(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  static std::pair<P, P> const pairs[] = {{P::sgt, P::slt}, {P::sge, P::sle}, {P::ugt, P::ult}, {P::uge, P::ule}};
  for (auto [one, other] : pairs) {
    if (predicate == one)
      return other;
    if (predicate == other)
      return one;
  }
  return predicate;
}

static arith::CmpFPredicate inverted(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  static std::pair<P, P> const pairs[] = {{P::OGT, P::ULE}, {P::OGE, P::ULT}, {P::OLT, P::UGE}, {P::OLE, P::UGT}};
  for (auto [one, other] : pairs) {
    if (predicate == one)
      return other;
    if (predicate == other)
      return one;
  }
  return predicate;
}

static arith::CmpIPredicate inverted(arith::CmpIPredicate predicate) { return arith::invertPredicate(predicate); }

namespace {
/// select(compare, ...) as "term P accumulator", true where the term is taken.
struct Choice {
  std::optional<Combiner> kept;
  bool strict = false; // equal terms do not replace the accumulator
  Value term;
};
} // namespace

static bool isStrict(arith::CmpFPredicate p) {
  return p == arith::CmpFPredicate::OGT || p == arith::CmpFPredicate::OLT;
}
static bool isStrict(arith::CmpIPredicate p) {
  using P = arith::CmpIPredicate;
  return p == P::sgt || p == P::slt || p == P::ugt || p == P::ult;
}

/// `takesTerm`: the select takes the term where the compare holds.
template <class Compare> static std::optional<Choice> readCompare(Compare compare, Value accumulator, bool takesTerm) {
  if (!compare || (compare.getLhs() != accumulator && compare.getRhs() != accumulator))
    return std::nullopt;
  bool const termFirst = compare.getRhs() == accumulator;
  auto predicate = compare.getPredicate();
  if (!takesTerm)
    predicate = inverted(predicate);
  if (!termFirst)
    predicate = swapped(predicate);
  return Choice{keptBy(predicate), isStrict(predicate), termFirst ? compare.getLhs() : compare.getRhs()};
}

static std::optional<Choice> readCondition(Value condition, Value accumulator, bool takesTerm) {
  if (auto choice = readCompare(condition.getDefiningOp<arith::CmpFOp>(), accumulator, takesTerm))
    return choice;
  return readCompare(condition.getDefiningOp<arith::CmpIOp>(), accumulator, takesTerm);
}

std::optional<ml2k::ChosenExtreme> ml2k::matchChosenExtreme(arith::SelectOp select, Value accumulator) {
  if (select.getTrueValue() != accumulator && select.getFalseValue() != accumulator)
    return std::nullopt;
  bool const takesTerm = select.getFalseValue() == accumulator;
  auto const choice = readCondition(select.getCondition(), accumulator, takesTerm);
  if (!choice || !choice->kept || choice->term != (takesTerm ? select.getTrueValue() : select.getFalseValue()))
    return std::nullopt;
  return ml2k::ChosenExtreme{*choice->kept, choice->term, {}};
}

std::optional<ml2k::ChosenExtreme> ml2k::matchGuardedExtreme(arith::SelectOp select, Value accumulator) {
  auto both = select.getCondition().getDefiningOp<arith::AndIOp>();
  if (!both || select.getFalseValue() != accumulator)
    return std::nullopt;
  std::optional<Choice> choices[2];
  for (auto [choice, condition] : llvm::zip(choices, both->getOperands()))
    choice = readCondition(condition, accumulator, /*takesTerm=*/true);
  if (choices[0].has_value() == choices[1].has_value())
    return std::nullopt;
  Choice const &choice = choices[0] ? *choices[0] : *choices[1];
  if (!choice.kept || choice.term != select.getTrueValue())
    return std::nullopt;
  return ml2k::ChosenExtreme{*choice.kept, choice.term, both->getOperand(choices[0] ? 1 : 0)};
}

/// A body that compares and selects, and does nothing else with the accumulator.
static std::optional<ml2k::Reduction> matchSelect(BlockArgument accumulator, Value result) {
  auto select = result.getDefiningOp<arith::SelectOp>();
  auto const choice = select ? ml2k::matchChosenExtreme(select, accumulator) : std::nullopt;
  if (!choice || !llvm::all_of(accumulator.getUsers(), [&](Operation *user) {
        return user == select || user == select.getCondition().getDefiningOp();
      }))
    return std::nullopt;
  return ml2k::Reduction{choice->combiner, choice->term};
}

std::optional<ml2k::Reduction> ml2k::matchReduction(linalg::GenericOp op, unsigned result) {
  BlockArgument const accumulator = op.getRegionOutputArgs()[result];
  Value const value = yielded(op, result);
  if (auto reduction = matchOperation(accumulator, value))
    return reduction;
  return matchSelect(accumulator, value);
}

/// The combiner of the value beside a position, which may use its accumulator in the compare as well.
static std::optional<Combiner> matchExtreme(Value result, Value accumulator, Value term) {
  Operation *op = result.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    bool const takesTerm = select.getFalseValue() == accumulator;
    auto const choice = readCondition(select.getCondition(), accumulator, takesTerm);
    return choice && choice->term == term ? choice->kept : std::nullopt;
  }
  if (!op || op->getNumOperands() != 2 || !llvm::is_contained(op->getOperands(), accumulator) ||
      !llvm::is_contained(op->getOperands(), term))
    return std::nullopt;
  for (CombinerRow const &entry : combinerTable())
    if (op->getName().getStringRef() == entry.operation)
      return entry.combiner;
  return std::nullopt;
}

std::optional<ml2k::PositionReduction> ml2k::matchPosition(linalg::GenericOp op) {
  if (op.getNumResults() != 2)
    return std::nullopt;
  for (unsigned position : {1u, 0u}) {
    unsigned const extreme = 1 - position;
    Value const accumulator = op.getRegionOutputArgs()[extreme];
    Value const remembered = op.getRegionOutputArgs()[position];
    auto select = yielded(op, position).getDefiningOp<arith::SelectOp>();
    if (!select || (select.getTrueValue() != remembered && select.getFalseValue() != remembered))
      continue;
    bool const takesTerm = select.getFalseValue() == remembered;
    auto const choice = readCondition(select.getCondition(), accumulator, takesTerm);
    if (!choice || !choice->kept)
      continue;
    auto const combiner = matchExtreme(yielded(op, extreme), accumulator, choice->term);
    if (combiner && combiner != Combiner::Sum && combiner != Combiner::Prod)
      return PositionReduction{
          extreme,       position, *combiner, choice->term, takesTerm ? select.getTrueValue() : select.getFalseValue(),
          choice->strict};
  }
  return std::nullopt;
}
