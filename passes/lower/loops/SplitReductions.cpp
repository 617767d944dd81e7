//===- SplitReductions.cpp - loops with several reductions become loops with one each -----------------------------===//
//
// A kernel has reductions of one type: another loop with several becomes several loops, the last of which writes what
// it did. Where that needs what an iteration writes, terms of other types are stored and reduced by a loop of their
// own.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Whether an iteration finds in memory what was there before the loop: loads of what it writes come first.
bool readsBeforeItWrites(scf::ParallelOp loop) {
  SmallVector<Value> written;
  bool isPlain = true;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      written.push_back(store.getMemref());
      isPlain &= op->getBlock() == loop.getBody();
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      isPlain &= llvm::none_of(written, [&](Value memref) { return mayAlias(memref, load.getMemref()); });
    } else {
      isPlain &= isa<scf::ReduceOp, scf::ReduceReturnOp, scf::YieldOp, scf::IfOp, scf::ForOp>(op) || isPure(op);
    }
  });
  return isPlain || written.empty();
}

void eraseWrites(RewriterBase &rewriter, scf::ParallelOp loop) {
  SmallVector<memref::StoreOp> stores(loop.getBody()->getOps<memref::StoreOp>());
  for (memref::StoreOp store : stores)
    rewriter.eraseOp(store);
}

void copyReduction(RewriterBase &rewriter, Region &from, Region &into) {
  Block &block = into.front();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&block);
  IRMapping joined;
  joined.map(from.front().getArguments(), block.getArguments());
  for (Operation &op : from.front())
    rewriter.clone(op, joined);
}

/// The loop with the reduction at `place` alone.
scf::ParallelOp reductionAlone(RewriterBase &rewriter, scf::ParallelOp loop, unsigned place) {
  rewriter.setInsertionPoint(loop);
  auto part = rewriter.create<scf::ParallelOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                               loop.getStep(), ValueRange(loop.getInitVals()[place]));
  part->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  part->setAttr(reductionNames, rewriter.getStrArrayAttr({nameOfReduction(loop->getResult(place))}));
  IRMapping values;
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), part.getBody()->getArguments())) {
    to.setLoc(from.getLoc());
    values.map(from, to);
  }
  rewriter.setInsertionPointToEnd(part.getBody());
  for (Operation &op : loop.getBody()->without_terminator())
    rewriter.clone(op, values);
  auto all = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  auto reduce =
      rewriter.create<scf::ReduceOp>(all.getLoc(), ValueRange(values.lookupOrDefault(all.getOperands()[place])));
  copyReduction(rewriter, all.getReductions()[place], reduce.getReductions()[0]);
  return part;
}

/// How often a loop runs along each of its dimensions.
SmallVector<Value> tripCounts(RewriterBase &rewriter, scf::ParallelOp loop) {
  SmallVector<Value> counts;
  for (auto [lower, upper, step] : llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value const length = rewriter.createOrFold<arith::SubIOp>(loop.getLoc(), upper, lower);
    counts.push_back(
        isConstantIntValue(step, 1) ? length : rewriter.createOrFold<arith::CeilDivSIOp>(loop.getLoc(), length, step));
  }
  return counts;
}

/// The loop without the reductions at `places`, whose terms go to `arrays`. Returns what replaces the others.
SmallVector<Value> storeTerms(RewriterBase &rewriter, scf::ParallelOp loop, ArrayRef<unsigned> places,
                              ArrayRef<Value> arrays) {
  Location const location = loop.getLoc();
  auto all = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(all);
  SmallVector<Value> at;
  for (auto [index, lower, step] : llvm::zip(loop.getInductionVars(), loop.getLowerBound(), loop.getStep())) {
    Value const from = rewriter.createOrFold<arith::SubIOp>(location, index, lower);
    at.push_back(isConstantIntValue(step, 1) ? from : rewriter.createOrFold<arith::DivSIOp>(location, from, step));
  }
  for (auto [place, array] : llvm::zip(places, arrays))
    rewriter.create<memref::StoreOp>(location, all.getOperands()[place], array, at);
  SmallVector<Value> inits, terms;
  SmallVector<std::string> names;
  SmallVector<unsigned> kept;
  for (unsigned place = 0; place < loop.getNumResults(); ++place)
    if (!llvm::is_contained(places, place)) {
      kept.push_back(place);
      inits.push_back(loop.getInitVals()[place]);
      terms.push_back(all.getOperands()[place]);
      names.push_back(nameOfReduction(loop->getResult(place)));
    }
  rewriter.setInsertionPoint(loop);
  auto lean =
      rewriter.create<scf::ParallelOp>(location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  lean->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  lean->setAttr(reductionNames, rewriter.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end())));
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), lean.getBody()->getArguments())) {
    to.setLoc(from.getLoc());
    rewriter.replaceAllUsesWith(from, to);
  }
  lean.getBody()->getOperations().splice(lean.getBody()->end(), loop.getBody()->getOperations(),
                                         loop.getBody()->begin(), all->getIterator());
  rewriter.setInsertionPointToEnd(lean.getBody());
  auto reduce = rewriter.create<scf::ReduceOp>(location, terms);
  for (auto [number, place] : llvm::enumerate(kept))
    copyReduction(rewriter, all.getReductions()[place], reduce.getReductions()[number]);
  SmallVector<Value> results(loop.getNumResults());
  for (auto [number, place] : llvm::enumerate(kept))
    results[place] = lean.getResult(number);
  return results;
}

/// The reduction at `place` of terms that lie in `array`.
Value reduceStored(RewriterBase &rewriter, scf::ParallelOp loop, unsigned place, Value array, ValueRange counts) {
  Location const location = loop.getLoc();
  SmallVector<Value> const zeros(counts.size(), rewriter.create<arith::ConstantIndexOp>(location, 0)),
      ones(counts.size(), rewriter.create<arith::ConstantIndexOp>(location, 1));
  auto part = rewriter.create<scf::ParallelOp>(location, zeros, counts, ones, ValueRange(loop.getInitVals()[place]));
  part->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  part->setAttr(reductionNames, rewriter.getStrArrayAttr({nameOfReduction(loop->getResult(place))}));
  rewriter.setInsertionPointToEnd(part.getBody());
  Value const term = rewriter.create<memref::LoadOp>(location, array, part.getInductionVars());
  auto reduce = rewriter.create<scf::ReduceOp>(location, term);
  copyReduction(rewriter, cast<scf::ReduceOp>(loop.getBody()->getTerminator()).getReductions()[place],
                reduce.getReductions()[0]);
  rewriter.setInsertionPointAfter(part);
  return part.getResult(0);
}

/// A kernel with the reductions of the first type; in order, where the number of iterations is known in a loop only.
void reduceByType(RewriterBase &rewriter, func::FuncOp entry, scf::ParallelOp loop) {
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> const counts = tripCounts(rewriter, loop);
  SmallVector<unsigned> places;
  SmallVector<Value> arrays;
  for (OpResult result : loop.getResults())
    if (result.getType() != loop.getResult(0).getType()) {
      places.push_back(result.getResultNumber());
      std::string const name = nameOfReduction(result);
      arrays.push_back(makeArray(entry, result.getType(), counts, name.empty() ? "terms" : name + "_terms"));
      if (!arrays.back()) {
        for (scf::ForOp inOrder : makeSequential(rewriter, loop))
          inOrder->setAttr("nest.note", rewriter.getStringAttr("sequential: reductions of several types, and a number "
                                                               "of iterations that is known in a loop only"));
        return;
      }
    }
  SmallVector<Value> results = storeTerms(rewriter, loop, places, arrays);
  rewriter.setInsertionPoint(loop);
  for (auto [place, array] : llvm::zip(places, arrays))
    results[place] = reduceStored(rewriter, loop, place, array, counts);
  rewriter.replaceOp(loop, results);
}

} // namespace

void splitReductions(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<scf::ParallelOp> loops;
  entry.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
    if (loop.getNumResults() > 1 && !llvm::all_equal(loop.getResultTypes()))
      loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ParallelOp loop : loops) {
    if (!readsBeforeItWrites(loop)) {
      reduceByType(rewriter, entry, loop);
      continue;
    }
    for (OpResult result : loop.getResults()) {
      scf::ParallelOp part = reductionAlone(rewriter, loop, result.getResultNumber());
      result.replaceAllUsesWith(part.getResult(0));
      if (result.getResultNumber() + 1 < loop.getNumResults())
        eraseWrites(rewriter, part);
    }
    rewriter.eraseOp(loop);
  }
}

} // namespace ml2k
