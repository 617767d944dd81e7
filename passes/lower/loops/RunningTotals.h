//===- RunningTotals.h - totals that a loop changes under conditions and in loops inside ----------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_RUNNINGTOTALS_H
#define ML2K_PASSES_LOWER_LOOPS_RUNNINGTOTALS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// What a loop joins terms to.
struct Total {
  mlir::Operation *join; ///< one of those that join a term, one whose terms keep their order if there is
  nest::Combiner combiner;
};

/// What `loop` carries at `place`, if terms are joined to it, under conditions and in loops inside, too, and nothing
/// else happens to it.
std::optional<Total> totalOf(mlir::scf::ForOp loop, unsigned place);

/// Whether the terms that an operation joins are of a floating-point sum or product that may not be reordered.
bool keepsOrder(mlir::Operation *join);

/// Makes the total at `place` the sum of what each iteration finds, which begins with the neutral element.
void separateTotal(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop, unsigned place, Total const &total);

} // namespace ml2k

#endif
