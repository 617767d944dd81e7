//===- KernelMemory.cpp - how the operands of a kernel lie in memory ----------------------------------------------===//

#include "passes/lower/memory/Memory.h"
#include "passes/prepare/ChooseBlocks.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace ml2k {

bool isImage(Value memory) {
  auto buffer = memory.getDefiningOp<nest::BufferOp>();
  return buffer && buffer.getForm() == nest::BufferForm::Image;
}

bool isUnsigned(Value memref) {
  auto const argument = dyn_cast<BlockArgument>(rootOf(memref));
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return entry && entry.getArgAttr(argument.getArgNumber(), "nest.unsigned");
}

static bool hasBorder(Value memory) {
  auto buffer = memory.getDefiningOp<nest::BufferOp>();
  return buffer && buffer.getBorder() && llvm::any_of(*buffer.getBorder(), [](int64_t width) { return width > 0; });
}

bool crossesBorder(Value memref, int64_t dimension) {
  if (!hasBorder(rootOf(memref)))
    return false;
  bool isJoined = false;
  for (Operation *op = memref.getDefiningOp(); isa_and_nonnull<ViewLikeOpInterface>(op);
       op = op->getOperand(0).getDefiningOp()) {
    if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
      ReassociationIndices const group = collapse.getReassociationIndices()[dimension];
      auto const isLong = [&](int64_t d) { return collapse.getSrcType().getDimSize(d) != 1; };
      isJoined |= llvm::count_if(group, isLong) > 1;
      auto const found = llvm::find_if(group, isLong);
      dimension = found == group.end() ? group.front() : *found;
    } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      auto const groups = expand.getReassociationIndices();
      dimension = llvm::find_if(groups, [&](auto const &group) { return llvm::is_contained(group, dimension); }) -
                  groups.begin();
    } else if (auto part = dyn_cast<memref::SubViewOp>(op)) {
      llvm::SmallBitVector const dropped = part.getDroppedDims();
      for (int64_t d = 0; d <= dimension; ++d)
        dimension += dropped.test(d);
    }
  }
  return isJoined;
}

bool liesAlong(Value memref, AffineMap map, unsigned loop) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return map.getNumResults() > 0 && map.getResults().back() == getAffineDimExpr(loop, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr e) { return e.isFunctionOfDim(loop); }) &&
         succeeded(getStridesAndOffset(cast<MemRefType>(memref.getType()), strides, offset)) && strides.back() == 1 &&
         !crossesBorder(memref, map.getNumResults() - 1);
}

} // namespace ml2k
