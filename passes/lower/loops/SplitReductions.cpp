//===- SplitReductions.cpp - loops with several reductions become loops with one each -----------------------------===//
//
// A kernel has reductions of one type: another loop with several becomes several loops, the last of which writes what
// it did.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"

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
  Block &from = all.getReductions()[place].front(), &to = reduce.getReductions()[0].front();
  rewriter.setInsertionPointToEnd(&to);
  IRMapping joined;
  joined.map(from.getArguments(), to.getArguments());
  for (Operation &op : from)
    rewriter.clone(op, joined);
  return part;
}

} // namespace

void splitReductions(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<scf::ParallelOp> loops;
  entry.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
    if (loop.getNumResults() > 1 && !llvm::all_equal(loop.getResultTypes()) && readsBeforeItWrites(loop))
      loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ParallelOp loop : loops) {
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
