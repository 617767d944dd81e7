//===- SelectedColumns.h - parts of a concatenation that differ only in the columns they read -----------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_SELECTEDCOLUMNS_H
#define ML2K_PASSES_CANONICALIZE_SELECTEDCOLUMNS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// concat(reduce(x[columns 1]), reduce(x[columns 2]), ...) is one reduction over a table of columns; concat(x[i], x[j],
/// ...) is one selection.
void populateSelectedColumns(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
