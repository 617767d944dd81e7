//===- JoinedParts.h - what is done alike to neighbouring slices is done to the whole -------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_JOINEDPARTS_H
#define ML2K_PASSES_CANONICALIZE_JOINEDPARTS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// A concatenation of what the same operations make of neighbouring slices and of weights is what they make of the
/// whole.
void populateJoinedParts(mlir::RewritePatternSet &patterns);

/// The sum of one product with a weight for each of the two components of a tensor is one product.
void populateSumOfComponents(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
