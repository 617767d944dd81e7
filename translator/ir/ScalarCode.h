//===- ScalarCode.h - what may stand in the block of a kernel -------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_SCALARCODE_H
#define ML2K_IR_SCALARCODE_H

#include "mlir/IR/Operation.h"

namespace ml2k {

/// The operations on scalars that C++ has an expression for, sorted by name: the printer's table has these and no
/// others.
llvm::ArrayRef<llvm::StringLiteral> scalarOperations();

/// An operation in a kernel: one of those on types that C++ has, or a load, a size, control flow; in explicit loops
/// stores and a thread's arrays, too. The error says what has no printed form.
mlir::LogicalResult checkScalarCode(mlir::Operation *op, bool inExplicitLoops);

} // namespace ml2k

#endif
