//===- SameExtent.h - whether tensors are as large, where run time tells --------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_SAMEEXTENT_H
#define ML2K_PASSES_SCHEDULE_SAMEEXTENT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// What an extent is: a constant, a number that the program computes, or a dimension of a tensor that nothing else
/// tells.
struct TracedExtent {
  mlir::Value value;
  unsigned dim = 0;
  int64_t number = mlir::ShapedType::kDynamic; ///< where `value` is null

  /// Not of two that could not be traced.
  bool isSame(TracedExtent const &other) const;
};

/// Extent `dim` of `tensor`. What `loop` carries is taken to be as large as at the start: who asks shows that of what
/// it yields.
TracedExtent traceExtent(mlir::Value tensor, unsigned dim, mlir::scf::ForOp loop = {});

/// The same of a size.
TracedExtent traceSize(mlir::OpFoldResult size, mlir::scf::ForOp loop = {});

} // namespace ml2k

#endif
