//===- SinkFills.cpp - memory is filled in front of the kernel that wants it, and once ----------------------------===//
//
// Part of LabelCopies. The zeros that sums start from are one tensor of the model, made where the first layer makes
// them: the buffer of a later layer would be filled there too, and in use ever since. The zeros around an image that
// each step of a loop writes stay as they are: the loop needs no fill for every step.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Whether every step of the loop overwrites the same part, all of it.
static bool overwritesSamePart(Access const &access, scf::ForOp loop) {
  auto kernel = dyn_cast<DestinationStyleOpInterface>(access.op);
  bool const isWhole = isa<memref::CopyOp>(access.op) ||
                       (isa<nest::MapOp, nest::ReduceOp, nest::ContractOp, nest::ConvOp, nest::WindowOp>(access.op) &&
                        llvm::is_contained(kernel.getDpsInits(), access.alias));
  Box const box = boxOf(access.alias);
  auto const isFixed = [&](ArrayRef<int64_t> numbers, ArrayRef<Value> values) {
    return llvm::all_of(llvm::enumerate(numbers), [&](auto each) {
      if (!ShapedType::isDynamic(each.value()))
        return true;
      Value const value = each.index() < values.size() ? values[each.index()] : Value();
      return value && loop.isDefinedOutsideOfLoop(value);
    });
  };
  return isWhole && isFixed(box.offsets, box.offsetValues) && isFixed(box.sizes, box.sizeValues);
}

/// Whether a fill at the start of each step might as well stand in front of the loop: all that is written behind it is
/// written again by every step before anybody reads it.
static bool isOncePerLoop(nest::MapOp fill, scf::ForOp loop) {
  Value const root = fill.getOutputs()[0];
  if (!root.getDefiningOp<memref::AllocOp>() || !loop.isDefinedOutsideOfLoop(root) ||
      !loop.isDefinedOutsideOfLoop(fill.getBody().front().back().getOperand(0)))
    return false;
  Operation *lastWrite = fill, *firstRead = loop.getBody()->getTerminator();
  for (Access const &access : accessesOf(root)) {
    if (access.op == fill)
      continue;
    if (access.op->getBlock() != loop.getBody() || !fill->isBeforeInBlock(access.op) ||
        (access.writes && !overwritesSamePart(access, loop)))
      return false;
    if (access.writes && lastWrite->isBeforeInBlock(access.op))
      lastWrite = access.op;
    if (access.reads && access.op->isBeforeInBlock(firstRead))
      firstRead = access.op;
  }
  return lastWrite->isBeforeInBlock(firstRead);
}

void hoistFills(func::FuncOp function) {
  SmallVector<nest::MapOp> fills;
  function.walk([&](nest::MapOp map) {
    if (isFill(map))
      fills.push_back(map);
  });
  for (nest::MapOp fill : fills)
    if (auto loop = dyn_cast<scf::ForOp>(fill->getParentOp()); loop && isOncePerLoop(fill, loop))
      fill->moveBefore(loop);
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
