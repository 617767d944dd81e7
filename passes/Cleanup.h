//===- Cleanup.h - canonicalization that knows what sizes at run time need ------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CLEANUP_H
#define ML2K_PASSES_CLEANUP_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Whether a value is the extent of a dimension of a tensor, as far as it can be seen.
bool isExtent(mlir::Value size, mlir::Value tensor, int64_t dim);

/// Takes upstream's compositions of reshapes out of a set and puts in ours: upstream's lose the sizes of an expansion
/// that makes several dimensions of unknown extent out of one.
void guardReshapes(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
