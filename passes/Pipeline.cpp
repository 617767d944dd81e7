//===- Pipeline.cpp - the stages from an imported module to one that can be printed -------------------------------===//

#include "passes/Pipeline.h"
#include "passes/Passes.h"
#include "passes/lower/Lowering.h"
#include "passes/prepare/Prepare.h"

#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
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
  function.addPass(createNeededElements());
  function.addPass(createJoinParts());
  function.addPass(createFoldWeights());
  // Run-time extents come from the arguments, so that no operation lives on only to be asked for its size
  function.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(function);
}

/// Kernels with their epilogues, on tensors.
static void addSchedule(OpPassManager &manager, ml2k::StageOptions const &options) {
  using namespace ml2k;
  OpPassManager &function = manager.nest<func::FuncOp>();
  if (options.naive) {
    function.addPass(createNaiveKernels());
    function.addPass(createLabelKernels());
    return;
  }
  function.addPass(createFormColumns());
  addCleanup(function); // what is computed in it now is computed nowhere else
  function.addPass(createRaiseConvolutions());
  function.addPass(createRaiseTransposedConvolutions());
  function.addPass(createRaiseContractions());
  function.addPass(createRaiseTopK());
  function.addPass(createFoldWeights());
  function.addPass(createPropagateLayout());
  function.addPass(createCollapseLoops());
  function.addPass(createPropagateLayout());
  function.addPass(createFoldWeights());
  function.addPass(createFoldAffine());
  addCleanup(function); // an operation that is only asked for its size has one reader too many for what follows
  function.addPass(createFuseChains());
  addCleanup(function);
  function.addPass(createFuseEpilogues());
  function.addPass(createFormRows());
  function.addPass(createFuseElementwise());
  function.addPass(createIdioms()); // of operators that stand together only now
  function.addPass(createFormReductions());
  function.addPass(createFormMaps());
  addCleanup(function);
  function.addPass(createReadSlices());
  function.addPass(createFormRecurrences());
  function.addPass(createJoinDirections());
  function.addPass(createPackWeights());
  if (options.winograd)
    function.addPass(createChooseWinograd());
  function.addPass(createNarrowFactors());
  function.addPass(createLabelKernels());
  function.addPass(createJoinProducts());
}

static void addNest(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(ml2k::createLowerLoops());
  ml2k::addLowering(manager);
  manager.addNestedPass<func::FuncOp>(ml2k::createSelectElements());
  manager.addNestedPass<func::FuncOp>(ml2k::createSinkScalars());
}

void ml2k::addStage(OpPassManager &manager, Stage to, StageOptions const &options) {
  switch (to) {
  case Stage::Imported:
    return;
  case Stage::Canonical:
    return addCanonical(manager);
  case Stage::Scheduled:
    return addSchedule(manager, options);
  case Stage::Nest:
    return addNest(manager);
  case Stage::Prepared:
    return addPrepare(manager, options.weights, options.target, options.calls);
  }
}

//===--- Registration ---------------------------------------------------------------------------------------------===//

namespace {
struct ScheduledOptions : PassPipelineOptions<ScheduledOptions> {
  Option<bool> winograd{*this, "winograd", llvm::cl::desc("Winograd's method where it pays"), llvm::cl::init(true)};
  Option<bool> naive{*this, "naive", llvm::cl::desc("every operation a plain loop nest"), llvm::cl::init(false)};
};

struct PreparedOptions : PassPipelineOptions<PreparedOptions> {
  Option<std::string> weights{*this, "weights", llvm::cl::desc("auto, embed or file"), llvm::cl::init("auto")};
  Option<std::string> target{*this, "target", llvm::cl::desc("portable, host or device"), llvm::cl::init("portable")};
  Option<std::string> calls{*this, "calls", llvm::cl::desc("none or kokkoskernels"), llvm::cl::init("none")};
};
} // namespace

static void registerStages() {
  PassPipelineRegistration<>("ml2k-to-canonical", "imported to canonical", addCanonical);
  PassPipelineRegistration<ScheduledOptions>(
      "ml2k-to-scheduled", "canonical to scheduled", [](OpPassManager &manager, ScheduledOptions const &options) {
        addSchedule(manager, {.winograd = options.winograd, .naive = options.naive});
      });
  PassPipelineRegistration<>("ml2k-to-nest", "scheduled to nest", addNest);
  PassPipelineRegistration<PreparedOptions>("ml2k-to-prepared", "nest to prepared",
                                            [](OpPassManager &manager, PreparedOptions const &options) {
                                              ml2k::addPrepare(manager, options.weights, options.target, options.calls);
                                            });
}

void ml2k::registerPasses() {
  registerMl2kPasses();
  registerMl2kPreparePasses();
  registerCanonicalizerPass();
  registerCSEPass();
  memref::registerResolveRankedShapeTypeResultDimsPass();
  registerLowering();
  registerStages();
}
