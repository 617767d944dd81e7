//===- Broadcasts.h - elementwise operations read what others only spread -------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_BROADCASTS_H
#define ML2K_PASSES_CANONICALIZE_BROADCASTS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Elementwise operations read a vector, or a number, that another one spreads over a larger tensor for several of
/// them.
void populateBroadcasts(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
