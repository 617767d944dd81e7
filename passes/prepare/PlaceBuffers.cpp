//===- PlaceBuffers.cpp - whether the buffers share one allocation ------------------------------------------------===//

#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "passes/prepare/Passes.h.inc"

/// Small models have no use for an arena.
static constexpr int64_t smallBytes = 256 << 10;

/// With sizes known at run time only, as many buffers may be large.
static constexpr int64_t fewBuffers = 2;

static nest::Placement placementOf(func::FuncOp entry) {
  int64_t bytes = 0, buffers = 0;
  bool isDynamic = false;
  entry.walk([&](nest::BufferOp buffer) {
    ++buffers;
    isDynamic |= !cast<MemRefType>(buffer.getType()).hasStaticShape();
    bytes += bytesOf(buffer.getType());
  });
  return (isDynamic ? buffers > fewBuffers : bytes > smallBytes) ? nest::Placement::Arena : nest::Placement::Own;
}

namespace {
struct PlaceBuffers : impl::PlaceBuffersBase<PlaceBuffers> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (!entry->hasAttr("nest.placement"))
      entry->setAttr("nest.placement", nest::PlacementAttr::get(&getContext(), placementOf(entry)));
  }
};
} // namespace

} // namespace ml2k
