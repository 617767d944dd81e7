//===- ComplexNumbers.h - complex arithmetic on real and imaginary parts --------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_COMPLEXNUMBERS_H
#define ML2K_FRONTEND_MLIR_COMPLEXNUMBERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace ml2k::mlir_import {

/// The results of an operation of the complex dialect on scalars, from its operands: a complex number is two values,
/// real and imaginary part, a real one is one. Empty where there is no such form.
llvm::SmallVector<mlir::Value> computeParts(mlir::Operation *op, mlir::ValueRange parts, mlir::OpBuilder &builder);

} // namespace ml2k::mlir_import

#endif
