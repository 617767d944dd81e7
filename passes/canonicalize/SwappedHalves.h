//===- SwappedHalves.h - a tensor whose two parts change places is read where it lies -------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_SWAPPEDHALVES_H
#define ML2K_PASSES_CANONICALIZE_SWAPPEDHALVES_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// concat(x[w..n], x[0..w]), either part perhaps negated, becomes a linalg.generic that reads x[(i + w) mod n]; and
/// concat(f(x[0..w]), x[w..n]) with an elementwise f one over all of x.
void populateSwappedHalves(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
