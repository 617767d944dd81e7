//===- NestedReductions.h - a sum of sums is one sum ----------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_NESTEDREDUCTIONS_H
#define ML2K_PASSES_CANONICALIZE_NESTEDREDUCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Reductions of what another one of the same kind reduces, and nobody else reads.
void populateNestedReductions(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
