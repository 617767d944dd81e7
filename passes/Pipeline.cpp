//===- Pipeline.cpp - the stages from an imported module to one that can be printed -------------------------*- C++ -*-===//

#include "passes/Pipeline.h"
#include "passes/Passes.h"
#include "passes/lower/Lowering.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void ml2k::addStage(OpPassManager &manager, Stage to) {
  switch (to) {
  case Stage::Imported:
    return;
  case Stage::Canonical:
    manager.addNestedPass<func::FuncOp>(createNameWeights());
    return;
  case Stage::Scheduled:
    return;
  case Stage::Nest:
    manager.addNestedPass<func::FuncOp>(createLowerLoops());
    addLowering(manager);
    return;
  }
}

void ml2k::registerPasses() {
  registerMl2kPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  registerLowering();
}
