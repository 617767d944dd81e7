//===- Pipeline.h - the stages from an imported module to one that can be printed -----------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PIPELINE_H
#define ML2K_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"

#include <string>

namespace ml2k {

/// Where the way through the tool can be stopped and printed.
enum class Stage { Imported, Canonical, Scheduled, Nest, Prepared };

/// What the user may choose.
struct StageOptions {
  bool winograd = true;            ///< 3 x 3 convolutions by fewer multiplications where that pays
  bool naive = false;              ///< every structured operation a plain loop nest, to compare with
  std::string weights = "auto";    ///< where weights go: auto, embed or file
  std::string target = "portable"; ///< whom the file serves: portable, host or device
  std::string calls = "none";      ///< who computes large products: none (we), or kokkoskernels
};

/// Appends to a pass manager on the module the passes that lead from the stage before `to` to `to`.
void addStage(mlir::OpPassManager &manager, Stage to, StageOptions const &options = {});

/// Registers for ml2kokkos-opt every pass of the tool, those of MLIR that its pipelines use, and each stage as a
/// pipeline with its options: ml2k-to-canonical, ml2k-to-scheduled, ml2k-to-nest, ml2k-to-prepared.
void registerPasses();

} // namespace ml2k

#endif
