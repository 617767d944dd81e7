//===- Operands.cpp - what the printed blocks can address ---------------------------------------------------------===//

#include "passes/lower/memory/Operands.h"

#include "translator/ir/StoredSums.h"

using namespace mlir;
using namespace ml2k;

static bool isInputOrOutput(OpOperand &operand) {
  auto kernel = cast<DestinationStyleOpInterface>(operand.getOwner());
  return operand.getOperandNumber() == 0 || kernel.isDpsInit(&operand);
}

bool ml2k::isImageOperand(OpOperand &operand) {
  return isa<nest::ConvOp, nest::WindowOp>(operand.getOwner()) && isInputOrOutput(operand);
}

bool ml2k::isMatrixOperand(OpOperand &operand) {
  if (auto recurrent = dyn_cast<nest::RecurrentOp>(operand.getOwner()))
    return cast<DestinationStyleOpInterface>(operand.getOwner()).isDpsInit(&operand) &&
           recurrent.isState(operand.get());
  auto contract = dyn_cast<nest::ContractOp>(operand.getOwner());
  if (!contract)
    return false;
  if (operand.getOperandNumber() != 0 && nest::columnsOfPart(contract)) // stored part by part
    return false;
  auto weight = contract.getInputs()[1].getDefiningOp<nest::WeightOp>();
  return weight && weight.getPackingAttr() && isInputOrOutput(operand);
}

std::array<int64_t, 4> ml2k::borderFor(OpOperand &operand) {
  auto conv = dyn_cast<nest::ConvOp>(operand.getOwner());
  if (!conv || operand.getOperandNumber() != 0)
    return {0, 0, 0, 0};
  return conv.getBorder();
}
