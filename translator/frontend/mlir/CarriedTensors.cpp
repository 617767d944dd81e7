//===- CarriedTensors.cpp - what loops carry and branches yield stays in one place --------------------------------===//
//
// Bufferization takes a loop on tensors only if it yields the memory that it was given. The next value goes there at
// the end of the body; a copy onto itself disappears later.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace {

bool isBefore(Operation *op, Operation *write) {
  Operation *const ancestor = write->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && ancestor->isBeforeInBlock(write);
}

/// Whether all that is read of `tensor` was used before `write` changes it.
bool isReadBefore(Value tensor, Operation *write) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    return user == write ||
           (slice && llvm::all_of(slice->getUsers(), [&](Operation *use) { return isBefore(use, write); }));
  });
}

/// Whether `next` is `target` with tiles of it replaced, one after the other, by this loop and loops within it.
bool isTiled(Value next, Value target) {
  while (next != target) {
    Operation *const op = next.getDefiningOp();
    if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op)) {
      next = insert.getDest();
    } else if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
      unsigned const number = cast<OpResult>(next).getResultNumber();
      if (!isTiled(loop.getYieldedValues()[number], loop.getRegionIterArg(number)))
        return false;
      next = loop.getInitArgs()[number];
    } else
      return false;
    if (!isReadBefore(next, op))
      return false;
  }
  return true;
}

/// The values that `terminator` hands on, in the memory of `carried`, which are arguments of its block.
void handOn(Operation *terminator, MutableArrayRef<OpOperand> passed, ValueRange carried) {
  Location const location = terminator->getLoc();
  OpBuilder builder(terminator);
  SmallVector<std::pair<OpOperand *, Value>> moved;
  for (auto [operand, target] : llvm::zip(passed, carried)) {
    Value next = operand.get();
    if (!isa<RankedTensorType>(target.getType()) || next.getType() != target.getType() || isTiled(next, target))
      continue;
    // Tensors that change places, and values from outside: through a tensor of the body
    bool const isOfBody = next.getDefiningOp() && next.getParentBlock() == terminator->getBlock();
    if (!isOfBody)
      operand.set(builder.create<bufferization::AllocTensorOp>(location, cast<RankedTensorType>(next.getType()),
                                                               ValueRange(), next));
    moved.push_back({&operand, target});
  }
  for (auto [operand, target] : moved) {
    auto placed =
        builder.create<bufferization::MaterializeInDestinationOp>(location, target.getType(), operand->get(), target);
    operand->set(placed.getResult());
  }
}

/// Both branches put their tensors into one that is made in front.
void joinBranches(scf::IfOp branch) {
  OpBuilder builder(branch);
  for (OpResult result : branch.getResults()) {
    auto const type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape())
      continue;
    Value const place = builder.create<bufferization::AllocTensorOp>(branch.getLoc(), type, ValueRange());
    for (Operation *yield : {branch.thenYield(), branch.elseYield()}) {
      OpBuilder inside(yield);
      OpOperand &given = yield->getOpOperand(result.getResultNumber());
      given.set(inside.create<bufferization::MaterializeInDestinationOp>(yield->getLoc(), type, given.get(), place)
                    .getResult());
    }
  }
}

} // namespace

void ml2k::mlir_import::keepCarriedTensors(func::FuncOp entry) {
  entry.walk([](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      handOn(loop.getBody()->getTerminator(), loop.getYieldedValuesMutable().value_or(MutableArrayRef<OpOperand>()),
             loop.getRegionIterArgs());
    if (auto branch = dyn_cast<scf::IfOp>(op))
      joinBranches(branch);
    auto loop = dyn_cast<scf::WhileOp>(op);
    if (!loop)
      return;
    handOn(loop.getConditionOp(), loop.getConditionOp().getArgsMutable(), loop.getBeforeArguments());
    handOn(loop.getYieldOp(), loop.getYieldOp()->getOpOperands(), loop.getAfterArguments());
  });
}
