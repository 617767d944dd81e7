//===- SinkFills.cpp - memory is filled in front of the kernel that wants it
//---------------------------------------===//
//
// Part of LabelCopies. The zeros that sums start from are one tensor of the model, made where the first layer makes
// them: the buffer of a later layer would be filled there too, and in use ever since.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

/// Whether a map only writes a constant.
static bool isFill(nest::MapOp map) {
  return map.getInputs().empty() && map.getExtras().empty() && map.getOutputs().size() == 1 &&
         map.getBody().front().getOperations().size() == 1;
}

/// The first operation behind a fill, in its block, that touches what it fills.
static Operation *firstUse(nest::MapOp fill) {
  Operation *first = nullptr;
  for (Access const &access : accessesOf(rootOf(fill.getOutputs()[0])))
    if (Operation *op = fill->getBlock()->findAncestorOpInBlock(*access.op);
        op && op != fill && fill->isBeforeInBlock(op) && (!first || op->isBeforeInBlock(first)))
      first = op;
  return first;
}

void sinkFills(func::FuncOp function) {
  SmallVector<std::pair<nest::MapOp, Operation *>> moves;
  function.walk([&](nest::MapOp map) {
    if (Operation *use = isFill(map) ? firstUse(map) : nullptr)
      moves.push_back({map, use});
  });
  for (auto [fill, use] : moves)
    fill->moveBefore(use);
}

} // namespace ml2k
