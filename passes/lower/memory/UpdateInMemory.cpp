//===- UpdateInMemory.cpp - loops that change elements of a tensor work in memory ---------------------------------===//
//
// A scatter is a loop that carries a tensor and inserts elements. In a chain of them all results are one piece of
// memory, and the analysis of bufferization compares each read of it with each write, for each operand: a minute for
// 1,000 scatters. Between the loop and the rest of the model stand a memref and a tensor, which the analysis does not
// look through: it still sees that the tensor in front is overwritten, and copies it where somebody reads it later.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_UPDATEINMEMORY
#include "passes/Passes.h.inc"

namespace {

/// The use of a tensor that gives it on to the next one in the same memory.
bool isHandedOn(OpOperand &use) {
  if (auto insert = dyn_cast<tensor::InsertOp>(use.getOwner()))
    return &use == &insert.getDestMutable();
  return isa<scf::ForOp, scf::YieldOp>(use.getOwner());
}

/// True if nobody asks for an element of the tensor once it is handed on, and it is handed on once.
bool isOneState(Value tensor) {
  Operation *next = nullptr;
  for (OpOperand &use : tensor.getUses())
    if (isHandedOn(use)) {
      if (next || use.getOwner()->getBlock() != tensor.getParentBlock())
        return false;
      next = use.getOwner();
    } else if (!isa<tensor::ExtractOp, tensor::DimOp>(use.getOwner()))
      return false;
  return next && llvm::all_of(tensor.getUsers(), [&](Operation *user) {
           Operation *const here = next->getBlock()->findAncestorOpInBlock(*user);
           return here == next ? user == next : here->isBeforeInBlock(next);
         });
}

/// True if `last` is `carried` after the insertions of the body.
bool isChanged(Value last, Value carried) {
  while (last != carried) {
    if (auto insert = last.getDefiningOp<tensor::InsertOp>())
      last = insert.getDest();
    else if (auto loop = last.getDefiningOp<scf::ForOp>())
      last = loop.getInitArgs()[cast<OpResult>(last).getResultNumber()];
    else
      return false;
  }
  return true;
}

/// True if all tensors that the loop carries are memory that it changes element by element.
bool worksInMemory(scf::ForOp loop) {
  for (auto [carried, yielded] : llvm::zip(loop.getRegionIterArgs(), *loop.getYieldedValuesMutable()))
    if (isa<TensorType>(carried.getType()) && (!isOneState(carried) || !isChanged(yielded.get(), carried)))
      return false;
  return llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
    if (auto inner = dyn_cast<scf::ForOp>(op))
      return worksInMemory(inner) && llvm::all_of(inner.getResults(), [](Value result) {
               return !isa<TensorType>(result.getType()) || isOneState(result);
             });
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      return isOneState(insert.getResult());
    return op.getNumRegions() == 0 && isPure(&op) && llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
  });
}

/// Nobody asks for the tensors that the iterations hand on.
void detachYields(scf::ForOp loop) {
  loop.walk([](scf::ForOp inner) {
    for (auto [carried, yielded] : llvm::zip(inner.getRegionIterArgs(), *inner.getYieldedValuesMutable()))
      if (isa<TensorType>(carried.getType()))
        yielded.set(carried);
  });
}

/// Reads and writes `memory` instead of the tensor and of those that it is handed on to.
void replaceAccesses(Value start, Value memory) {
  SmallVector<Value> states{start};
  SmallVector<Operation *> replaced;
  while (!states.empty())
    for (OpOperand &use : states.pop_back_val().getUses()) {
      Operation *const user = use.getOwner();
      OpBuilder builder(user);
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        states.append({loop.getTiedLoopRegionIterArg(&use), loop.getTiedLoopResult(&use)});
        continue;
      }
      if (isa<scf::YieldOp>(user))
        continue;
      replaced.push_back(user);
      if (auto extract = dyn_cast<tensor::ExtractOp>(user))
        extract.replaceAllUsesWith(
            builder.create<memref::LoadOp>(user->getLoc(), memory, extract.getIndices()).getResult());
      else if (auto dim = dyn_cast<tensor::DimOp>(user))
        dim.replaceAllUsesWith(builder.create<memref::DimOp>(user->getLoc(), memory, dim.getIndex()).getResult());
      else if (auto insert = dyn_cast<tensor::InsertOp>(user)) {
        builder.create<memref::StoreOp>(user->getLoc(), insert.getScalar(), memory, insert.getIndices());
        states.push_back(insert.getResult());
      }
    }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

/// The loop without the tensors that it carried.
scf::ForOp withoutTensors(scf::ForOp loop) {
  BitVector dropped(loop.getInitArgs().size());
  SmallVector<Value> kept;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
    if (isa<TensorType>(init.getType()))
      dropped.set(i);
    else
      kept.push_back(init);
  OpBuilder builder(loop);
  auto made =
      builder.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), kept);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *const body = loop.getBody();
  BitVector arguments(body->getNumArguments());
  for (unsigned i : dropped.set_bits())
    arguments.set(loop.getNumInductionVars() + i);
  body->getTerminator()->eraseOperands(dropped);
  body->eraseArguments(arguments);
  made.getRegion().takeBody(loop.getRegion());
  auto result = made.getResults().begin();
  for (OpResult old : loop.getResults())
    if (!dropped.test(old.getResultNumber()))
      old.replaceAllUsesWith(*result++);
  return made;
}

void updateInMemory(scf::ForOp loop) {
  detachYields(loop);
  OpBuilder builder(loop);
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    auto const type = dyn_cast<RankedTensorType>(loop.getInitArgs()[i].getType());
    if (!type)
      continue;
    builder.setInsertionPoint(loop);
    Value const memory = builder.create<bufferization::ToMemrefOp>(
        loop.getLoc(), MemRefType::get(type.getShape(), type.getElementType()), loop.getInitArgs()[i]);
    replaceAccesses(loop.getRegionIterArg(i), memory);
    builder.setInsertionPointAfter(loop);
    loop.getResult(i).replaceAllUsesWith(
        builder.create<bufferization::ToTensorOp>(loop.getLoc(), memory, /*restrict=*/true, /*writable=*/true)
            .getResult());
  }
  SmallVector<scf::ForOp> loops;
  loop.walk([&](scf::ForOp inner) { loops.push_back(inner); }); // inner ones first
  for (scf::ForOp each : loops) {
    withoutTensors(each);
    each.erase();
  }
}

/// The body of the operation takes its place.
void inlineBody(nest::InMemoryOp op) {
  Block &body = op.getBody().front();
  Operation *const yield = body.getTerminator();
  op->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op.erase();
}

struct UpdateInMemory : impl::UpdateInMemoryBase<UpdateInMemory> {
  void runOnOperation() override {
    for (nest::InMemoryOp op : llvm::make_early_inc_range(getOperation().getOps<nest::InMemoryOp>()))
      inlineBody(op);
    SmallVector<scf::ForOp> loops;
    for (scf::ForOp loop : getOperation().getOps<scf::ForOp>())
      if (llvm::any_of(loop.getResultTypes(), llvm::IsaPred<RankedTensorType>) && worksInMemory(loop))
        loops.push_back(loop);
    llvm::for_each(loops, updateInMemory);
  }
};

} // namespace
} // namespace ml2k
