//===- VectorHazards.h - what keeps compilers from vectors where loops of kernels could have them -------*- C++ -*-===//

#ifndef ML2K_EMIT_MODEL_VECTORHAZARDS_H
#define ML2K_EMIT_MODEL_VECTORHAZARDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// Whether loops have to call a copy of their closure: a store may change it, or it is read under a condition.
bool hidesFromVectors(mlir::func::FuncOp entry);

/// Whether kernels reduce bools.
bool findsPlaces(mlir::func::FuncOp entry);
bool joinsTruths(mlir::func::FuncOp entry);

} // namespace ml2k

#endif
