//===- SinkLoops.cpp - a loop around one kernel goes into its iterations -----------------------------------------===//
//
// `for k: parallel i: y(k, i) = f(y(k - 1, i))` is a launch for each k. Where iterations of the parallel loop touch
// nothing that others do, in whatever step, each may take all steps by itself: one launch. What else the steps do, such
// as counting, is a loop of its own.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/AtomicUpdates.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {
namespace {

struct Step {
  scf::ParallelOp kernel;            ///< the only one
  SmallVector<memref::LoadOp> loads; ///< around it
  SmallVector<memref::StoreOp> stores;
};

/// Around the kernel are sizes, numbers and single elements.
std::optional<Step> stepOf(scf::ForOp loop) {
  Step step;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto const parallel = dyn_cast<scf::ParallelOp>(op);
    if (parallel && !step.kernel)
      step.kernel = parallel;
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      step.loads.push_back(load);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      step.stores.push_back(store);
    else if (parallel || !isPure(&op) || op.getNumRegions() != 0)
      return std::nullopt;
  }
  return step.kernel ? std::optional(step) : std::nullopt;
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

/// Puts the steps into the iterations of the kernel if that is proved to be the same; the loop goes.
bool sinkSteps(RewriterBase &rewriter, scf::ForOp loop, scf::ParallelOp kernel) {
  if (!maySink(loop, kernel))
    return false;
  SmallVector<scf::ForOp> loops = turnedRound(rewriter, loop, kernel);
  if (!llvm::all_of(loops, [](scf::ForOp position) { return dependenceOf(position).empty(); })) {
    rewriter.eraseOp(loops.front());
    return false;
  }
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
  return true;
}

/// A copy of the loop in front of it without `dropped`, and without what nothing needs then.
scf::ForOp copyWithout(RewriterBase &rewriter, scf::ForOp loop, ArrayRef<Operation *> dropped) {
  rewriter.setInsertionPoint(loop);
  IRMapping values;
  auto copy = cast<scf::ForOp>(rewriter.clone(*loop, values));
  for (Operation *op : dropped)
    rewriter.eraseOp(values.lookup(op));
  SmallVector<Operation *> const left =
      llvm::map_to_vector(copy.getBody()->without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(left))
    if (op->use_empty() && (isPure(op) || isa<memref::LoadOp>(op)))
      rewriter.eraseOp(op);
  return copy;
}

/// Steps that store single elements, too, all of them on one side of the kernel: two loops, if their order is no
/// matter.
void sinkApart(RewriterBase &rewriter, scf::ForOp loop, Step step) {
  auto const isFirst = [&](memref::StoreOp store) { return store->isBeforeInBlock(step.kernel); };
  bool const storesFirst = isFirst(step.stores.front());
  auto const isWritten = [&](memref::LoadOp load) { // so that it may not be repeated
    auto const touches = [&](memref::StoreOp store) { return mayAlias(load.getMemRef(), store.getMemRef()); };
    return llvm::any_of(step.stores, touches) || step.kernel
                                                     ->walk([&](memref::StoreOp store) {
                                                       return touches(store) ? WalkResult::interrupt()
                                                                             : WalkResult::advance();
                                                     })
                                                     .wasInterrupted();
  };
  if (llvm::any_of(step.stores, [&](memref::StoreOp store) { return isFirst(store) != storesFirst; }) ||
      !maySink(loop, step.kernel) || !mayRunApart(loop, storesFirst ? step.kernel : step.kernel->getNextNode()))
    return;
  SmallVector<Operation *> const stores(step.stores.begin(), step.stores.end());
  auto const copyRest = [&] { return copyWithout(rewriter, loop, {step.kernel}); };
  scf::ForOp rest = storesFirst ? copyRest() : scf::ForOp(), around = copyWithout(rewriter, loop, stores);
  if (!rest)
    rest = copyRest();
  std::optional<Step> const alone = stepOf(around);
  llvm::SmallSetVector<Value, 4> read; // by the loop of the kernel
  for (memref::LoadOp load : alone->loads)
    read.insert(load.getMemRef());
  bool const isSame = llvm::none_of(
      step.loads, [&](memref::LoadOp load) { return read.contains(load.getMemRef()) && isWritten(load); });
  if (!isSame || !sinkSteps(rewriter, around, alone->kernel)) {
    rewriter.eraseOp(around);
    return rewriter.eraseOp(rest);
  }
  rewriter.eraseOp(loop);
}

void sink(RewriterBase &rewriter, scf::ForOp loop) {
  std::optional<Step> const step = stepOf(loop);
  if (step && step->stores.empty())
    sinkSteps(rewriter, loop, step->kernel);
  else if (step)
    sinkApart(rewriter, loop, *step);
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
