//===- Work.h - what a kernel costs ---------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_WORK_H
#define ML2K_IR_WORK_H

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace ml2k {

/// True if all kernels of a program together are so little work that the threads of a host would cost more than they
/// save: less than 2^19 operations, of kernels whose work is known, with static extents. A kernel counts its operations
/// or half of its bytes, whichever is more.
bool isSmall(mlir::Operation *program);

/// The same with run-time extents counted as 1, such as the rows of a batch.
bool isSmallAtOne(mlir::Operation *program);

/// Bytes of a tensor or memref, run-time extents counted as 1; 0 for scalars.
int64_t bytesOf(mlir::Type type);

/// Bytes of all distinct values, each counted once.
int64_t bytesOf(mlir::ValueRange values);

} // namespace ml2k

#endif
