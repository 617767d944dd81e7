//===- HoistBuffers.cpp - weights and buffers stand at the start of the function ----------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_HOISTBUFFERS
#include "passes/Passes.h.inc"

namespace {
struct HoistBuffers : impl::HoistBuffersBase<HoistBuffers> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<Value> memory, buffers;
    getOperation().walk([&](Operation *op) {
      if (isa<nest::WeightOp>(op))
        memory.push_back(op->getResult(0));
      else if (isa<memref::AllocOp>(op))
        buffers.push_back(op->getResult(0));
    });
    memory.append(buffers);
    OpBuilder builder = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    // A mark between what was moved and the rest
    auto mark = builder.create<nest::YieldOp>(getOperation().getLoc(), ValueRange());
    Operation *const failed = hoistAllBefore(memory, mark);
    mark.erase();
    if (!failed)
      return;
    failed->emitError("a tensor whose size depends on computed values cannot be part of the workspace");
    signalPassFailure();
  }
};
} // namespace
} // namespace ml2k
