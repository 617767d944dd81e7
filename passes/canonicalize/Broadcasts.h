//===- Broadcasts.h - elementwise operations read what others only spread -------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_BROADCASTS_H
#define ML2K_PASSES_CANONICALIZE_BROADCASTS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Elementwise operations and products read a vector, a matrix or a number where another operation would spread it over
/// a larger tensor.
void populateBroadcasts(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
