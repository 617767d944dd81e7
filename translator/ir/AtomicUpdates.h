//===- AtomicUpdates.h - elements that several iterations of a kernel change ----------------------------*- C++ -*-===//

#ifndef ML2K_IR_ATOMICUPDATES_H
#define ML2K_IR_ATOMICUPDATES_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ml2k::nest {

/// On a store, with the load and what lies between (changeOf): other iterations may change the same element.
inline constexpr llvm::StringLiteral atomicUpdate = "nest.atomic";

inline bool isAtomic(mlir::memref::StoreOp store) { return store->hasAttr(atomicUpdate); }

/// Whether an update inside `op` is atomic.
bool hasAtomicUpdates(mlir::Operation *op);

/// Whether it adds a number of 32 or 64 bits.
bool addsAtomically(mlir::memref::StoreOp store);

/// The few elements to which the updates of the kernel add, if they do nothing else and are of one type: threads, or
/// teams, can have sums of their own, one array behind the other. Else nothing.
llvm::SmallVector<mlir::Value> ownSums(LoopKernelOp kernel);

/// The array to whose elements, many or a number that the caller knows, the updates of the kernel add, if they do
/// nothing else: teams of a device may have room for sums of their own. Else null.
mlir::Value arrayOfSums(LoopKernelOp kernel);

} // namespace ml2k::nest

#endif
