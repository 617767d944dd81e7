//===- NestScalars.h - scalar operations of the front ends ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_NESTSCALARS_H
#define ML2K_IR_NESTSCALARS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#define GET_OP_CLASSES
#include "translator/ir/NestScalars.h.inc"

namespace ml2k::nest {
/// On a function of f64: its kernel goes along vectors.
inline constexpr llvm::StringLiteral inVectors = "nest.in_vectors";

/// On a branch: what its stores need was read in front of it, where compilers have to leave it to find vectors.
inline constexpr llvm::StringLiteral earlyLoads = "nest.early_loads";

/// What the text calls the index of a loop, which may go down.
mlir::Value shownIndex(mlir::scf::ForOp loop);
/// Whether it does.
bool countsDown(mlir::scf::ForOp loop);
} // namespace ml2k::nest

#endif
