//===- HostCode.h - what stands between kernels ---------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_HOSTCODE_H
#define ML2K_PASSES_LOWER_HOSTCODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// Refuses what forward() cannot say between kernels: it computes with sizes, arguments and indices of its loops, and
/// its loops carry nothing but memory that they exchange.
mlir::LogicalResult checkHostCode(mlir::func::FuncOp entry);

/// Whether forward() knows the extent of a dimension.
bool isHostExtent(mlir::Value memref, unsigned dim);

} // namespace ml2k

#endif
