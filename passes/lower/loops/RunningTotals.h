//===- RunningTotals.h - totals that a loop changes under conditions and in loops inside ----------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_RUNNINGTOTALS_H
#define ML2K_PASSES_LOWER_LOOPS_RUNNINGTOTALS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// An operation that joins terms to what `loop` carries at `place`, under conditions and in loops inside, too, if
/// nothing else happens to the value; null otherwise. One whose terms keep their order is preferred.
mlir::Operation *totalOf(mlir::scf::ForOp loop, unsigned place);

/// Makes the total at `place` the sum of what each iteration finds, which begins with the neutral element.
void separateTotal(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop, unsigned place, mlir::Operation *join);

} // namespace ml2k

#endif
