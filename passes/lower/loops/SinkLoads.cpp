//===- SinkLoads.cpp - kernels load elements themselves -----------------------------------------------------------===//
//
// `a[i, j] -= kk.sum(...)` loads a(i, j) in front of the kernel that sums, and `a[k + 1:, k] /= a[k, k]` loads a(k, k)
// in front of the one that divides: a kernel each, for a scalar of the workspace. Where nothing writes the element in
// between, it is loaded where it is needed.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/ElementTouches.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr unsigned mostBetween = 32; // operations that a load passes: time must not grow with the square of a block

bool hasKernels(Operation *op) {
  return op->walk([](scf::ParallelOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Operations of the load's block that use it, each once; empty where the host may need the value.
SmallVector<Operation *> usersOf(memref::LoadOp load) {
  llvm::SmallSetVector<Operation *, 4> users;
  for (Operation *user : load->getUsers()) {
    Operation *const own = load->getBlock()->findAncestorOpInBlock(*user);
    bool const isSerial = own && !hasKernels(own);
    if (!isSerial && !(own && own != user && isa<scf::ParallelOp>(own)))
      return {};
    users.insert(own);
  }
  SmallVector<Operation *> sorted(users.takeVector());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

/// Whether the element is the same up to the last user, and in it.
bool isKept(memref::LoadOp load, Operation *last) {
  unsigned left = mostBetween, proofs = 32;
  bool passesKernel = false;
  for (Operation *op = load->getNextNode();; op = op->getNextNode()) {
    bool const isEnd = op == last, isKernel = isa<scf::ParallelOp>(op);
    if (left-- == 0 || (!isKernel && hasKernels(op)))
      return false;
    passesKernel |= isKernel;
    bool const isTouched = !(isEnd && !isKernel) && mayTouch(op, *elementOf(load), op, proofs, /*onlyWrites=*/true);
    if (isTouched)
      return false;
    if (isEnd)
      return passesKernel;
  }
}

void sink(RewriterBase &rewriter, memref::LoadOp load) {
  SmallVector<Operation *> const users = usersOf(load);
  if (users.empty() || !isKept(load, users.back()))
    return;
  for (Operation *user : users)
    if (auto kernel = dyn_cast<scf::ParallelOp>(user)) {
      rewriter.setInsertionPointToStart(kernel.getBody());
      Operation *copy = rewriter.clone(*load);
      rewriter.replaceOpUsesWithIf(load, copy->getResults(),
                                   [&](OpOperand &use) { return kernel->isProperAncestor(use.getOwner()); });
    }
  if (load->use_empty())
    return rewriter.eraseOp(load);
  Operation *const first = *llvm::find_if(users, [](Operation *user) { return !isa<scf::ParallelOp>(user); });
  rewriter.moveOpBefore(load, first);
}

} // namespace

void sinkLoads(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<memref::LoadOp> loads;
  entry.walk([&](memref::LoadOp load) {
    if (load.getMemRefType().getRank() > 0 && !load->getParentOfType<scf::ParallelOp>())
      loads.push_back(load);
  });
  for (memref::LoadOp load : llvm::reverse(loads)) // behind those that they pass
    sink(rewriter, load);
}

} // namespace ml2k
