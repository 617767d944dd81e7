//===- Work.h - what a kernel costs ---------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_WORK_H
#define ML2K_IR_WORK_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>

namespace ml2k {

/// Floating-point operations that a kernel of the nest dialect executes: multiplications, additions, comparisons and
/// calls such as exp count one each. Run-time extents count as 1. None for kernels with loops of their own.
std::optional<int64_t> countFlops(mlir::Operation *kernel);

/// True if all kernels of a program together are so little work that the threads of a host would cost more than they
/// save: less than 2^19 operations, of kernels whose work is known, with static extents. A kernel counts its operations
/// or half of its bytes, whichever is more.
bool isSmall(mlir::Operation *program);

/// Bytes of all distinct operands, each counted once.
int64_t countBytes(mlir::Operation *kernel);

/// Bytes of a tensor or memref, run-time extents counted as 1; 0 for scalars.
int64_t bytesOf(mlir::Type type);

} // namespace ml2k

#endif
