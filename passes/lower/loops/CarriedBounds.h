//===- CarriedBounds.h - what numbers that loops carry are at least -------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_CARRIEDBOUNDS_H
#define ML2K_PASSES_LOWER_LOOPS_CARRIEDBOUNDS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace ml2k {

/// A number that an integer is never below which a loop carries: what it begins with, if it only grows by sums and
/// products of constants, or what the condition of an scf.while says of it in the loop's body.
std::optional<int64_t> leastCarried(mlir::Value value);

} // namespace ml2k

#endif
