//===- StripCandidate.h - whether the columns of a kernel take their steps together ---------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PREPARE_STRIPCANDIDATE_H
#define ML2K_PASSES_PREPARE_STRIPCANDIDATE_H

#include "translator/ir/Strips.h"

namespace ml2k {

/// In what has columns: each operation may leave a value for each of them.
inline constexpr int mostOperationsOfStrips = 1024;

/// The loops that the columns of a kernel, or of a loop in one, are to take together; none if they had better not.
llvm::SmallVector<mlir::scf::ForOp> stripLoopsOf(mlir::Operation *owner);

/// Whether a running sum down each column is all there is; two columns are worth it, which share lines of memory.
bool isScanOfColumns(mlir::Operation *owner);

} // namespace ml2k

#endif
