//===- Lowering.cpp - from kernels on tensors to kernels in memory ------------------------------------------------===//
//
// On tensors, prepare what bufferization would answer with copies; bufferize; in memory, remove the copies that are
// left, then name and place the buffers.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/Lowering.h"

#include "passes/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static std::unique_ptr<Pass> createBufferize() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  return bufferization::createOneShotBufferizePass(options);
}

static void prepareTensors(OpPassManager &function) {
  function.addPass(ml2k::createDestinations());
  function.addPass(ml2k::createPartRows());
  function.addPass(ml2k::createConcatInPlace());
  function.addPass(ml2k::createPadInPlace());
  function.addPass(ml2k::createLoopStates());
  function.addPass(ml2k::createOwnInits());
  function.addPass(ml2k::createUpdateInMemory());
}

/// Kernels of what is left as loops over elements.
static void gatherLoops(OpPassManager &function) {
  function.addPass(ml2k::createNaiveLoops());
  function.addPass(ml2k::createParallelizeLoops());
  function.addPass(ml2k::createLoopsToNest());
}

static void arrangeMemory(OpPassManager &function) {
  function.addPass(ml2k::createHoistBuffers());
  function.addPass(ml2k::createForwardCopies());
  function.addPass(ml2k::createLabelCopies());
  function.addPass(ml2k::createJoinEntries());
  function.addPass(ml2k::createKernelBuffers());
  function.addPass(ml2k::createNameBuffers());
  function.addPass(ml2k::createPlanMemory());
  function.addPass(ml2k::createVerifyNest());
}

void ml2k::addLowering(OpPassManager &manager) {
  manager.addPass(ml2k::createCleanup());
  prepareTensors(manager.nest<func::FuncOp>());
  manager.addPass(createBufferize());
  manager.addPass(ml2k::createCleanup());
  manager.addPass(createCSEPass());
  gatherLoops(manager.nest<func::FuncOp>());
  arrangeMemory(manager.nest<func::FuncOp>());
}

void ml2k::registerLowering() {
  PassPipelineRegistration<>("ml2k-lower", "Scheduled to nest: memory", addLowering);
  registerPass(createBufferize);
}
