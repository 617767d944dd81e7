//===- SpreadImages.h - images with zeros between their pixels, and around them -------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_SPREADIMAGES_H
#define ML2K_PASSES_CANONICALIZE_SPREADIMAGES_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// A tensor that is put into zeros with steps, and with zeros around, is put into as many zeros as it needs, then
/// padded.
void populateSpreadImages(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
