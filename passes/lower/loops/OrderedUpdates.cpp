//===- OrderedUpdates.cpp - loops that update elements at data-dependent indices ----------------------------------===//
//
// Scatter of a network, histograms and assembly in loop programs. Which element an iteration updates is known at run
// time only, so that the loops are not parallel; but a loop whose index alone is a subscript of that element is: its
// iterations never meet in one.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/OrderedUpdates.h"

#include "passes/lower/loops/AtomicUpdates.h"
#include "passes/lower/loops/Dependence.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

bool isReorderable(Operation *op) {
  return nest::mayReassociate(op) ||
         isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp,
                         arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::MaximumFOp, arith::MinimumFOp,
                         arith::MaxNumFOp, arith::MinNumFOp>(op);
}

//===--- The block ------------------------------------------------------------------------------------------------===//

/// The only store of a block whose other operations write nothing and read nothing that it writes, but its own element.
static memref::StoreOp onlyUpdate(Block &block) {
  memref::StoreOp store;
  for (Operation &op : block.without_terminator()) {
    if (auto other = dyn_cast<memref::StoreOp>(op)) {
      if (store)
        return {};
      store = other;
    } else if (!isa<memref::LoadOp>(op) && !(isPure(&op) && op.getNumRegions() == 0)) {
      return {};
    }
  }
  if (!store)
    return {};
  SmallVector<Operation *> const change = nest::changeOf(store);
  for (auto load : block.getOps<memref::LoadOp>())
    if (mayAlias(load.getMemref(), store.getMemref()) && (change.empty() || load != change.front()))
      return {};
  return store;
}

/// Whether an index of the element is read from memory.
static bool isComputed(memref::StoreOp store) {
  SmallVector<Value> work(store.getIndices());
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != store->getBlock())
      continue;
    if (isa<memref::LoadOp>(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Whether updates in any order give the same result as those in the order of the loops.
static bool maySwap(scf::ForOp outermost, memref::StoreOp store) {
  if (outermost->hasAttr(unorderedUpdates))
    return true;
  SmallVector<Operation *> const change = nest::changeOf(store);
  return change.size() == 2 && isReorderable(change.back());
}

//===--- The loops ------------------------------------------------------------------------------------------------===//

/// The loops of a perfect nest with step 1 and bounds that are known outside; none if it is not so.
static SmallVector<scf::ForOp> perfectNest(scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops;
  auto const isOutside = [&](Value value) { return !outermost->isAncestor(value.getParentRegion()->getParentOp()); };
  for (scf::ForOp loop = outermost; loop; loop = dyn_cast<scf::ForOp>(loop.getBody()->front())) {
    if (loop.getNumRegionIterArgs() != 0 || !isConstantIntValue(loop.getStep(), 1) ||
        !isOutside(loop.getLowerBound()) || !isOutside(loop.getUpperBound()))
      return {};
    loops.push_back(loop);
    if (!llvm::hasSingleElement(loop.getBody()->without_terminator()))
      break;
  }
  return loops;
}

/// The subscript of the element that is the index of `loop` and nothing else that varies: its iterations never meet.
static std::optional<unsigned> apartIn(scf::ForOp loop, scf::ForOp outermost, memref::StoreOp store) {
  auto const varies = [&](Value value) {
    return !getConstantIntValue(value) && outermost->isAncestor(value.getParentRegion()->getParentOp());
  };
  auto const isAlone = [&](Value subscript) {
    for (Operation *op = subscript.getDefiningOp(); op; op = subscript.getDefiningOp()) {
      if (!isa<arith::AddIOp, arith::SubIOp>(op) || (varies(op->getOperand(0)) && varies(op->getOperand(1))))
        return false;
      subscript = op->getOperand(varies(op->getOperand(1)) ? 1 : 0);
    }
    return subscript == loop.getInductionVar();
  };
  if (isInjective(store.getMemref()))
    for (auto [place, subscript] : llvm::enumerate(store.getIndices()))
      if (isAlone(subscript))
        return place;
  return std::nullopt;
}

/// Whether the order of updates does not matter, and a device has one operation for each.
static bool addsIntegers(memref::StoreOp store) {
  SmallVector<Operation *> const change = nest::changeOf(store);
  Type const type = store.getMemRefType().getElementType();
  return change.size() == 2 && isa<arith::AddIOp>(change.back()) && (type.isInteger(32) || type.isInteger(64));
}

/// Whether threads of a host can share the columns: otherwise updates that the program says to be atomic are.
static bool areLong(ArrayRef<scf::ForOp> columns) {
  constexpr int64_t enough = 64;
  return !columns.empty() && llvm::none_of(columns, [](scf::ForOp loop) {
    auto const lower = getConstantIntValue(loop.getLowerBound()), upper = getConstantIntValue(loop.getUpperBound());
    return lower && upper && *upper - *lower < enough;
  });
}

scf::ParallelOp formUpdates(RewriterBase &rewriter, scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops = perfectNest(outermost);
  memref::StoreOp store = loops.empty() ? memref::StoreOp() : onlyUpdate(*loops.back().getBody());
  if (!store || outermost->isAncestor(baseOf(store.getMemref()).getParentRegion()->getParentOp()) ||
      !isComputed(store) || !maySwap(outermost, store))
    return {};
  // Those apart first, then those in order, then the one apart that walks through memory
  SmallVector<scf::ForOp> apart, ordered, columns;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    std::optional<unsigned> const place = apartIn(loop, outermost, store);
    bool const isLast = place && *place + 1 == store.getIndices().size();
    (!place ? ordered : isLast && ordered.empty() ? columns : apart).push_back(loop);
  }
  bool const isAtomic =
      store->hasAttr(declaredUpdate) ? !areLong(columns) : addsIntegers(store) && apart.empty() && columns.empty();
  if (ordered.empty() || isAtomic)
    return {};
  SmallVector<scf::ForOp> all;
  for (auto const *group : {&apart, &ordered, &columns})
    all.append(group->rbegin(), group->rend());
  SmallVector<bool> flags(all.size(), false);
  std::fill_n(flags.begin() + apart.size(), ordered.size(), true);

  SmallVector<Value> lowers, uppers, steps, positions;
  for (scf::ForOp loop : all) {
    lowers.push_back(loop.getLowerBound());
    uppers.push_back(loop.getUpperBound());
    steps.push_back(loop.getStep());
    positions.push_back(loop.getInductionVar());
  }
  rewriter.setInsertionPoint(outermost);
  auto parallel = rewriter.create<scf::ParallelOp>(outermost.getLoc(), lowers, uppers, steps);
  parallel->setDiscardableAttrs(outermost->getDiscardableAttrDictionary());
  parallel->setAttr("nest.note", rewriter.getStringAttr("an element may change more than once"));
  parallel->setAttr("nest.ordered", rewriter.getDenseBoolArrayAttr(flags));
  for (auto [argument, position] : llvm::zip(parallel.getBody()->getArguments(), positions)) {
    argument.setLoc(position.getLoc()); // its name
    rewriter.replaceAllUsesWith(position, argument);
  }
  Block *block = loops.back().getBody();
  parallel.getBody()->getOperations().splice(parallel.getBody()->begin(), block->getOperations(), block->begin(),
                                             block->getTerminator()->getIterator());
  rewriter.eraseOp(outermost);
  return parallel;
}

} // namespace ml2k
