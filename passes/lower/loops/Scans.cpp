//===- Scans.cpp - loops that carry a running sum -----------------------------------------------------------------===//
//
// Cumulative sums, and selections: an element that is kept goes to the place that the number of those before it names.
// A parallel_scan runs the block twice, once for the sums of parts and once with the sum of all iterations before,
// where it may write.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Scans.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/OrderedUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Loops of fewer iterations stay with one thread; those down columns with a thread each.
constexpr int64_t shortest = 128, shortestColumn = 65;

class Scan {
public:
  explicit Scan(scf::ForOp loop, int64_t least = shortest) : loop(loop), least(least) {}

  bool isSum() { return isCounted() && isRunningSum(); }

  bool holds() { return isLong() && isSum() && isPlain() && areStoresApart(); }

private:
  /// Or of a length that is known at run time only.
  bool isLong() {
    std::optional<int64_t> const upper = getConstantIntValue(loop.getUpperBound());
    return !upper || *upper >= least;
  }

  /// From 0 by 1.
  bool isCounted() {
    return loop.getNumResults() == 1 && loop.getResult(0).use_empty() &&
           getConstantIntValue(loop.getLowerBound()) == 0 && getConstantIntValue(loop.getStep()) == 1;
  }

  /// carried + term, where the term does not depend on the sum.
  bool isRunningSum() {
    Value const initial = loop.getInitArgs()[0];
    if (!matchPattern(initial, m_Zero()) && !matchPattern(initial, m_AnyZeroFloat()))
      return false;
    Operation *join = loop.getYieldedValues()[0].getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::AddFOp>(join) || !isReorderable(join) ||
        join->getBlock() != loop.getBody())
      return false;
    bool const isFirst = join->getOperand(0) == carried();
    if (!isFirst && join->getOperand(1) != carried())
      return false;
    term = join->getOperand(isFirst ? 1 : 0);
    return !dependsOnSum(term);
  }

  bool dependsOnSum(Value value) {
    SmallVector<Value> work = {value};
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value const next = work.pop_back_val();
      if (next == carried())
        return true;
      Operation *op = next.getDefiningOp();
      if (!op || !loop->isProperAncestor(op) || !seen.insert(next).second)
        continue;
      if (op->getNumRegions())
        return true;
      llvm::append_range(work, op->getOperands());
    }
    return false;
  }

  /// Loads, stores, conditions without results, and operations without effects. What runs, and what is read, does not
  /// depend on the sum, of which the first run knows a part.
  bool isPlain() {
    return !loop.getBody()
                ->walk([&](Operation *op) { return isPlain(op) ? WalkResult::advance() : WalkResult::interrupt(); })
                .wasInterrupted();
  }

  bool isPlain(Operation *op) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return branch.getNumResults() == 0 && !dependsOnSum(branch.getCondition());
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      loads.push_back(load);
      return llvm::none_of(load.getIndices(), [&](Value index) { return dependsOnSum(index); });
    }
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      stores.push_back(store);
      return true;
    }
    return isa<scf::YieldOp>(op) || (isPure(op) && op->getNumRegions() == 0);
  }

  /// No iteration reads what one writes, and no two write the same element.
  bool areStoresApart() {
    for (memref::StoreOp store : stores) {
      std::optional<int> const place = ownPlace(store);
      if (!place || !isInjective(store.getMemref()))
        return false;
      for (memref::LoadOp load : loads)
        if (mayAlias(load.getMemref(), store.getMemref()) && !isReadBefore(load, store, *place))
          return false;
      for (memref::StoreOp other : stores)
        if (other != store && mayAlias(other.getMemref(), store.getMemref()) &&
            (other.getMemref() != store.getMemref() || ownPlace(other) != place ||
             (*place >= 0 && isCounter(other.getIndices()[*place]) != isCounter(store.getIndices()[*place]))))
          return false;
    }
    return true;
  }

  /// Whether an iteration reads its own element and writes it then: both runs find what was there.
  bool isReadBefore(memref::LoadOp load, memref::StoreOp store, int place) {
    if (place < 0 || load->getBlock() != loop.getBody() || load.getMemref() != store.getMemref() ||
        load.getIndices() != store.getIndices() || !isPosition(store.getIndices()[place]))
      return false;
    return load->isBeforeInBlock(loop.getBody()->findAncestorOpInBlock(*store));
  }

  /// The subscript that differs from one iteration to the next; -1 of a store in the last iteration alone.
  std::optional<int> ownPlace(memref::StoreOp store) {
    if (Value const condition = guardOf(store); condition && isLast(condition))
      return -1;
    for (auto [place, index] : llvm::enumerate(store.getIndices()))
      if (isPosition(index) || (isCounter(index) && isCounted(store)))
        return int(place);
    return std::nullopt;
  }

  /// The condition of the only branch around a store.
  Value guardOf(memref::StoreOp store) {
    auto branch = dyn_cast<scf::IfOp>(store->getParentOp());
    return branch && branch->getBlock() == loop.getBody() && store->getBlock() == branch.thenBlock()
               ? branch.getCondition()
               : Value();
  }

  bool isLast(Value condition) {
    auto equal = condition.getDefiningOp<arith::CmpIOp>();
    std::optional<int64_t> const upper = getConstantIntValue(loop.getUpperBound());
    return equal && upper && equal.getPredicate() == arith::CmpIPredicate::eq &&
           equal.getLhs() == loop.getInductionVar() && getConstantIntValue(equal.getRhs()) == *upper - 1;
  }

  /// i, i + c, c - i
  bool isPosition(Value index) {
    Value const i = loop.getInductionVar();
    if (index == i)
      return true;
    Operation *op = index.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return false;
    auto const isFixed = [&](Value value) {
      return loop.isDefinedOutsideOfLoop(value) || matchPattern(value, m_Constant());
    };
    return (op->getOperand(0) == i && isFixed(op->getOperand(1))) ||
           (op->getOperand(1) == i && isFixed(op->getOperand(0)));
  }

  bool isCounter(Value index) {
    auto cast = index.getDefiningOp<arith::IndexCastOp>();
    return index == carried() || (cast && cast.getIn() == carried());
  }

  /// Whether each iteration that runs a store adds one to the sum, which has room for all of them.
  bool isCounted(memref::StoreOp store) {
    Value const condition = guardOf(store);
    auto extended = term.getDefiningOp<arith::ExtUIOp>();
    return condition && extended && extended.getIn() == condition && extended.getType().getIntOrFloatBitWidth() >= 32;
  }

  Value carried() { return loop.getRegionIterArg(0); }

  scf::ForOp loop;
  int64_t least;
  Value term;
  SmallVector<memref::StoreOp> stores;
  SmallVector<memref::LoadOp> loads;
};

} // namespace

bool hasFormOfScan(scf::ForOp loop) { return Scan(loop).isSum(); }

bool isScan(scf::ForOp loop) { return Scan(loop).holds(); }

/// Threads that share a row take neighbours: what they write is to lie side by side.
static bool writesAlong(scf::ForOp loop) {
  return !loop.walk([&](memref::StoreOp store) {
                Value const i = loop.getInductionVar();
                bool const isAlong =
                    !store.getIndices().empty() && llvm::all_of(store.getIndices().drop_back(), [&](Value index) {
                      return index != i && loop.isDefinedOutsideOfLoop(index);
                    });
                return isAlong ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool isColumnScan(scf::ForOp loop) { return !writesAlong(loop) && Scan(loop, shortestColumn).holds(); }

bool isRowScan(scf::ForOp loop) { return writesAlong(loop) && Scan(loop).holds(); }

} // namespace ml2k
