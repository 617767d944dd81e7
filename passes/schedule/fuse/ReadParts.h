//===- ReadParts.h - kernels read one of several results that are one tensor ----------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_FUSE_READPARTS_H
#define ML2K_PASSES_SCHEDULE_FUSE_READPARTS_H

#include "mlir/IR/Value.h"

namespace ml2k {

/// Whether all readers of a matrix [m, n], perhaps through reshapes, are kernels that can as well read [m, parts, n] at
/// a constant index.
bool canReadPart(mlir::Value matrix);

/// Lets the readers of a matrix read `part` of `whole` [m, parts * n] instead. Pre: canReadPart.
void readPart(mlir::Value matrix, mlir::Value whole, int64_t parts, int64_t part);

} // namespace ml2k

#endif
