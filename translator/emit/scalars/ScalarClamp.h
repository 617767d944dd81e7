//===- ScalarClamp.h - pairs of a minimum and a maximum that clamp --------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_SCALARS_SCALARCLAMP_H
#define ML2K_EMIT_SCALARS_SCALARCLAMP_H

#include "mlir/IR/Operation.h"

namespace ml2k {

/// The other half if `op` is the second of arith.maximumf and arith.minimumf with constant bounds, low <= high, and
/// nobody else uses the first; null otherwise.
mlir::Operation *firstOfClamp(mlir::Operation *op);

/// True for the first of such a pair.
bool isFirstOfClamp(mlir::Operation *op);

} // namespace ml2k

#endif
