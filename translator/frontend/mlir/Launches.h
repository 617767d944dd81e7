//===- Launches.h - the parts of the lowering of gpu launches -------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_LAUNCHES_H
#define ML2K_FRONTEND_MLIR_LAUNCHES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace ml2k::mlir_import {

/// Indices of a launch, or of a part of it, and how many there are of each, outermost first.
using Ranges = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>, 6>;

Ranges rangesOf(mlir::gpu::KernelDim3 const &indices, mlir::gpu::KernelDim3 const &sizes);

/// A parallel loop over `ranges` without those of one; `values` get the indices.
mlir::scf::ParallelOp parallelOver(mlir::OpBuilder &builder, mlir::Location loc, Ranges const &ranges,
                                   mlir::IRMapping &values, mlir::ValueRange inits);

/// Where memory is that stands for `value`: with its name.
mlir::Location locationOfMemory(mlir::Value value);

/// Memory of a block, or of a thread, of plain type.
mlir::Value ownMemory(mlir::OpBuilder &builder, mlir::Value attribution);

/// Whether threads of a block wait for each other or share memory.
bool needsPhases(mlir::gpu::LaunchOp launch);

/// A parallel loop over the blocks, in front of `launch`, with a loop over the threads for each phase between barriers.
mlir::LogicalResult lowerToPhases(mlir::gpu::LaunchOp launch, mlir::IRMapping &values);

} // namespace ml2k::mlir_import

#endif
