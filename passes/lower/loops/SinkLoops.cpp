//===- SinkLoops.cpp - a loop around one kernel goes into its iterations -----------------------------------------===//
//
// `for k: parallel i: y(k, i) = f(y(k - 1, i))` is a launch for each k. Where iterations of the parallel loop touch
// nothing that others do, in whatever step, each may take all steps by itself: one launch.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/AtomicUpdates.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

/// The only kernel of the loop; around it are sizes and numbers.
scf::ParallelOp onlyKernel(scf::ForOp loop) {
  scf::ParallelOp kernel;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto const parallel = dyn_cast<scf::ParallelOp>(op);
    if (parallel && !kernel)
      kernel = parallel;
    else if (!isPure(&op) || op.getNumRegions() != 0 || parallel)
      return {};
  }
  return kernel;
}

/// Whether the kernel is the same in each step, but for what it computes.
bool maySink(scf::ForOp loop, scf::ParallelOp kernel) {
  auto const isOutside = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
  bool const hasFixedBounds = llvm::all_of(kernel->getOperands(), isOutside);
  bool const isMarked =
      kernel->hasAttr("nest.ordered") || !nest::labelOf(kernel).empty() || nest::hasAtomicUpdates(kernel);
  return loop.getNumResults() == 0 && kernel.getNumResults() == 0 && hasFixedBounds && !isMarked &&
         !kernel.getBody()
              ->walk([](Operation *op) {
                return isa<memref::AllocOp, scf::ParallelOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Sequential loops over the positions of the kernel, the steps of `loop` innermost, in front of `loop`.
SmallVector<scf::ForOp> turnedRound(RewriterBase &rewriter, scf::ForOp loop, scf::ParallelOp kernel) {
  rewriter.setInsertionPoint(loop);
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> positions;
  for (auto [lower, upper, step, index] :
       llvm::zip(kernel.getLowerBound(), kernel.getUpperBound(), kernel.getStep(), kernel.getInductionVars())) {
    loops.push_back(rewriter.create<scf::ForOp>(kernel.getLoc(), lower, upper, step));
    positions.push_back(loops.back().getInductionVar());
    positions.back().setLoc(index.getLoc());
    rewriter.setInsertionPointToStart(loops.back().getBody());
  }
  IRMapping values;
  auto steps = rewriter.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  steps.getInductionVar().setLoc(loop.getInductionVar().getLoc());
  values.map(loop.getInductionVar(), steps.getInductionVar());
  rewriter.setInsertionPointToStart(steps.getBody());
  values.map(kernel.getInductionVars(), positions);
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != kernel)
      rewriter.clone(op, values);
    else
      for (Operation &inner : kernel.getBody()->without_terminator())
        rewriter.clone(inner, values);
  return loops;
}

void sink(RewriterBase &rewriter, scf::ForOp loop) {
  scf::ParallelOp kernel = onlyKernel(loop);
  if (!kernel || !maySink(loop, kernel))
    return;
  SmallVector<scf::ForOp> loops = turnedRound(rewriter, loop, kernel);
  if (!llvm::all_of(loops, [](scf::ForOp position) { return dependenceOf(position).empty(); }))
    return rewriter.eraseOp(loops.front());
  rewriter.setInsertionPoint(loop);
  auto sunk =
      rewriter.create<scf::ParallelOp>(loop.getLoc(), kernel.getLowerBound(), kernel.getUpperBound(), kernel.getStep());
  sunk->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  sunk->setAttr("nest.note", rewriter.getStringAttr("parallel: each takes all steps by itself"));
  for (auto [made, index] : llvm::zip(sunk.getInductionVars(), kernel.getInductionVars()))
    made.setLoc(index.getLoc());
  rewriter.eraseOp(loops.back().getBody()->getTerminator());
  rewriter.setInsertionPoint(sunk.getBody()->getTerminator());
  sunk.getBody()->getOperations().splice(sunk.getBody()->getTerminator()->getIterator(),
                                         loops.back().getBody()->getOperations());
  for (auto [made, position] : llvm::zip(sunk.getInductionVars(), loops))
    rewriter.replaceAllUsesWith(position.getInductionVar(), made);
  rewriter.eraseOp(loop);
  scf::ForOp outermost = loops.front();
  rewriter.setInsertionPointToEnd(loops.back().getBody());
  rewriter.create<scf::YieldOp>(outermost->getLoc());
  rewriter.eraseOp(outermost);
}

} // namespace

void sinkLoops(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<scf::ForOp> loops; // inner ones first
  entry.walk([&](scf::ForOp loop) {
    if (!loop->getParentOfType<scf::ParallelOp>())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    sink(rewriter, loop);
}

} // namespace ml2k
