//===- AtomicUpdates.h - loops whose iterations meet in updates alone -----------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_ATOMICUPDATES_H
#define ML2K_PASSES_LOWER_LOOPS_ATOMICUPDATES_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// On a store: the program says that its update is atomic.
inline constexpr llvm::StringLiteral declaredUpdate = "nest.declared";

/// Updates that the program says to be atomic, of an element that is the same in all iterations of `loop`, join a sum
/// that the loop carries. Returns the loop that stands for it.
mlir::scf::ForOp carryUpdates(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);

/// Whether the iterations of `loop` meet in nothing but updates that may come in any order: those that the program says
/// to be atomic, and exact ones at indices that data decide. They are marked then (nest::atomicUpdate).
bool meetInUpdates(mlir::scf::ForOp loop);

/// The same of a loop inside, where all of them are marked already.
bool meetInAtomics(mlir::scf::ForOp loop);

/// Whether the iterations of `loop` meet in nothing but floating-point sums and products of elements, whose terms keep
/// their order.
bool meetInSums(mlir::scf::ForOp loop);

} // namespace ml2k

#endif
