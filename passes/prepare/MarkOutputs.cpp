//===- MarkOutputs.cpp - arguments that kernels write are outputs -------------------------------------------------===//

#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_MARKOUTPUTS
#include "passes/prepare/Passes.h.inc"

static bool isWritten(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto kernel = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return kernel && kernel.isDpsInit(&use);
  });
}

namespace {
struct MarkOutputs : impl::MarkOutputsBase<MarkOutputs> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (entry.isExternal())
      return;
    for (BlockArgument argument : entry.getArguments())
      if (isa<MemRefType>(argument.getType()) && isWritten(argument))
        entry.setArgAttr(argument.getArgNumber(), "nest.output", UnitAttr::get(&getContext()));
  }
};
} // namespace

} // namespace ml2k
