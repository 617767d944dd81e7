//===- SparseOperands.h - functions whose operands fusion leaves alone ------------------------------------*- C++
//-*-===//

#ifndef ML2K_PASSES_SCHEDULE_FUSE_SPARSEOPERANDS_H
#define ML2K_PASSES_SCHEDULE_FUSE_SPARSEOPERANDS_H

#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// Whether operations run over the entries of sparse tensors. They do so also where they read no value of them: such an
/// operand is used, although upstream's patterns take it for one that is not.
inline bool hasSparseOperands(mlir::func::FuncOp entry) {
  return llvm::any_of(llvm::seq(entry.getNumArguments()),
                      [&](unsigned place) { return bool(entry.getArgAttr(place, sparseEncoding)); });
}

} // namespace ml2k

#endif
