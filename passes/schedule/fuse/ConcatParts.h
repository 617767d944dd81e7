//===- ConcatParts.h - elementwise work on joined tensors goes to their parts ---------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_FUSE_CONCATPARTS_H
#define ML2K_PASSES_SCHEDULE_FUSE_CONCATPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// f(concat(a, b)) becomes concat(f(a), f(b)) where f joins the kernels that make or copy a and b.
void workOnParts(mlir::func::FuncOp function);

} // namespace ml2k

#endif
