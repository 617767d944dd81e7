//===- LoopExtents.h - how often the loops of a kernel run ---------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_LOOPEXTENTS_H
#define ML2K_IR_LOOPEXTENTS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"

namespace ml2k::nest {

/// A loop runs over a dimension of an operand; the operand is null where no map has the loop as an index of its own.
struct LoopExtent {
  mlir::Value operand;
  unsigned dim = 0;
  unsigned position = 0; ///< of the operand

  /// kDynamic where known at run time only; 1 without an operand.
  int64_t size() const;
};

/// Per loop of the maps, one map per operand. The last operand decides, and outputs are last: of an input that is
/// larger only the front is read.
llvm::SmallVector<LoopExtent> loopExtents(llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::Value> operands);

} // namespace ml2k::nest

#endif
