//===- Positions.h - arithmetic on the positions of loops -----------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_POSITIONS_H
#define ML2K_PASSES_CANONICALIZE_POSITIONS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Integers that a linalg.generic computes from the positions of loops of known extents, such as how many elements a
/// window of a pool has at the border: what does not depend on the position becomes a constant, comparisons included, a
/// minimum or maximum that one side always wins is that side, what is not negative needs no floor division, and sums
/// that cannot overflow say so (nsw).
void populatePositions(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
