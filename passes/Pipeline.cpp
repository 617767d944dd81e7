//===- Pipeline.cpp - the stages from an imported module to one that can be printed -------------------------------===//

#include "passes/Pipeline.h"
#include "passes/Cleanup.h"
#include "passes/Passes.h"
#include "passes/lower/Lowering.h"

#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void addCleanup(OpPassManager &manager) {
  manager.addPass(ml2k::createCleanup());
  manager.addPass(createCSEPass());
}

/// Every spelling of a network to one.
static void addCanonical(OpPassManager &manager) {
  using namespace ml2k;
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createGeneralize());
  function.addPass(createNameWeights());
  addCleanup(function);
  function.addPass(createInlineScalars());
  function.addPass(createIdioms());
  addCleanup(function);
  function.addPass(createFoldWeights());
  // Run-time extents come from the arguments, so that no operation lives on only to be asked for its size
  function.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(function);
}

/// Kernels with their epilogues, on tensors.
static void addSchedule(OpPassManager &manager, ml2k::ScheduleOptions const &options) {
  using namespace ml2k;
  OpPassManager &function = manager.nest<func::FuncOp>();
  if (options.naive) {
    function.addPass(createNaiveKernels());
    function.addPass(createLabelKernels());
    return;
  }
  function.addPass(createRaiseConvolutions());
  function.addPass(createRaiseTransposedConvolutions());
  function.addPass(createRaiseContractions());
  function.addPass(createFoldWeights());
  function.addPass(createPropagateLayout());
  function.addPass(createCollapseLoops());
  function.addPass(createPropagateLayout());
  function.addPass(createFoldWeights());
  function.addPass(createFoldAffine());
  function.addPass(createFuseChains());
  addCleanup(function);
  function.addPass(createFuseEpilogues());
  function.addPass(createFormRows());
  function.addPass(createFuseElementwise());
  function.addPass(createIdioms()); // of operators that stand together only now
  function.addPass(createFormReductions());
  function.addPass(createFormMaps());
  addCleanup(function);
  function.addPass(createFormRecurrences());
  function.addPass(createPackWeights());
  if (options.winograd)
    function.addPass(createChooseWinograd());
  function.addPass(createLabelKernels());
}

void ml2k::addStage(OpPassManager &manager, Stage to, ScheduleOptions const &options) {
  switch (to) {
  case Stage::Imported:
    return;
  case Stage::Canonical:
    return addCanonical(manager);
  case Stage::Scheduled:
    return addSchedule(manager, options);
  case Stage::Nest:
    manager.addNestedPass<func::FuncOp>(createLowerLoops());
    addLowering(manager);
    manager.addNestedPass<func::FuncOp>(createSinkScalars());
    return;
  }
}

void ml2k::registerPasses() {
  registerMl2kPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  registerLowering();
}
