//===- CarriedTensors.cpp - what loops carry and branches yield stays in one place --------------------------------===//
//
// Bufferization takes a loop on tensors only if it yields the memory that it was given. The next value goes there at
// the end of the body; a copy onto itself disappears later.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace {

/// The values that `terminator` hands on, in the memory of `carried`, which are arguments of its block.
void handOn(Operation *terminator, MutableArrayRef<OpOperand> passed, ValueRange carried) {
  Location const location = terminator->getLoc();
  OpBuilder builder(terminator);
  SmallVector<std::pair<OpOperand *, Value>> moved;
  for (auto [operand, target] : llvm::zip(passed, carried)) {
    Value next = operand.get();
    if (!isa<RankedTensorType>(target.getType()) || next == target || next.getType() != target.getType())
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
