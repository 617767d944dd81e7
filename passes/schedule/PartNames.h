//===- PartNames.h - what the kernels of one layer are called -------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_PARTNAMES_H
#define ML2K_PASSES_SCHEDULE_PARTNAMES_H

#include "mlir/IR/Operation.h"

namespace ml2k {

/// What a kernel, on tensors, is to the layer that it comes from: `sum` or `max` of a reduction, `fill` of one value
/// everywhere; a copy into another order is `input` where a kernel with a name of `layer` reads it, `output` where it
/// reads what such a kernel computes. Empty if that is not plain.
llvm::StringRef partNameOf(mlir::Operation *kernel, llvm::StringRef layer);

} // namespace ml2k

#endif
