//===- DistributeLoops.cpp - a loop becomes two, one after the other ----------------------------------------------===//
//
// A sequential loop whose body has a part that is parallel in itself would be a launch for each of its iterations, or
// one thread's work. Where no iteration of the rest touches what another iteration of the part does, all of the part
// runs first.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/DistributeLoops.h"

#include "passes/lower/loops/Dependence.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr unsigned mostCuts = 8; // each copies the loop

/// Erases what is in front of operation `cut` of the body, or the rest. Numbers that the other part needs, too, stay in
/// both; false if it needs more.
bool keepPart(RewriterBase &rewriter, scf::ForOp loop, unsigned cut, bool first) {
  SmallVector<Operation *> others;
  for (auto [place, op] : llvm::enumerate(loop.getBody()->without_terminator()))
    if (first != (place < cut))
      others.push_back(&op);
  for (Operation *op : llvm::reverse(others)) {
    bool const isNumber = isPure(op) && op->getNumRegions() == 0;
    if (op->use_empty())
      rewriter.eraseOp(op);
    else if (!isNumber)
      return false;
  }
  return true;
}

/// A part without one is an initial value, which stays where it is used.
bool hasLoop(scf::ForOp loop) { return !loop.getBody()->getOps<scf::ForOp>().empty(); }

SmallVector<scf::ForOp> cutAt(RewriterBase &rewriter, scf::ForOp loop, unsigned cut) {
  rewriter.setInsertionPoint(loop);
  auto first = cast<scf::ForOp>(rewriter.clone(*loop)), second = cast<scf::ForOp>(rewriter.clone(*loop));
  if (keepPart(rewriter, first, cut, true) && keepPart(rewriter, second, cut, false) && hasLoop(first) &&
      hasLoop(second) && (dependenceOf(first).empty() || dependenceOf(second).empty())) {
    rewriter.eraseOp(loop);
    return {first, second};
  }
  rewriter.eraseOp(first);
  rewriter.eraseOp(second);
  return {};
}

} // namespace

SmallVector<scf::ForOp> distribute(RewriterBase &rewriter, scf::ForOp loop) {
  if (loop.getNumResults() != 0)
    return {};
  unsigned place = 0, cuts = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    Operation *const cut = op.getNextNode();
    ++place;
    if (!isa<scf::ForOp>(op) && !isa<scf::ForOp>(cut))
      continue;
    if (isa<scf::YieldOp>(cut) || ++cuts > mostCuts)
      return {};
    if (!mayRunApart(loop, cut))
      continue;
    if (SmallVector<scf::ForOp> parts = cutAt(rewriter, loop, place); !parts.empty())
      return parts;
  }
  return {};
}

} // namespace ml2k
