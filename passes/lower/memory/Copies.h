//===- Copies.h - a copy as a kernel --------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_MEMORY_COPIES_H
#define ML2K_PASSES_LOWER_MEMORY_COPIES_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace ml2k {

/// A nest.map that copies `from` to `to`, both memrefs or both tensors of one shape.
nest::MapOp createCopy(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef label, mlir::Value from,
                       mlir::Value to);

/// Copies, and elementwise work on the same memory, of one shape become one kernel where they do not depend on each
/// other.
void joinMaps(mlir::func::FuncOp function);

/// Fills move to the first operation that touches what they fill.
void sinkFills(mlir::func::FuncOp function);

/// Moves fills in front of a loop whose steps write what they write again: the rest stays filled.
void hoistFills(mlir::func::FuncOp function);

/// Products whose rows are only cut into parts and copied store these parts themselves.
void storeInParts(mlir::func::FuncOp function);

} // namespace ml2k

#endif
