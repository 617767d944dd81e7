//===- FoldScalars.cpp - scalars between kernels are computed where they are used ---------------------------------===//
//
// The step length of a solver is a quotient of two sums, and a coefficient that a compiler has moved out of a loop is
// an element of an array. A kernel of one thread for it costs a launch; the kernel that needs it loads and divides
// itself, as long as memory is still what it was.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/ReadBack.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

bool writes(Operation *op, Value memref) {
  auto const isIt = [&](Value other) { return mayAlias(other, memref); };
  return op
      ->walk([&](Operation *inner) {
        auto store = dyn_cast<memref::StoreOp>(inner);
        auto kernel = dyn_cast<nest::LoopKernelOp>(inner);
        bool const known = store || kernel || isa<memref::LoadOp>(inner) || isPure(inner) ||
                           inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                           inner->hasTrait<OpTrait::IsTerminator>() || isa<nest::BufferOp>(inner);
        bool const does = (store && isIt(store.getMemref())) || (kernel && llvm::any_of(kernel.getInto(), isIt));
        return does || !known ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Loads, arithmetic and stores of single numbers, once.
bool isScalarKernel(nest::LoopKernelOp kernel) {
  return kernel.getLowers().empty() && kernel.getInto().empty() &&
         llvm::all_of(kernel.getBody().front().without_terminator(), [](Operation &op) {
           auto store = dyn_cast<memref::StoreOp>(op);
           return isa<memref::LoadOp>(op) || (store && store.getMemRefType().getRank() == 0) ||
                  (isPure(&op) && op.getNumRegions() == 0);
         });
}

/// Operations that a kernel may repeat at each of its positions.
constexpr size_t mostRepeated = 16;

class Scalar {
public:
  Scalar(RewriterBase &rewriter, nest::LoopKernelOp kernel, memref::StoreOp store)
      : rewriter(rewriter), kernel(kernel), store(store), memory(store.getMemref()) {}

  /// Replaces all reads of what is stored; fails, without a change, if one of them has to find it in memory.
  LogicalResult fold() {
    if (!memory.getDefiningOp<nest::BufferOp>() || failed(collectReads()))
      return failure();
    findSources();
    if (chain.size() > mostRepeated)
      return failure();
    for (memref::LoadOp read : reads)
      if (!isStillThere(read))
        return failure();
    for (memref::LoadOp read : reads)
      replace(read);
    rewriter.eraseOp(store);
    return success();
  }

private:
  LogicalResult collectReads() {
    for (Operation *user : memory.getUsers()) {
      auto read = dyn_cast<memref::LoadOp>(user);
      if (user != store && (!read || kernel->isAncestor(read)))
        return failure();
      if (read)
        reads.push_back(read);
    }
    return success();
  }

  /// The operations that the value is computed from, in order, and the memory that they load.
  void findSources() {
    llvm::SmallPtrSet<Operation *, 8> needed;
    SmallVector<Value> work = {store.getValue()};
    while (!work.empty())
      if (Operation *op = work.pop_back_val().getDefiningOp(); op && kernel->isAncestor(op) && needed.insert(op).second)
        llvm::append_range(work, op->getOperands());
    for (Operation &op : kernel.getBody().front())
      if (needed.contains(&op)) {
        chain.push_back(&op);
        if (auto load = dyn_cast<memref::LoadOp>(op))
          sources.push_back(load.getMemref());
      }
  }

  /// Whether the sources have the same values where it is read, in the same round of the loops around the kernel.
  bool isStillThere(memref::LoadOp read) {
    Operation *const user = kernel->getBlock()->findAncestorOpInBlock(*read);
    if (!user || !kernel->isBeforeInBlock(user))
      return false;
    auto copied = chain.size() == 1 ? dyn_cast<memref::LoadOp>(chain.front()) : memref::LoadOp();
    bool const isCopy = copied && copied.getMemRefType().getRank() == 0;
    if (user == read ? !isCopy : !read->getParentOfType<nest::LoopKernelOp>())
      return false;
    for (Operation *op = kernel; op != user->getNextNode(); op = op->getNextNode())
      if (llvm::any_of(sources, [&](Value source) { return writes(op, source); }))
        return false;
    return true;
  }

  void replace(memref::LoadOp read) {
    if (auto reader = read->getParentOfType<nest::LoopKernelOp>())
      rewriter.setInsertionPointToStart(&reader.getBody().front());
    else
      rewriter.setInsertionPoint(read);
    IRMapping values;
    for (Operation *op : chain)
      rewriter.clone(*op, values);
    rewriter.replaceOp(read, values.lookupOrDefault(store.getValue()));
  }

  RewriterBase &rewriter;
  nest::LoopKernelOp kernel;
  memref::StoreOp store;
  Value memory;
  SmallVector<memref::LoadOp> reads;
  SmallVector<Operation *> chain;
  SmallVector<Value> sources;
};

} // namespace

void foldScalars(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<nest::LoopKernelOp> kernels;
  entry.walk([&](nest::LoopKernelOp kernel) {
    if (isScalarKernel(kernel))
      kernels.push_back(kernel);
  });
  for (nest::LoopKernelOp kernel : kernels) {
    SmallVector<memref::StoreOp> stores(kernel.getBody().getOps<memref::StoreOp>());
    bool folded = false;
    for (memref::StoreOp store : llvm::reverse(stores))
      folded |= succeeded(Scalar(rewriter, kernel, store).fold());
    if (folded && kernel.getBody().getOps<memref::StoreOp>().empty())
      rewriter.eraseOp(kernel);
  }
  for (auto buffer : llvm::make_early_inc_range(entry.getBody().front().getOps<nest::BufferOp>()))
    if (buffer->use_empty())
      rewriter.eraseOp(buffer);
}

} // namespace ml2k
