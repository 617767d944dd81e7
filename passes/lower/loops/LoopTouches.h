//===- LoopTouches.h - what parallel loops read and write, and where ------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_LOOPTOUCHES_H
#define ML2K_PASSES_LOWER_LOOPS_LOOPTOUCHES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// A load or a store, or a function of C that gets the memory.
struct Touch {
  mlir::Operation *op;
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> at; ///< none where that may be anywhere
  bool writes;
};

/// All loads and stores inside; false if something else touches memory.
bool collectTouches(mlir::Operation *op, llvm::SmallVectorImpl<Touch> &touches);

/// Whether some memory is in both, and written in one of them.
bool conflict(llvm::ArrayRef<Touch> a, llvm::ArrayRef<Touch> b);

/// Whether both loops have the same iterations.
bool haveSameBounds(mlir::scf::ParallelOp a, mlir::scf::ParallelOp b);

/// At the element that has the position of the iteration.
bool isAtOwnPosition(Touch const &touch, mlir::scf::ParallelOp loop);

} // namespace ml2k

#endif
