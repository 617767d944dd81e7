//===- NeededElements.h - only what is read is computed, only what is not zero is multiplied ------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_NEEDEDELEMENTS_H
#define ML2K_PASSES_CANONICALIZE_NEEDEDELEMENTS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// A product with a weight of whose result only slices are read makes no more than these.
void populateReadParts(mlir::RewritePatternSet &patterns);

/// Products of a padded tensor, or one with parts of zeros, and a weight leave the zeros out.
void populateSkippedZeros(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
