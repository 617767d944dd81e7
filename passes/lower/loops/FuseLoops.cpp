//===- FuseLoops.cpp - neighbouring parallel loops over the same positions become one -----------------------------===//
//
// A dot product of a vector that the loop in front makes, updates of several vectors, the norm of what was updated: one
// pass over memory instead of several. Two loops can be one if they have the same bounds, reductions that a kernel can
// have together, and if what one of them writes the other one touches at its own position only. A loop over a matrix
// goes into one over its rows that joins what they hold, so that the steps of a softmax are one kernel.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LinearForms.h"
#include "passes/lower/loops/LoopTouches.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/OrderedUpdates.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

/// The tensor of which the position is an entry that no other iteration has.
std::optional<int64_t> ownEntry(Touch const &touch) {
  auto const at = touch.at.size() == 1 ? dyn_cast<BlockArgument>(touch.at[0]) : BlockArgument();
  auto loop = at ? dyn_cast<scf::ForOp>(at.getOwner()->getParentOp()) : scf::ForOp();
  auto const number = loop ? loop->getAttrOfType<IntegerAttr>(sparseEntries) : IntegerAttr();
  return number && at == loop.getInductionVar() ? std::optional(number.getInt()) : std::nullopt;
}

/// A subscript of the position of `loop` and of what is known in front of it: the index of the loop in it, at most one.
/// Nothing for others.
std::optional<std::optional<unsigned>> indexIn(Linear const &form, scf::ParallelOp loop) {
  std::optional<unsigned> found;
  for (auto [symbol, coefficient] : form.terms) {
    if (coefficient == 0 || !loop->isAncestor(symbol.getParentRegion()->getParentOp()))
      continue;
    auto const *place = llvm::find(loop.getInductionVars(), symbol);
    if (found || place == loop.getInductionVars().end())
      return std::nullopt;
    found = unsigned(place - loop.getInductionVars().begin());
  }
  return found;
}

/// How two subscripts of loops with the same positions differ: by a number, if each is a multiple of the same index, or
/// of none. Without loops, whether they do for the same values.
std::optional<int64_t> distance(Linear const &a, scf::ParallelOp first, Linear const &b, scf::ParallelOp second) {
  Linear difference = a;
  for (auto [symbol, coefficient] : b.terms) {
    Value own = symbol;
    if (second)
      for (auto [mine, others] : llvm::zip(first.getInductionVars(), second.getInductionVars()))
        own = others == symbol ? mine : own;
    if (llvm::SubOverflow(difference.terms[own], coefficient, difference.terms[own]))
      return std::nullopt;
  }
  bool const isNumber = llvm::all_of(difference.terms, [](auto const &term) { return term.second == 0; });
  int64_t number = 0;
  return isNumber && !llvm::SubOverflow(a.constant, b.constant, number) ? std::optional(number) : std::nullopt;
}

/// Both at an element of the same iteration, such as x(i + 1, j), or never at the same element; or, with `rows`, at
/// what only that iteration has, such as row i.
bool haveOwnElements(Touch const &x, scf::ParallelOp first, Touch const &y, scf::ParallelOp second, bool rows) {
  llvm::SmallDenseSet<unsigned> fixed;
  bool areEqual = x.at.size() == y.at.size() && baseOf(x.memref) == x.memref;
  for (unsigned i = 0; areEqual && i < x.at.size(); ++i) {
    Linear const a = linearForm(x.at[i]), b = linearForm(y.at[i]);
    auto const own = indexIn(a, first), others = indexIn(b, second);
    std::optional<int64_t> const apart =
        own && others && *own == *others ? distance(a, first, b, second) : std::nullopt;
    if (apart && *apart != 0 && !*own)
      return true;
    areEqual &= apart == 0 || rows;
    if (apart == 0 && *own)
      fixed.insert(**own);
  }
  return areEqual && fixed.size() == first.getNumLoops();
}

/// Both at what belongs to the same iteration.
bool areOwn(Touch const &x, scf::ParallelOp first, Touch const &y, scf::ParallelOp second, bool rows) {
  return x.memref == y.memref &&
         ((isAtOwnPosition(x, first) && isAtOwnPosition(y, second)) || (ownEntry(x) && ownEntry(x) == ownEntry(y)) ||
          haveOwnElements(x, first, y, second, rows));
}

/// Whether inner loops run along rows of matrices, and whether the iterations lie side by side in rows meanwhile.
std::pair<bool, bool> directionsOf(scf::ParallelOp loop) {
  bool alongRows = false, beside = false;
  Value const last = loop.getInductionVars().back();
  loop.getBody()->walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load || load.getMemRefType().getRank() < 2 || load->getBlock() == loop.getBody())
      return;
    Linear const form = linearForm(load.getIndices().back());
    bool const isOwn = form.terms.lookup(last) != 0;
    bool const isInner = llvm::any_of(form.terms, [&](auto const &term) {
      Value symbol = term.first;
      return term.second && symbol != last && loop->isAncestor(symbol.getParentRegion()->getParentOp());
    });
    beside |= isOwn && !isInner;
    alongRows |= isInner && !isOwn;
  });
  return {alongRows, beside};
}

/// A loop whose iterations go along rows would cost one whose iterations lie side by side its vectors, and the other
/// way.
bool haveOtherDirections(scf::ParallelOp a, scf::ParallelOp b) {
  auto const [rowsOfA, besideInA] = directionsOf(a);
  auto const [rowsOfB, besideInB] = directionsOf(b);
  return rowsOfA != besideInA && rowsOfB != besideInB && rowsOfA != rowsOfB;
}

/// Whether all that each iteration carries is joined in any order.
bool isFoldInAnyOrder(scf::ForOp loop) {
  return isConstantIntValue(loop.getLowerBound(), 0) &&
         llvm::all_of(loop.getYieldedValues(), [](Value value) { return isReorderable(value.getDefiningOp()); });
}

/// Whether each iteration joins what a row holds, which vectors and threads share.
bool joinsRows(scf::ParallelOp loop) {
  auto const isFold = [](Operation &op) {
    auto parallel = dyn_cast<scf::ParallelOp>(op);
    auto sequential = dyn_cast<scf::ForOp>(op);
    return op.getNumResults() > 0 &&
           ((parallel && parallel.getNumLoops() == 1 && isConstantIntValue(parallel.getLowerBound()[0], 0)) ||
            (sequential && isFoldInAnyOrder(sequential)));
  };
  return loop.getNumLoops() == 1 && loop.getNumResults() == 0 && llvm::any_of(*loop.getBody(), isFold) &&
         directionsOf(loop).first;
}

/// Whether the iterations of both may run one after the other.
bool areApart(ArrayRef<Touch> a, scf::ParallelOp first, ArrayRef<Touch> b, scf::ParallelOp second) {
  bool const rows = joinsRows(first) || joinsRows(second);
  for (Touch const &x : a)
    for (Touch const &y : b)
      if ((x.writes || y.writes) && mayAlias(x.memref, y.memref) && !areOwn(x, first, y, second, rows))
        return false;
  return true;
}

/// One kernel can have all reductions of both.
bool canReduceTogether(scf::ParallelOp a, scf::ParallelOp b) {
  if (nest::hasAtomicUpdates(a) != nest::hasAtomicUpdates(b)) // a kernel has these or reductions, or vector registers
    return false;
  if (!llvm::all_equal(a.getResultTypes()) || !llvm::all_equal(b.getResultTypes())) // become several loops
    return false;
  if (a.getNumResults() == 0 || b.getNumResults() == 0)
    return true;
  auto const areKnown = [](scf::ParallelOp loop) {
    auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
    return llvm::all_of(reduce.getReductions(), [](Region &region) { return combinerOf(region).has_value(); });
  };
  SmallVector<Type> types(a.getResultTypes());
  llvm::append_range(types, b.getResultTypes());
  return llvm::all_equal(types) && areKnown(a) && areKnown(b);
}

bool mayFuse(scf::ParallelOp loop) {
  return !loop->hasAttr("nest.ordered") && nest::labelOf(loop).empty() &&
         !loop.getBody()->walk([](memref::AllocOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// A loop over the elements of a matrix whose rows are worth loops of their own: neither short nor few. Elements that
/// are sums are products of matrices, which have better kernels.
bool isOfLongRows(scf::ParallelOp loop) {
  constexpr int64_t shortRow = 32, fewRows = 32;
  std::optional<int64_t> const rows = getConstantIntValue(loop.getUpperBound().front()),
                               length = getConstantIntValue(loop.getUpperBound().back());
  auto const isLoop = [](Operation &op) { return isa<LoopLikeOpInterface>(op); };
  return loop.getNumLoops() == 2 && loop.getNumResults() == 0 && llvm::none_of(*loop.getBody(), isLoop) &&
         isConstantIntValue(loop.getLowerBound()[1], 0) && isConstantIntValue(loop.getStep()[1], 1) &&
         !(length && *length < shortRow) && !(rows && *rows < fewRows);
}

class Fusion {
public:
  explicit Fusion(RewriterBase &rewriter) : rewriter(rewriter) {}

  void visit(Block &block) {
    for (Operation *op = &block.front(); op; op = op->getNextNode()) {
      auto loop = dyn_cast<scf::ParallelOp>(op);
      while (loop) {
        if (scf::ParallelOp const next = partnerOf(loop))
          op = loop = fuse(loop, next);
        else if (scf::ParallelOp const both = fuseRows(loop))
          op = loop = both;
        else
          break;
      }
      if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
        for (Region &region : op->getRegions())
          for (Block &inner : region)
            visit(inner);
    }
  }

private:
  /// What is fused is asked again for each loop more: a kernel takes in so many operations.
  static constexpr unsigned mostOperations = 256;

  static unsigned operationsIn(scf::ParallelOp loop) {
    unsigned count = 0;
    loop.getBody()->walk(
        [&](Operation *) { return ++count > mostOperations ? WalkResult::interrupt() : WalkResult::advance(); });
    return count;
  }

  /// The next parallel loop, if it may be one with `loop`.
  scf::ParallelOp partnerOf(scf::ParallelOp loop) {
    SmallVector<Touch> own, between, others;
    if (operationsIn(loop) >= mostOperations || !mayFuse(loop) || !collectTouches(loop, own))
      return {};
    moved.clear();
    llvm::SmallPtrSet<Operation *, 8> behind = {loop}; // what cannot move in front of the loop
    for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
      bool const needsLoop = llvm::any_of(op->getOperands(), [&](Value operand) {
        return operand.getDefiningOp() && behind.contains(operand.getDefiningOp());
      });
      auto next = dyn_cast<scf::ParallelOp>(op);
      if (next)
        return !needsLoop && operationsIn(loop) + operationsIn(next) <= mostOperations && mayFuse(next) &&
                       canReduceTogether(loop, next) && haveSameBounds(loop, next) &&
                       !haveOtherDirections(loop, next) && collectTouches(next, others) &&
                       areApart(own, loop, others, next) && !conflict(between, others) && !usesOf(next, behind)
                   ? next
                   : scf::ParallelOp();
      if ((isPure(op) || isa<memref::AllocOp>(op)) && op->getNumRegions() == 0 && !needsLoop) {
        moved.push_back(op);
        continue;
      }
      if (op->getNumRegions() != 0 || !isa<memref::LoadOp, memref::StoreOp, memref::DimOp>(op) ||
          !collectTouches(op, between)) {
        if (!isPure(op) || op->getNumRegions() != 0)
          return {};
      }
      behind.insert(op);
    }
    return {};
  }

  static scf::ParallelOp nextLoop(scf::ParallelOp loop) {
    for (Operation *op = loop->getNextNode(); op; op = op->getNextNode())
      if (auto next = dyn_cast<scf::ParallelOp>(op))
        return next;
    return {};
  }

  /// The loop and the next one, if one is over rows and the other one over the elements of a matrix that has them.
  scf::ParallelOp fuseRows(scf::ParallelOp loop) {
    scf::ParallelOp const next = nextLoop(loop);
    bool const isSecond = next && joinsRows(loop) && isOfLongRows(next);
    if (!isSecond && !(next && isOfLongRows(loop) && joinsRows(next)))
      return {};
    scf::ParallelOp const grid = isSecond ? next : loop, rows = byRows(grid);
    scf::ParallelOp const first = isSecond ? loop : rows, second = isSecond ? rows : next;
    if (!isSecond) // which would be in between
      rewriter.moveOpAfter(rows, grid);
    if (partnerOf(first) != second) {
      rewriter.eraseOp(rows);
      return {};
    }
    rewriter.eraseOp(grid);
    return fuse(first, second);
  }

  /// A copy of the loop over a matrix, in front of it, that is a loop over its rows around one along each.
  scf::ParallelOp byRows(scf::ParallelOp grid) {
    rewriter.setInsertionPoint(grid);
    Location const location = grid.getLoc();
    auto rows =
        rewriter.create<scf::ParallelOp>(location, grid.getLowerBound()[0], grid.getUpperBound()[0], grid.getStep()[0]);
    rows->setDiscardableAttrs(grid->getDiscardableAttrDictionary());
    rewriter.setInsertionPointToStart(rows.getBody());
    auto along =
        rewriter.create<scf::ParallelOp>(location, grid.getLowerBound()[1], grid.getUpperBound()[1], grid.getStep()[1]);
    IRMapping values;
    Value const indices[] = {rows.getInductionVars()[0], along.getInductionVars()[0]};
    for (auto [old, made] : llvm::zip(grid.getInductionVars(), indices)) {
      Value(made).setLoc(old.getLoc());
      values.map(old, made);
    }
    rewriter.setInsertionPointToStart(along.getBody());
    for (Operation &op : grid.getBody()->without_terminator())
      rewriter.clone(op, values);
    return rows;
  }

  static bool usesOf(scf::ParallelOp next, llvm::SmallPtrSetImpl<Operation *> const &behind) {
    return next
        ->walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (operand.getDefiningOp() && behind.contains(operand.getDefiningOp()))
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Both at the place of the first.
  scf::ParallelOp fuse(scf::ParallelOp first, scf::ParallelOp second) {
    for (Operation *op : moved)
      rewriter.moveOpBefore(op, first);
    rewriter.setInsertionPoint(first);
    SmallVector<Value> initials(first.getInitVals());
    llvm::append_range(initials, second.getInitVals());
    auto both = rewriter.create<scf::ParallelOp>(first.getLoc(), first.getLowerBound(), first.getUpperBound(),
                                                 first.getStep(), initials);
    both->setDiscardableAttrs(first->getDiscardableAttrDictionary());
    if (Attribute const names = second->getAttr(reductionNames); names && first.getNumResults() == 0)
      both->setAttr(reductionNames, names);
    if (!both.getBody()->empty())
      rewriter.eraseOp(both.getBody()->getTerminator());
    for (auto [argument, named] : llvm::zip(both.getBody()->getArguments(), first.getBody()->getArguments()))
      argument.setLoc(named.getLoc());
    scf::ReduceOp reduce;
    for (scf::ParallelOp part : {first, second}) {
      auto own = cast<scf::ReduceOp>(part.getBody()->getTerminator());
      rewriter.mergeBlocks(part.getBody(), both.getBody(), both.getBody()->getArguments());
      if (reduce && own.getNumOperands() == 0)
        rewriter.eraseOp(own);
      else if (reduce)
        reduce = join(reduce, own);
      else
        reduce = own;
    }
    if (reduce != &both.getBody()->back())
      rewriter.moveOpAfter(reduce, &both.getBody()->back());
    if (both.getNumResults() > 1)
      nameReductions(first, second, both);
    forwardStores(*both.getBody());
    forwardIntoLoops(both);
    SmallVector<Value> results(both.getResults());
    for (OpResult result : both.getResults())
      result.getOwner()->setLoc(first.getNumResults() ? first.getLoc() : second.getLoc());
    rewriter.replaceOp(first, ArrayRef<Value>(results).take_front(first.getNumResults()));
    rewriter.replaceOp(second, ArrayRef<Value>(results).take_back(second.getNumResults()));
    return both;
  }

  /// The terms of both, at the place of the second.
  scf::ReduceOp join(scf::ReduceOp first, scf::ReduceOp second) {
    SmallVector<Value> terms(first.getOperands());
    llvm::append_range(terms, second.getOperands());
    rewriter.setInsertionPoint(second);
    auto both = rewriter.create<scf::ReduceOp>(second.getLoc(), terms);
    unsigned place = 0;
    for (scf::ReduceOp part : {first, second}) {
      for (Region &region : part.getReductions())
        both.getReductions()[place++].takeBody(region);
      rewriter.eraseOp(part);
    }
    return both;
  }

  /// Each is called as the loop that it comes from.
  void nameReductions(scf::ParallelOp first, scf::ParallelOp second, scf::ParallelOp both) {
    SmallVector<Attribute> names;
    for (scf::ParallelOp part : {first, second})
      for (OpResult result : part.getResults())
        names.push_back(rewriter.getStringAttr(nameOfReduction(result)));
    both->setAttr(reductionNames, rewriter.getArrayAttr(names));
  }

  /// Inner loops need not read what the iteration has stored in front of them, at its own position.
  void forwardIntoLoops(scf::ParallelOp loop) {
    auto const hasRegion = [](Operation &op) { return op.getNumRegions() > 0; };
    if (llvm::none_of(loop.getBody()->without_terminator(), hasRegion)) // long fused loops are asked again and again
      return;
    for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
      SmallVector<memref::LoadOp> loads;
      unsigned stores = 0;
      loop.walk([&](Operation *op) {
        auto other = dyn_cast<memref::StoreOp>(op);
        stores += bool(other) && mayAlias(other.getMemref(), store.getMemref());
        auto load = dyn_cast<memref::LoadOp>(op);
        Operation *const outer = load ? loop.getBody()->findAncestorOpInBlock(*op) : nullptr;
        if (outer && store->isBeforeInBlock(outer) && load.getMemref() == store.getMemref() &&
            llvm::equal(load.getIndices(), store.getIndices()))
          loads.push_back(load);
      });
      bool const isOwn = llvm::equal(store.getIndices(), loop.getInductionVars());
      for (memref::LoadOp load : loads)
        if (stores == 1 && isOwn)
          rewriter.replaceOp(load, store.getValue());
    }
  }

  static bool haveSameForms(ValueRange a, ValueRange b) {
    return llvm::all_of(llvm::zip(a, b), [](auto pair) {
      auto const [x, y] = pair;
      return x == y || distance(linearForm(x), {}, linearForm(y), {}) == 0;
    });
  }

  /// What the block has stored it need not read again.
  void forwardStores(Block &block) {
    llvm::SmallDenseSet<Value> updated; // of which loads are a part
    block.walk([&](memref::StoreOp store) {
      if (nest::isAtomic(store))
        updated.insert(store.getMemref());
    });
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto load = dyn_cast<memref::LoadOp>(op);
      if (!load || updated.contains(load.getMemref()))
        continue;
      for (Operation *before = load->getPrevNode(); before; before = before->getPrevNode()) {
        auto store = dyn_cast<memref::StoreOp>(before);
        if (store && store.getMemref() == load.getMemref() && haveSameForms(store.getIndices(), load.getIndices())) {
          rewriter.replaceOp(load, store.getValue());
          break;
        }
        SmallVector<Touch> touches;
        bool const isKnown = collectTouches(before, touches);
        if (!isKnown || llvm::any_of(touches, [&](Touch const &touch) {
              return touch.writes && mayAlias(touch.memref, load.getMemref());
            }))
          break;
      }
    }
  }

  RewriterBase &rewriter;
  SmallVector<Operation *> moved; ///< pure operations and allocations between the two
};

} // namespace

std::string nameOfReduction(OpResult result) {
  auto const names = result.getOwner()->getAttrOfType<ArrayAttr>(reductionNames);
  bool const areOfResults = names && names.size() == result.getOwner()->getNumResults(); // not of fewer, folded since
  return areOfResults ? cast<StringAttr>(names[result.getResultNumber()]).str() : nameInLocation(result.getLoc());
}

/// Memory that is written and never read: what was read there is in registers.
static void eraseUnread(func::FuncOp entry) {
  SmallVector<memref::AllocOp> unread;
  entry.walk([&](memref::AllocOp allocation) {
    if (llvm::all_of(allocation->getUsers(), [&](Operation *user) {
          auto store = dyn_cast<memref::StoreOp>(user);
          return isa<memref::DeallocOp>(user) || (store && store.getValue() != allocation);
        }))
      unread.push_back(allocation);
  });
  for (memref::AllocOp allocation : unread) {
    for (Operation *user : llvm::make_early_inc_range(allocation->getUsers()))
      user->erase();
    allocation->erase();
  }
}

void fuseLoops(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  Fusion(rewriter).visit(entry.getBody().front());
  recomputeTerms(entry);
  eraseUnread(entry);
}

} // namespace ml2k
