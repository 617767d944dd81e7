//===- TripCount.h - how often a loop runs ----------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_TRIPCOUNT_H
#define ML2K_PASSES_TRIPCOUNT_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <optional>

namespace ml2k {

/// The iterations of a loop, where all of its bounds are constants. Upstream's function divides by the step, which may
/// be zero after folding: such a loop has no number of iterations.
inline std::optional<int64_t> tripCount(mlir::OpFoldResult lower, mlir::OpFoldResult upper, mlir::OpFoldResult step) {
  if (mlir::getConstantIntValue(step) == 0)
    return std::nullopt;
  return mlir::constantTripCount(lower, upper, step);
}

} // namespace ml2k

#endif
