//===- ConstantColumns.h - products with columns that are one number ------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_CONSTANTCOLUMNS_H
#define ML2K_PASSES_CANONICALIZE_CONSTANTCOLUMNS_H

#include "mlir/IR/Operation.h"

namespace ml2k {

/// concat(x, t) * W with a number t is x * V + t * v, V the rows of W that x meets and v the sum of the others. A
/// weight is taken apart only if all products that read it change so: the parts have as many elements as the whole.
void separateConstantColumns(mlir::Operation *root);

} // namespace ml2k

#endif
