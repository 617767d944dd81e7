//===- LoopSteps.h - loops go forward ------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_LOOPSTEPS_H
#define ML2K_IR_LOOPSTEPS_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace ml2k {

/// Refuses a loop that does not go forward, as far as is known by how much it does: nothing upstream does.
inline mlir::LogicalResult checkLoopSteps(mlir::Operation *op) {
  auto loop = mlir::dyn_cast<mlir::LoopLikeOpInterface>(op);
  if (std::optional<llvm::SmallVector<mlir::OpFoldResult>> const steps = loop ? loop.getLoopSteps() : std::nullopt)
    for (mlir::OpFoldResult step : *steps)
      if (std::optional<int64_t> const number = mlir::getConstantIntValue(step); number && *number <= 0)
        return op->emitOpError() << "has a step of " << *number << "; a loop goes forward";
  return mlir::success();
}

} // namespace ml2k

#endif
