//===- AtomicUpdates.cpp - loops whose iterations meet in updates alone -------------------------------------------===//
//
// Histograms, assembly over edges, counters: iterations change the same elements, but in an order that nobody asks for.
// Such a loop is parallel if the updates are atomic. An element that all iterations change is a reduction instead.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/AtomicUpdates.h"

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/OrderedUpdates.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ml2k {
namespace {

/// The load and what lies behind it up to the store, if nothing in between may write the element.
SmallVector<Operation *> changeOf(memref::StoreOp store) {
  SmallVector<Operation *> change = nest::changeOf(store);
  if (change.empty())
    return change;
  for (Operation *op = change.front()->getNextNode(); op != store; op = op->getNextNode()) {
    auto other = dyn_cast<memref::StoreOp>(op);
    if (other ? mayAlias(other.getMemref(), store.getMemref()) : !isa<memref::LoadOp>(op) && !isMemoryEffectFree(op))
      return {};
  }
  return change;
}

/// The operation that joins a term to the element, if that is all that a store does.
Operation *joinOf(memref::StoreOp store) {
  SmallVector<Operation *> const change = changeOf(store);
  return change.size() == 2 ? change.back() : nullptr;
}

/// Updates with the same of these may change places.
StringRef kindOf(memref::StoreOp store) {
  Operation *join = joinOf(store);
  if (!join)
    return "";
  Value const before = changeOf(store).front()->getResult(0);
  if (isa<arith::AddIOp>(join) || (isa<arith::SubIOp>(join) && join->getOperand(0) == before))
    return "sum";
  return isReorderable(join) ? join->getName().getStringRef() : "";
}

/// Whether data of the program decide `index`, in the iterations of `loop`.
bool isChosenByData(Value index, scf::ForOp loop) {
  SmallVector<Value> work = {index};
  llvm::SmallDenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !loop->isAncestor(op) || !seen.insert(op).second)
      continue;
    if (isa<memref::LoadOp>(op) || op->getNumRegions() != 0)
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// The store whose update an access belongs to.
memref::StoreOp updateOf(Operation *access) {
  if (auto store = dyn_cast<memref::StoreOp>(access))
    return changeOf(store).empty() ? memref::StoreOp() : store;
  for (Operation *op = access; op->hasOneUse() && op->getNumRegions() == 0;)
    if (op = *op->user_begin(); auto store = dyn_cast<memref::StoreOp>(op)) {
      SmallVector<Operation *> const change = changeOf(store);
      return !change.empty() && change.front() == access ? store : memref::StoreOp();
    }
  return {};
}

/// Whether the updates may come in any order, in different iterations of `loop`.
bool maySwap(memref::StoreOp a, memref::StoreOp b, scf::ForOp loop) {
  if (loop->hasAttr(unorderedUpdates) && a->hasAttr(declaredUpdate) && b->hasAttr(declaredUpdate))
    return true;
  auto const isChosen = [&](memref::StoreOp store) {
    return llvm::any_of(store.getIndices(), [&](Value index) { return isChosenByData(index, loop); });
  };
  return !kindOf(a).empty() && kindOf(a) == kindOf(b) && (isChosen(a) || isChosen(b));
}

//===--- Sums that a loop carries ---------------------------------------------------------------------------------===//

/// Of an element that `loop` does not choose, in its body or under conditions there, by terms that have a neutral one.
bool isFixed(scf::ForOp loop, memref::StoreOp update) {
  for (Operation *op = update->getParentOp(); op != loop; op = op->getParentOp())
    if (!isa<scf::IfOp>(op))
      return false;
  auto const isOutside = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
  Operation *join = joinOf(update);
  return join && isOutside(update.getMemref()) && llvm::all_of(update.getIndices(), isOutside) &&
         (isReorderable(join) || isa<arith::AddFOp, arith::MulFOp>(join)) && arith::getNeutralElement(join);
}

/// The first update of the loop that is declared.
memref::StoreOp firstUpdate(scf::ForOp loop) {
  memref::StoreOp found;
  loop.getBody()->walk([&](memref::StoreOp store) {
    found = store->hasAttr(declaredUpdate) ? store : memref::StoreOp();
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Whether nothing else in the loop looks at the memory.
bool isAlone(scf::ForOp loop, memref::StoreOp update) {
  Operation *before = changeOf(update).front();
  return !loop.getBody()
              ->walk([&](Operation *op) {
                bool const touches = llvm::any_of(op->getOperands(), [&](Value operand) {
                  return isa<MemRefType>(operand.getType()) && mayAlias(operand, update.getMemref());
                });
                return touches && op != before && op != update ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Whether sums that the loop carries can stand for all of its updates: a kernel has those, or atomic ones.
bool haveAllOneElement(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([&](memref::StoreOp store) {
                bool const isOther = store->hasAttr(declaredUpdate) && !(isFixed(loop, store) && isAlone(loop, store));
                return isOther ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// The term where no condition stands around it: what changes nothing where the condition does not hold.
Value bringOut(RewriterBase &rewriter, Value term, TypedAttr neutral, Region *from, Block *to) {
  auto branch = cast<scf::IfOp>(from->getParentOp());
  bool const isThen = from == &branch.getThenRegion();
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(term.getType());
  rewriter.setInsertionPoint(branch);
  Value const none = rewriter.create<arith::ConstantOp>(branch.getLoc(), neutral);
  auto wider = rewriter.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  for (auto [old, made] : llvm::zip(branch->getRegions(), wider->getRegions())) {
    Block &block = made.empty() ? made.emplaceBlock() : made.front();
    if (!block.empty())
      rewriter.eraseOp(&block.front());
    SmallVector<Value> results;
    if (!old.empty()) {
      results.append(old.front().getTerminator()->operand_begin(), old.front().getTerminator()->operand_end());
      rewriter.eraseOp(old.front().getTerminator());
      rewriter.inlineBlockBefore(&old.front(), &block, block.end());
    }
    results.push_back((&old == &branch.getThenRegion()) == isThen ? term : none);
    rewriter.setInsertionPointToEnd(&block);
    rewriter.create<scf::YieldOp>(branch.getLoc(), results);
  }
  wider->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  rewriter.replaceOp(branch, wider.getResults().drop_back());
  return wider->getBlock() == to ? wider.getResults().back()
                                 : bringOut(rewriter, wider.getResults().back(), neutral, wider->getParentRegion(), to);
}

scf::ForOp carry(RewriterBase &rewriter, scf::ForOp loop, memref::StoreOp update) {
  Operation *join = joinOf(update), *load = changeOf(update).front();
  TypedAttr const neutral = *arith::getNeutralElement(join);
  Location const location = join->getLoc();
  Value term = join->getOperand(join->getOperand(0) == load->getResult(0) ? 1 : 0);
  Value const memref = update.getMemref();
  SmallVector<Value> const indices(update.getIndices());
  rewriter.eraseOp(update);
  auto const joined = [&](OpBuilder &builder, Value before, Value value) {
    Operation *copy = builder.clone(*join);
    copy->setOperands({before, value});
    if (auto math = dyn_cast<arith::ArithFastMathInterface>(copy))
      copy->setAttr(math.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(copy->getContext(), math.getFastMathFlagsAttr().getValue() |
                                                                          arith::FastMathFlags::reassoc));
    return copy->getResult(0);
  };
  if (join->getBlock() != loop.getBody())
    term = bringOut(rewriter, term, neutral, join->getParentRegion(), loop.getBody());
  rewriter.setInsertionPoint(loop);
  Value const initial = rewriter.create<arith::ConstantOp>(location, neutral);
  auto const name = StringAttr::get(loop.getContext(), "argument \"total\"");
  SmallVector<Location> locations =
      llvm::map_to_vector(loop.getBody()->getArguments(), [](BlockArgument argument) { return argument.getLoc(); });
  locations.push_back(NameLoc::get(name, location));
  auto const yields = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> carried) {
    return SmallVector<Value>{joined(builder, carried.back(), term)};
  };
  auto wider = cast<scf::ForOp>(
      *cast<LoopLikeOpInterface>(loop.getOperation()).replaceWithAdditionalYields(rewriter, initial, false, yields));
  for (auto [argument, place] : llvm::zip(wider.getBody()->getArguments(), locations))
    argument.setLoc(place);
  // The element itself, once; where other loops around change it, too
  rewriter.setInsertionPointAfter(wider);
  Value const before = rewriter.create<memref::LoadOp>(load->getLoc(), memref, indices);
  Value const after = joined(rewriter, before, wider.getResults().back());
  auto store = rewriter.create<memref::StoreOp>(location, after, memref, indices);
  store->setAttr(declaredUpdate, rewriter.getUnitAttr());
  rewriter.eraseOp(join);
  rewriter.eraseOp(load);
  return wider;
}

} // namespace

scf::ForOp carryUpdates(RewriterBase &rewriter, scf::ForOp loop) {
  for (auto inner : llvm::make_early_inc_range(loop.getBody()->getOps<scf::ForOp>()))
    carryUpdates(rewriter, inner);
  if (!loop->hasAttr(unorderedUpdates) || !haveAllOneElement(loop))
    return loop;
  while (memref::StoreOp const update = firstUpdate(loop))
    loop = carry(rewriter, loop, update);
  return loop;
}

bool meetInUpdates(scf::ForOp loop) {
  llvm::SmallSetVector<Operation *, 4> updates;
  auto const mayMeet = [&](Operation *a, Operation *b) {
    memref::StoreOp first = updateOf(a), second = updateOf(b);
    if (!first || !second || !maySwap(first, second, loop))
      return false;
    updates.insert(first);
    updates.insert(second);
    return true;
  };
  if (!dependenceOf(loop, mayMeet).empty() || updates.empty())
    return false;
  for (Operation *update : updates)
    update->setAttr(nest::atomicUpdate, UnitAttr::get(loop.getContext()));
  return true;
}

bool meetInSums(scf::ForOp loop) {
  auto const addsTo = [](Operation *access) {
    memref::StoreOp const update = updateOf(access);
    return update && isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(joinOf(update));
  };
  return dependenceOf(loop, [&](Operation *a, Operation *b) { return addsTo(a) && addsTo(b); }).empty();
}

bool meetInAtomics(scf::ForOp loop) {
  return dependenceOf(loop,
                      [](Operation *a, Operation *b) {
                        memref::StoreOp const first = updateOf(a), second = updateOf(b);
                        return first && second && nest::isAtomic(first) && nest::isAtomic(second);
                      })
      .empty();
}

} // namespace ml2k
