//===- PartsOfJoined.h - a part of a concatenation is a part of one of its operands ---------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_PARTSOFJOINED_H
#define ML2K_PASSES_CANONICALIZE_PARTSOFJOINED_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// slice(concat(x, y)) that lies in y is a slice of y.
void populatePartsOfJoined(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
