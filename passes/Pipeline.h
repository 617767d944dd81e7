//===- Pipeline.h - the stages from an imported module to one that can be printed -----------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PIPELINE_H
#define ML2K_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace ml2k {

/// Where the way through the tool can be stopped and printed.
enum class Stage { Imported, Canonical, Scheduled, Nest };

/// What the user may turn off.
struct ScheduleOptions {
  bool winograd = true; ///< 3 x 3 convolutions by fewer multiplications where that pays
  bool naive = false;   ///< every structured operation a plain loop nest, to compare with
};

/// Appends to a pass manager on the module the passes that lead from the stage before `to` to `to`.
void addStage(mlir::OpPassManager &manager, Stage to, ScheduleOptions const &options = {});

/// Registers every pass of the tool and those of MLIR that its pipelines use, for ml2kokkos-opt.
void registerPasses();

} // namespace ml2k

#endif
