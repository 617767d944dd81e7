//===- ForwardScalars.cpp - single elements of memory become values -----------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Memory of one element that the function makes for itself, and only loads and stores touch.
bool isScalar(memref::AllocOp allocation) {
  return allocation.getType().getRank() == 0 && llvm::all_of(allocation->getUsers(), [&](Operation *user) {
           auto store = dyn_cast<memref::StoreOp>(user);
           return isa<memref::LoadOp, memref::DeallocOp>(user) || (store && store.getValue() != allocation);
         });
}

bool stores(Operation *op, Value memref) {
  return op
      ->walk([&](memref::StoreOp store) {
        return store.getMemref() == memref ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Loads of what was stored before in the same block, or in one around it that does not store again.
void forwardIn(RewriterBase &rewriter, Block &block, Value memref, Value current) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto store = dyn_cast<memref::StoreOp>(op);
    auto load = dyn_cast<memref::LoadOp>(op);
    if (store && store.getMemref() == memref)
      current = store.getValue();
    else if (load && load.getMemref() == memref && current) {
      if (Operation *const made = current.getDefiningOp(); made && nameInLocation(made->getLoc()).empty())
        made->setLoc(load.getLoc()); // its name
      rewriter.replaceOp(load, current);
    } else if (op.getNumRegions() != 0) {
      bool const changes = stores(&op, memref);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          forwardIn(rewriter, inner, memref, changes ? Value() : current);
      if (changes)
        current = {};
    }
  }
}

} // namespace

void forwardScalars(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<memref::AllocOp> scalars;
  entry.walk([&](memref::AllocOp allocation) {
    if (isScalar(allocation))
      scalars.push_back(allocation);
  });
  for (memref::AllocOp scalar : scalars) {
    forwardIn(rewriter, *scalar->getBlock(), scalar, Value());
    if (llvm::any_of(scalar->getUsers(), llvm::IsaPred<memref::LoadOp>))
      continue;
    for (Operation *user : llvm::make_early_inc_range(scalar->getUsers()))
      rewriter.eraseOp(user);
    rewriter.eraseOp(scalar);
  }
}

} // namespace ml2k
