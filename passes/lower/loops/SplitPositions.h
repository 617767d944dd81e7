//===- SplitPositions.h - where a loop found its largest or smallest term -------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SPLITPOSITIONS_H
#define ML2K_PASSES_LOWER_LOOPS_SPLITPOSITIONS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// A loop that carries an extreme and where it was found, and could be parallel but for that, becomes one for the
/// extreme and one for the place; both, or none where there is nothing to split.
llvm::SmallVector<mlir::scf::ForOp> splitPositions(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);

} // namespace ml2k

#endif
