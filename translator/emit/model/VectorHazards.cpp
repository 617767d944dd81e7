//===- VectorHazards.cpp - what keeps compilers from vectors where loops of kernels could have them ---------------===//

#include "translator/emit/model/VectorHazards.h"

#include "translator/ir/Nest.h"
#include "translator/ir/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

/// Whether memory may be met under a condition only: compilers find no vectors where the closure, which has its
/// address, is read there.
static bool readsUnderCondition(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return branch->getParentOfType<nest::LoopKernelOp>() &&
           branch
               .walk([](Operation *inside) {
                 return isa<memref::LoadOp, memref::StoreOp>(inside) ? WalkResult::interrupt() : WalkResult::advance();
               })
               .wasInterrupted();
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return false;
  bool const isOfMap = isa<nest::MapOp>(select->getParentOp());
  auto const isElement = [&](Value value) {
    return value.hasOneUse() && (value.getDefiningOp<memref::LoadOp>() || (isOfMap && isa<BlockArgument>(value)));
  };
  return isElement(select.getTrueValue()) || isElement(select.getFalseValue());
}

/// Whether a store may change the ints that a closure has: its subscripts, and the strides of its views.
static bool storesInts(Operation *op) {
  auto store = dyn_cast<memref::StoreOp>(op);
  auto kernel = store ? store->getParentOfType<nest::LoopKernelOp>() : nest::LoopKernelOp();
  if (!kernel)
    return false;
  Type const element = store.getMemRefType().getElementType();
  auto const hasStrides = [&] {
    return kernel
        .walk([](Operation *access) {
          auto load = dyn_cast<memref::LoadOp>(access);
          auto stored = dyn_cast<memref::StoreOp>(access);
          return (load     ? load.getMemRefType().getRank()
                  : stored ? stored.getMemRefType().getRank()
                           : 0) > 1
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  return element.isInteger(32) || element.isIndex() || (element.isInteger(64) && hasStrides());
}

/// Of some operation in the entry.
static bool anyIn(func::FuncOp entry, function_ref<bool(Operation *)> holds) {
  return entry.walk([&](Operation *op) { return holds(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool hidesFromVectors(func::FuncOp entry) {
  return anyIn(entry, [](Operation *op) { return storesInts(op) || readsUnderCondition(op); });
}

bool findsPlaces(func::FuncOp entry) {
  return anyIn(entry, [](Operation *op) {
    auto loop = dyn_cast<scf::ParallelOp>(op);
    return loop && nest::isFirstPlace(loop);
  });
}

bool joinsTruths(func::FuncOp entry) {
  auto const isTruth = [](Type type) { return getElementTypeOrSelf(type).isInteger(1); };
  return anyIn(entry, [&](Operation *op) {
    if (auto kernel = dyn_cast<nest::LoopKernelOp>(op))
      return llvm::any_of(kernel.getInto().getTypes(), isTruth);
    return isa<scf::ParallelOp, scf::ForOp>(op) && llvm::any_of(op->getResultTypes(), isTruth);
  });
}

} // namespace ml2k
