//===- IndexBounds.h - bounds of loops in the arithmetic that forward() has -----------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_INDEXBOUNDS_H
#define ML2K_PASSES_LOWER_LOOPS_INDEXBOUNDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// What the host computes in integers of 64 bits for the bounds of loops, from sizes, arguments and constants, it
/// computes in indices; the smaller or larger of two numbers is arith.minsi or maxsi instead of a choice.
void computeBoundsInIndices(mlir::func::FuncOp entry);

} // namespace ml2k

#endif
