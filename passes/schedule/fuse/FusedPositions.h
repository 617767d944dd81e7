//===- FusedPositions.h - positions of fused operations as plain arithmetic -----------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_FUSE_FUSEDPOSITIONS_H
#define ML2K_PASSES_SCHEDULE_FUSE_FUSEDPOSITIONS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Arithmetic for each affine.apply in the body of a linalg.generic.
void populateFusedPositions(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
