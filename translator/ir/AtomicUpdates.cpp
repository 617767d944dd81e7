//===- AtomicUpdates.cpp - elements that several iterations of a kernel change ------------------------------------===//

#include "translator/ir/AtomicUpdates.h"

#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k::nest {

bool hasAtomicUpdates(Operation *op) {
  return op
      ->walk([](memref::StoreOp store) { return isAtomic(store) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool addsAtomically(memref::StoreOp store) {
  SmallVector<Operation *> const change = changeOf(store);
  Type const type = store.getMemRefType().getElementType();
  bool const isReal = type.isF32() || type.isF64(), isWord = type.isInteger(32) || type.isInteger(64);
  return isAtomic(store) && change.size() == 2 &&
         ((isReal && isa<arith::AddFOp>(change.back())) || (isWord && isa<arith::AddIOp>(change.back())));
}

/// Whether nothing in the kernel but additions looks at the memory.
static bool isOnlyAddedTo(LoopKernelOp kernel, Value memref) {
  llvm::SmallPtrSet<Operation *, 8> additions;
  kernel.walk([&](memref::StoreOp store) {
    if (store.getMemref() == memref && addsAtomically(store)) {
      additions.insert(store);
      additions.insert(changeOf(store).front());
    }
  });
  return llvm::all_of(memref.getUsers(),
                      [&](Operation *user) { return !kernel->isAncestor(user) || additions.contains(user); });
}

static SmallVector<Value> targetsOf(LoopKernelOp kernel) {
  llvm::SetVector<Value> targets;
  kernel.walk([&](memref::StoreOp store) {
    if (isAtomic(store))
      targets.insert(store.getMemref());
  });
  return targets.takeVector();
}

SmallVector<Value> ownSums(LoopKernelOp kernel) {
  constexpr int64_t most = 1024; // elements that a thread's stack and a team's scratch memory have room for
  SmallVector<Value> targets = targetsOf(kernel);
  int64_t elements = 0;
  for (Value target : targets) {
    auto const type = cast<MemRefType>(target.getType());
    if (type.getRank() != 1 || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
        type.getElementType() != cast<MemRefType>(targets[0].getType()).getElementType() ||
        !isOnlyAddedTo(kernel, target))
      return {};
    elements += type.getNumElements();
  }
  return elements <= most ? targets : SmallVector<Value>();
}

Value arrayOfSums(LoopKernelOp kernel) {
  SmallVector<Value> const targets = targetsOf(kernel);
  bool const isArray = targets.size() == 1 && cast<MemRefType>(targets[0].getType()).getRank() == 1 &&
                       isWholeArray(targets[0]) && isOnlyAddedTo(kernel, targets[0]);
  return isArray && ownSums(kernel).empty() ? targets[0] : Value();
}

} // namespace ml2k::nest
