//===- Prepare.cpp - from a nest to one that is printed by look-up ------------------------------------------------===//

#include "passes/prepare/Prepare.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

/// JoinBiases comes behind everything that makes, copies or orders weights.
void ml2k::addPrepare(OpPassManager &manager, std::string const &weights, std::string const &target,
                      std::string const &calls) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createMarkOutputs());
  function.addPass(createSettleSizes());
  function.addPass(createChooseBufferForms());
  function.addPass(createReadChannelsFirst());
  function.addPass(createCheckIndexRange());
  function.addPass(createCallLibrary({calls}));
  function.addPass(createSettlePackings());
  function.addPass(createJoinBiases());
  function.addPass(createRunForward());
  function.addPass(createOrderGrids());
  function.addPass(createFormStrips());
  function.addPass(createFindEveryOther());
  function.addPass(createAlignGrids());
  function.addPass(createChooseBlocks({target}));
  function.addPass(createJoinFolds());
  function.addPass(createApplyTuning());
  function.addPass(createChainProducts({target}));
  function.addPass(createChooseFunctions());
  function.addPass(createRaiseRemainders());
  function.addPass(createRaiseExtremes());
  function.addPass(createJoinUpdates());
  function.addPass(createCountDown());
  function.addPass(createPlaceBuffers());
  function.addPass(createSettleFile({weights}));
  manager.addPass(createVerifyPrepared());
}
