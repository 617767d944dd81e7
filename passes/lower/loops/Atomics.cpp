//===- Atomics.cpp - loops with atomic updates become sequential ones ---------------------------------------------===//
//
// An atomic update is a load, an operation and a store that nothing divides. In sequential loops the three suffice, and
// which of these loops are parallel is then proved as for all others; those whose iterations meet in such updates are
// parallel with atomic ones (AtomicUpdates.h).
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/AtomicUpdates.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/OrderedUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {

static Value updatedValue(RewriterBase &rewriter, memref::AtomicRMWOp op, Value old) {
  return arith::getReductionOp(op.getKind(), rewriter, op.getLoc(), old, op.getValue());
}

static void lowerUpdate(RewriterBase &rewriter, memref::AtomicRMWOp op) {
  rewriter.setInsertionPoint(op);
  Value const old = rewriter.create<memref::LoadOp>(op.getLoc(), op.getMemref(), op.getIndices());
  Value const next = op.getKind() == arith::AtomicRMWKind::assign ? op.getValue() : updatedValue(rewriter, op, old);
  auto store = rewriter.create<memref::StoreOp>(op.getLoc(), next, op.getMemref(), op.getIndices());
  store->setAttr(declaredUpdate, rewriter.getUnitAttr());
  rewriter.replaceOp(op, old);
}

static void lowerUpdate(RewriterBase &rewriter, memref::GenericAtomicRMWOp op) {
  rewriter.setInsertionPoint(op);
  IRMapping values;
  Value const old = rewriter.create<memref::LoadOp>(op.getLoc(), op.getMemref(), op.getIndices());
  values.map(op.getCurrentValue(), old);
  for (Operation &inner : op.getBody()->without_terminator())
    rewriter.clone(inner, values);
  Value const next = values.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
  auto store = rewriter.create<memref::StoreOp>(op.getLoc(), next, op.getMemref(), op.getIndices());
  store->setAttr(declaredUpdate, rewriter.getUnitAttr());
  rewriter.replaceOp(op, next);
}

void lowerAtomics(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<Operation *> updates;
  SmallVector<scf::ParallelOp> loops; // inner ones first
  entry.walk([&](Operation *op) {
    bool const isUpdate = isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op);
    if (isUpdate)
      updates.push_back(op);
    auto const holds = [](Operation *inner) {
      return isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(inner) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
    };
    if (auto loop = dyn_cast<scf::ParallelOp>(op); loop && loop->walk(holds).wasInterrupted())
      loops.push_back(loop);
  });
  for (scf::ParallelOp loop : loops)
    for (scf::ForOp sequential : makeSequential(rewriter, loop))
      sequential->setAttr(unorderedUpdates, rewriter.getUnitAttr());
  for (Operation *update : updates)
    if (auto simple = dyn_cast<memref::AtomicRMWOp>(update))
      lowerUpdate(rewriter, simple);
    else
      lowerUpdate(rewriter, cast<memref::GenericAtomicRMWOp>(update));
}

} // namespace ml2k
