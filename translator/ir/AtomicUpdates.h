//===- AtomicUpdates.h - elements that several iterations of a kernel change ----------------------------*- C++ -*-===//

#ifndef ML2K_IR_ATOMICUPDATES_H
#define ML2K_IR_ATOMICUPDATES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ml2k::nest {

/// On a store, with the load and what lies between (changeOf): other iterations may change the same element.
inline constexpr llvm::StringLiteral atomicUpdate = "nest.atomic";

inline bool isAtomic(mlir::memref::StoreOp store) { return store->hasAttr(atomicUpdate); }

/// Whether an update inside `op` is atomic.
bool hasAtomicUpdates(mlir::Operation *op);

} // namespace ml2k::nest

#endif
