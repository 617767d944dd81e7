//===- LoopExtents.cpp - how often the loops of a kernel run ------------------------------------------------------===//

#include "translator/ir/LoopExtents.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace ml2k::nest;

int64_t LoopExtent::size() const { return operand ? cast<ShapedType>(operand.getType()).getDimSize(dim) : 1; }

SmallVector<LoopExtent> ml2k::nest::loopExtents(ArrayRef<AffineMap> maps, ArrayRef<Value> operands) {
  SmallVector<LoopExtent> extents(maps.empty() ? 0 : maps.front().getNumDims());
  for (unsigned position = operands.size(); position-- > 0;)
    for (auto [d, expr] : llvm::enumerate(maps[position].getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !extents[dim.getPosition()].operand)
        extents[dim.getPosition()] = {operands[position], unsigned(d), position};
  return extents;
}
