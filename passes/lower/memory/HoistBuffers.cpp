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
    SmallVector<Operation *> weights, buffers;
    getOperation().walk([&](Operation *op) {
      if (isa<nest::WeightOp>(op))
        weights.push_back(op);
      else if (isa<memref::AllocOp>(op))
        buffers.push_back(op);
    });
    OpBuilder builder = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    // A mark between what was moved and the rest
    auto mark = builder.create<nest::YieldOp>(getOperation().getLoc(), ValueRange());
    for (Operation *op : llvm::concat<Operation *>(weights, buffers))
      if (failed(hoistBefore(op->getResult(0), mark))) {
        op->emitError("a tensor whose size depends on computed values cannot be part of the workspace");
        return signalPassFailure();
      }
    mark.erase();
  }
};
} // namespace
} // namespace ml2k
