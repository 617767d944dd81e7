//===- SinkFills.cpp - memory is filled in front of the kernel that wants it
//---------------------------------------===//
//
// Part of LabelCopies. The zeros that sums start from are one tensor of the model, made where the first layer makes
// them: the buffer of a later layer would be filled there too, and in use ever since.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ml2k {

/// Whether a map only writes a constant.
static bool isFill(nest::MapOp map) {
  return map.getInputs().empty() && map.getExtras().empty() && map.getOutputs().size() == 1 &&
         map.getBody().front().getOperations().size() == 1;
}

/// The operations of a block that touch a buffer, in order.
static SmallVector<Operation *> usesOf(Value root, Block *block) {
  SmallVector<Operation *> uses;
  for (Access const &access : accessesOf(root))
    if (Operation *op = block->findAncestorOpInBlock(*access.op))
      uses.push_back(op);
  llvm::sort(uses, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return uses;
}

void sinkFills(func::FuncOp function) {
  llvm::MapVector<std::pair<Value, Block *>, SmallVector<nest::MapOp>> fills;
  function.walk([&](nest::MapOp map) {
    if (isFill(map))
      fills[{rootOf(map.getOutputs()[0]), map->getBlock()}].push_back(map);
  });
  SmallVector<std::pair<nest::MapOp, Operation *>> moves; // afterwards: the order in a block is numbered
  for (auto &[place, own] : fills) {
    SmallVector<Operation *> const uses = usesOf(place.first, place.second);
    for (nest::MapOp fill : own) {
      auto const *next = llvm::upper_bound(uses, fill.getOperation(),
                                           [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      if (next != uses.end())
        moves.push_back({fill, *next});
    }
  }
  for (auto [fill, use] : moves)
    fill->moveBefore(use);
}

} // namespace ml2k
