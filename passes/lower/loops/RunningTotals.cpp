//===- RunningTotals.cpp - totals that a loop changes under conditions and in loops inside ------------------------===//
//
// `if x > 0: n += 1`, also in a while loop inside: every path joins terms to what it was given, and nothing looks at
// the value. An iteration can begin with the neutral element then; what it found is joined to the total once.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/RunningTotals.h"

#include "passes/lower/loops/OrderedUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ml2k {
namespace {

/// All values that hold the total at some point of an iteration.
class RunningTotal {
public:
  RunningTotal(scf::ForOp loop, unsigned place) : loop(loop), place(place) { add(loop.getRegionIterArg(place)); }

  /// An operation that joins a term, one whose terms keep their order if there is; null if the value is not a total.
  Operation *join() {
    while (!work.empty())
      for (OpOperand &use : work.pop_back_val().getUses())
        if (!follow(use))
          return nullptr;
    bool const holds =
        isTotal(loop.getYieldedValues()[place]) && llvm::all_of(totals, [&](Value v) { return isFed(v); });
    return holds ? first : nullptr;
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
    if (isa<arith::SelectOp>(user)) {
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

  bool followJoin(Operation *op, unsigned at) {
    bool const isDifference = isa<arith::SubIOp, arith::SubFOp>(op);
    if (!(isReorderable(op) || isDifference || isa<arith::AddFOp, arith::MulFOp>(op)) || (isDifference && at != 0))
      return false;
    if (first && kindOf(first) != kindOf(op))
      return false;
    auto const keepsOrder = [](Operation *join) { return !isReorderable(join) && !isa<arith::SubIOp>(join); };
    if (!first || (!keepsOrder(first) && (isa<arith::SubIOp>(first) || keepsOrder(op))))
      first = op;
    add(op->getResult(0));
    return true;
  }

  static StringRef kindOf(Operation *op) {
    return isa<arith::SubIOp>(op)   ? arith::AddIOp::getOperationName()
           : isa<arith::SubFOp>(op) ? arith::AddFOp::getOperationName()
                                    : op->getName().getStringRef();
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
    if (isa<arith::SelectOp>(op))
      return isTotal(op->getOperand(1)) && isTotal(op->getOperand(2));
    return isTotal(op->getOperand(0)) != isTotal(op->getOperand(1));
  }

  bool isCarried(scf::ForOp inner, unsigned at) const {
    return isTotal(inner.getInitArgs()[at]) && isTotal(inner.getYieldedValues()[at]);
  }

  scf::ForOp loop;
  unsigned place;
  Operation *first = nullptr; ///< of those that join terms
  llvm::SmallSetVector<Value, 16> totals;
  SmallVector<Value> work;
};

} // namespace

Operation *totalOf(scf::ForOp loop, unsigned place) { return RunningTotal(loop, place).join(); }

void separateTotal(RewriterBase &rewriter, scf::ForOp loop, unsigned place, Operation *join) {
  OpBuilder::InsertionGuard guard(rewriter);
  BlockArgument const total = loop.getRegionIterArg(place);
  Location const location = join->getLoc();
  bool const isDifference = isa<arith::SubIOp>(join);
  TypedAttr const neutral = isDifference ? rewriter.getZeroAttr(total.getType()) : *arith::getNeutralElement(join);
  rewriter.setInsertionPointToStart(&loop->getParentOfType<func::FuncOp>().getBody().front());
  Value const none = rewriter.create<arith::ConstantOp>(location, neutral);
  rewriter.replaceAllUsesWith(total, none);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  Value const found = yield.getOperand(place);
  Value joined;
  if (isDifference) {
    joined = rewriter.create<arith::AddIOp>(location, total, found);
  } else {
    IRMapping values;
    values.map(join->getOperand(0), total);
    values.map(join->getOperand(1), found);
    joined = rewriter.clone(*join, values)->getResult(0);
  }
  rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(place, joined); });
}

} // namespace ml2k
