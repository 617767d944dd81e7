//===- Lowering.h - from kernels on tensors to kernels in memory ----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOWERING_H
#define ML2K_PASSES_LOWER_LOWERING_H

#include "mlir/Pass/PassManager.h"

namespace ml2k {

/// Appends to a pass manager on the module the way from "scheduled" to "nest".
void addLowering(mlir::OpPassManager &manager);

/// Registers that way as the pipeline ml2k-lower, and the upstream passes it uses.
void registerLowering();

} // namespace ml2k

#endif
