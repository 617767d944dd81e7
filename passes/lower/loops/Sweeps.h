//===- Sweeps.h - loops over every other position of a row --------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SWEEPS_H
#define ML2K_PASSES_LOWER_LOOPS_SWEEPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// The loop by steps of two that is all a parallel loop does, where it begins at a constant or one further, by the
/// parity of the row: `for j in range(1 + (i + 1) % 2, m, 2)`. Null if there is none.
mlir::scf::ForOp sweepIn(mlir::scf::ParallelOp rows);

/// Lets such a loop, made parallel, go over all positions, with a branch around what it does at every other one: all
/// rows have one length then, and the two loops are a grid.
void goOverAll(mlir::scf::ParallelOp sweep);

} // namespace ml2k

#endif
