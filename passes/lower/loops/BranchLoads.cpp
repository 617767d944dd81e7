//===- BranchLoads.cpp - what was read in front of a branch is not read again in it -------------------------------===//
//
// `if x[i] < least: least = x[i]` reads x twice, since common expressions are not looked for across branches. Read
// once, both ways of the branch are numbers that are there already, and the branch is a choice between them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

/// The same element read by an operation in front of `branch`, or of a branch around it, unless it may have changed.
static memref::LoadOp readBefore(scf::IfOp branch, memref::LoadOp load) {
  constexpr unsigned most = 64; // operations looked at
  unsigned looked = 0;
  for (; branch; branch = dyn_cast<scf::IfOp>(branch->getParentOp()))
    for (Operation *op = branch->getPrevNode(); op; op = op->getPrevNode()) {
      auto other = dyn_cast<memref::LoadOp>(op);
      if (other && other.getMemref() == load.getMemref() && other.getIndices() == load.getIndices())
        return other;
      auto store = dyn_cast<memref::StoreOp>(op);
      bool const keeps = other || isPure(op) || (store && !mayAlias(store.getMemref(), load.getMemref()));
      if (!keeps || ++looked > most)
        return {};
    }
  return {};
}

static void shareLoads(RewriterBase &rewriter, scf::IfOp branch) {
  for (Region *region : branch.getRegions())
    for (Block &block : *region)
      for (Operation &op : llvm::make_early_inc_range(block)) {
        auto load = dyn_cast<memref::LoadOp>(op);
        if (!load && !isPure(&op))
          break;
        if (memref::LoadOp const before = load ? readBefore(branch, load) : memref::LoadOp())
          rewriter.replaceOp(load, before);
      }
}

/// A branch that only yields what is there becomes a select for each result.
static void chooseValues(RewriterBase &rewriter, scf::IfOp branch) {
  if (branch.getNumResults() == 0 || !llvm::hasSingleElement(*branch.thenBlock()) ||
      !llvm::hasSingleElement(*branch.elseBlock()))
    return;
  rewriter.setInsertionPoint(branch);
  SmallVector<Value> chosen;
  for (auto [yes, no] : llvm::zip(branch.thenYield().getOperands(), branch.elseYield().getOperands()))
    chosen.push_back(
        rewriter.createOrFold<arith::SelectOp>(branch.getLoc(), branch.getCondition(), Value(yes), Value(no)));
  rewriter.replaceOp(branch, chosen);
}

void shareBranchLoads(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  entry.walk<WalkOrder::PreOrder>([&](scf::IfOp branch) { shareLoads(rewriter, branch); });
  entry.walk([&](scf::IfOp branch) { chooseValues(rewriter, branch); });
}

} // namespace ml2k
