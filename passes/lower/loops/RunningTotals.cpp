//===- RunningTotals.cpp - totals that a loop changes under conditions and in loops inside ------------------------===//
//
// `if x > 0: n += 1`, also in a while loop inside: every path joins terms to what it was given, and nothing looks at
// the value. An iteration can begin with the neutral element then; what it found is joined to the total once. So can
// the larger of the total and a term, chosen by comparing them, which is what C++ and Python write for a maximum.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/RunningTotals.h"

#include "passes/lower/loops/OrderedUpdates.h"
#include "passes/schedule/Combiners.h"
#include "translator/ir/Identities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

/// All values that hold the total at some point of an iteration.
class RunningTotal {
public:
  RunningTotal(scf::ForOp loop, unsigned place) : loop(loop), place(place) { add(loop.getRegionIterArg(place)); }

  std::optional<Total> find() {
    while (!work.empty())
      for (OpOperand &use : work.pop_back_val().getUses())
        if (!follow(use))
          return std::nullopt;
    bool const holds = total.join && isTotal(loop.getYieldedValues()[place]) &&
                       llvm::all_of(totals, [&](Value v) { return isFed(v); });
    return holds ? std::optional(total) : std::nullopt;
  }

private:
  void add(Value value) {
    if (totals.insert(value))
      work.push_back(value);
  }

  bool isTotal(Value value) const { return totals.contains(value); }

  /// Where a use takes the value; false if something else is done with it.
  bool follow(OpOperand &use) {
    constexpr size_t most = 256;
    Operation *user = use.getOwner();
    unsigned const at = use.getOperandNumber();
    if (totals.size() > most || user == loop)
      return false;
    if (isa<scf::YieldOp>(user))
      return followYield(user->getParentOp(), at);
    if (auto condition = dyn_cast<scf::ConditionOp>(user)) {
      auto decided = cast<scf::WhileOp>(user->getParentOp());
      if (at > 0) {
        add(decided.getAfterArguments()[at - 1]);
        add(decided.getResult(at - 1));
      }
      return at > 0;
    }
    if (auto inner = dyn_cast<scf::ForOp>(user)) {
      if (at >= inner.getNumControlOperands())
        addCarried(inner, at - inner.getNumControlOperands());
      return at >= inner.getNumControlOperands();
    }
    if (auto inner = dyn_cast<scf::WhileOp>(user)) {
      add(inner.getBeforeArguments()[at]);
      return true;
    }
    if (isa<arith::CmpFOp>(user))
      return llvm::all_of(user->getUsers(), [&](Operation *reader) {
        return isExtreme(reader, use.get()) ||
               (isa<arith::AndIOp>(reader) &&
                llvm::all_of(reader->getUsers(), [&](Operation *select) { return isExtreme(select, use.get()); }));
      });
    if (isa<arith::SelectOp>(user) && !isExtreme(user, use.get())) {
      add(user->getResult(0));
      return at > 0;
    }
    return followJoin(user, at);
  }

  void addCarried(scf::ForOp inner, unsigned carried) {
    add(inner.getRegionIterArg(carried));
    add(inner.getResult(carried));
  }

  bool followYield(Operation *parent, unsigned at) {
    if (parent == loop)
      return at == place;
    if (auto inner = dyn_cast<scf::ForOp>(parent)) {
      addCarried(inner, at);
    } else if (auto inner = dyn_cast<scf::WhileOp>(parent)) {
      add(inner.getBeforeArguments()[at]);
    } else if (isa<scf::IfOp>(parent)) {
      add(parent->getResult(at));
    } else {
      return false;
    }
    return true;
  }

  /// Whether `op` chooses the larger or smaller of the total and a term.
  bool isExtreme(Operation *op, Value value) {
    auto select = dyn_cast<arith::SelectOp>(op);
    if (!select || !isa<FloatType>(select.getType()))
      return false;
    auto chosen = matchChosenExtreme(select, value);
    if (!chosen)
      chosen = matchGuardedExtreme(select, value);
    if (chosen)
      extremes[op] = chosen->combiner;
    return chosen.has_value();
  }

  std::optional<nest::Combiner> joinedBy(Operation *op) const {
    if (auto const extreme = extremes.find(op); extreme != extremes.end())
      return extreme->second;
    return isa<arith::SubIOp, arith::SubFOp>(op) ? nest::Combiner::Sum : nest::combinerOf(op);
  }

  bool followJoin(Operation *op, unsigned at) {
    std::optional<nest::Combiner> const joined = joinedBy(op);
    if (!joined || (isa<arith::SubIOp, arith::SubFOp>(op) && at != 0))
      return false;
    if (total.join && (*joined != total.combiner || extremes.contains(op) != extremes.contains(total.join)))
      return false; // minnumf gives up a total that is NaN, a choice keeps it
    auto const rank = [](Operation *join) { return keepsOrder(join) ? 2 : isa<arith::SubIOp>(join) ? 0 : 1; };
    if (!total.join || rank(op) > rank(total.join))
      total = {op, *joined};
    add(op->getResult(0));
    return true;
  }

  /// Whether a value is the total on every path, joined with other things once.
  bool isFed(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (owner == loop)
        return true;
      if (auto inner = dyn_cast<scf::ForOp>(owner))
        return isCarried(inner, argument.getArgNumber() - 1);
      auto inner = cast<scf::WhileOp>(owner);
      unsigned const at = argument.getArgNumber();
      return argument.getOwner() == inner.getBeforeBody()
                 ? isTotal(inner.getInits()[at]) && isTotal(inner.getYieldOp().getOperand(at))
                 : isTotal(inner.getConditionOp().getArgs()[at]);
    }
    Operation *op = value.getDefiningOp();
    unsigned const at = cast<OpResult>(value).getResultNumber();
    if (auto inner = dyn_cast<scf::ForOp>(op))
      return isCarried(inner, at);
    if (auto inner = dyn_cast<scf::WhileOp>(op))
      return isTotal(inner.getConditionOp().getArgs()[at]);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return isTotal(branch.thenYield().getOperand(at)) && isTotal(branch.elseYield().getOperand(at));
    if (extremes.contains(op))
      return isTotal(op->getOperand(1)) != isTotal(op->getOperand(2));
    if (isa<arith::SelectOp>(op))
      return isTotal(op->getOperand(1)) && isTotal(op->getOperand(2));
    return isTotal(op->getOperand(0)) != isTotal(op->getOperand(1));
  }

  bool isCarried(scf::ForOp inner, unsigned at) const {
    return isTotal(inner.getInitArgs()[at]) && isTotal(inner.getYieldedValues()[at]);
  }

  scf::ForOp loop;
  unsigned place;
  Total total = {nullptr, nest::Combiner::Sum};
  llvm::SmallSetVector<Value, 16> totals;
  llvm::SmallDenseMap<Operation *, nest::Combiner> extremes; ///< selects of the total or a term
  SmallVector<Value> work;
};

} // namespace

std::optional<Total> totalOf(scf::ForOp loop, unsigned place) { return RunningTotal(loop, place).find(); }

bool keepsOrder(Operation *join) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(join) && !isReorderable(join);
}

/// A total that begins with NaN stays NaN: the loop begins with the neutral element, and what it finds is compared.
static void compareWithStart(RewriterBase &rewriter, scf::ForOp loop, unsigned place, Total const &total, Value none) {
  APFloat start(0.);
  if (matchPattern(loop.getInitArgs()[place], m_ConstantFloat(&start)) && !start.isNaN())
    return;
  Location const location = total.join->getLoc();
  Value const first = loop.getInitArgs()[place], found = loop.getResult(place);
  rewriter.setInsertionPointAfter(loop);
  auto const predicate =
      total.combiner == nest::Combiner::MaxNum ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  auto compare = rewriter.create<arith::CmpFOp>(location, predicate, found, first);
  auto chosen = rewriter.create<arith::SelectOp>(location, compare, found, first);
  rewriter.replaceUsesWithIf(found, chosen,
                             [&](OpOperand &use) { return use.getOwner() != compare && use.getOwner() != chosen; });
  rewriter.modifyOpInPlace(loop, [&] { loop.getInitArgsMutable()[place].set(none); });
}

void separateTotal(RewriterBase &rewriter, scf::ForOp loop, unsigned place, Total const &total) {
  OpBuilder::InsertionGuard guard(rewriter);
  BlockArgument const carried = loop.getRegionIterArg(place);
  Location const location = total.join->getLoc();
  bool const isChosen = isa<arith::SelectOp>(total.join);
  rewriter.setInsertionPointToStart(&loop->getParentOfType<func::FuncOp>().getBody().front());
  Value const none = rewriter.create<arith::ConstantOp>(location, neutralOf(total.combiner, carried.getType()));
  rewriter.replaceAllUsesWith(carried, none);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  Value found = yield.getOperand(place);
  if (auto select = found.getDefiningOp<arith::SelectOp>(); isChosen && select) {
    if (auto const only = matchChosenExtreme(select, none))
      found = only->term;
    else if (auto const guarded = matchGuardedExtreme(select, none))
      found = rewriter.create<arith::SelectOp>(location, guarded->guard, guarded->term, none);
  }
  Value joined;
  if (isChosen || isa<arith::SubIOp>(total.join)) {
    joined = nest::join(rewriter, location, total.combiner, carried, found);
  } else {
    IRMapping values;
    values.map(total.join->getOperand(0), carried);
    values.map(total.join->getOperand(1), found);
    joined = rewriter.clone(*total.join, values)->getResult(0);
  }
  rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(place, joined); });
  if (isChosen)
    compareWithStart(rewriter, loop, place, total, none);
}

} // namespace ml2k
