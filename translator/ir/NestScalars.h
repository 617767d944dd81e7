//===- NestScalars.h - scalar operations of the front ends ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_NESTSCALARS_H
#define ML2K_IR_NESTSCALARS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define GET_OP_CLASSES
#include "translator/ir/NestScalars.h.inc"

namespace ml2k::nest {
/// On a function of f64: its kernel goes along vectors.
inline constexpr llvm::StringLiteral inVectors = "nest.in_vectors";

/// On a branch: what its stores need was read in front of it, where compilers have to leave it to find vectors.
inline constexpr llvm::StringLiteral earlyLoads = "nest.early_loads";

/// On a store at each position of a grid: vectors begin where lines of the cache do in which its elements lie.
inline constexpr llvm::StringLiteral fromLine = "nest.from_line";
/// Whether the text names the array itself: memory of the caller or of the model, every dimension of which counts.
bool isWholeArray(mlir::Value memref);
/// That store of a kernel of two or three loops; null if it has none.
mlir::memref::StoreOp storeFromLine(LoopKernelOp kernel);

/// On a branch around all that a grid does: it is taken at every other position, 0: where the sum of the positions of
/// the loops is even, 1: where it is odd.
inline constexpr llvm::StringLiteral everyOther = "nest.every_other";
/// That branch of a kernel of two or three loops; null if it has none.
mlir::scf::IfOp branchOfEveryOther(LoopKernelOp kernel);
/// Whether the block of the kernel comes to these positions alone, so that the text has no branch.
bool goesToEveryOther(LoopKernelOp kernel);

/// What the text calls the index of a loop, which may go down.
mlir::Value shownIndex(mlir::scf::ForOp loop);
/// Whether it does.
bool countsDown(mlir::scf::ForOp loop);
} // namespace ml2k::nest

#endif
