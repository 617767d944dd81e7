//===- OrderGrids.cpp - the loops of a kernel in the order of its memory ------------------------------------------===//
//
// The iterations of a kernel do not depend on each other, so any order of its loops is as good. Vector registers of a
// host, and neighbouring threads of a device, go along the last one: that is to be the loop along which memory lies.
// Where some of it lies along another one, a transposed matrix, that one comes next: tiles of both use whole lines.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/GridAccesses.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/StoredRows.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_ORDERGRIDS
#include "passes/prepare/Passes.h.inc"

/// Whether the loops stand as nobody has asked for.
static bool mayTurn(nest::LoopKernelOp kernel) {
  return kernel.getLowers().size() > 1 && !kernel.getOrdered() && !nest::scheduleOf(kernel) &&
         llvm::is_contained({nest::Policy::Range, nest::Policy::MDRange}, kernel.getPolicy()) &&
         !nest::storedRowsOf(kernel) && !nest::hasAtomicUpdates(kernel);
}

/// Loop `order[i]` becomes loop i.
static void reorder(nest::LoopKernelOp kernel, ArrayRef<unsigned> order) {
  auto const reordered = [&](OperandRange bounds) {
    return llvm::map_to_vector(order, [&](unsigned loop) -> Value { return bounds[loop]; });
  };
  SmallVector<Value> const lowers = reordered(kernel.getLowers()), uppers = reordered(kernel.getUppers());
  kernel.getLowersMutable().assign(lowers);
  kernel.getUppersMutable().assign(uppers);
  Block &block = kernel.getBody().front();
  SmallVector<BlockArgument> before(block.args_begin(), block.args_begin() + order.size());
  for (unsigned const loop : order)
    before[loop].replaceAllUsesWith(block.addArgument(before[loop].getType(), before[loop].getLoc()));
  block.eraseArguments(0, order.size());
}

namespace {
struct OrderGrids : impl::OrderGridsBase<OrderGrids> {
  void runOnOperation() override {
    if (getOperation()->hasAttr("nest.naive"))
      return;
    getOperation().walk([](nest::LoopKernelOp kernel) {
      if (!mayTurn(kernel))
        return;
      GridAccesses const accesses(kernel);
      unsigned const loops = kernel.getLowers().size(), inner = accesses.innermost();
      std::optional<unsigned> const tiled = accesses.tiled(inner);
      SmallVector<unsigned> order;
      for (unsigned loop = 0; loop < loops; ++loop)
        if (loop != inner && loop != tiled)
          order.push_back(loop);
      if (tiled)
        order.push_back(*tiled);
      order.push_back(inner);
      if (!llvm::is_sorted(order))
        reorder(kernel, order);
    });
  }
};
} // namespace

} // namespace ml2k
