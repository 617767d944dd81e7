//===- DistributeLoops.h - a loop becomes two, one after the other --------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_DISTRIBUTELOOPS_H
#define ML2K_PASSES_LOWER_LOOPS_DISTRIBUTELOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// `for i { t(i) = f(i); for j: y(j) += t(i) }` to a loop over t, which is parallel, and one over y. Both parts in
/// order where a part becomes parallel by that and they may run apart, none otherwise; `loop` is gone then.
llvm::SmallVector<mlir::scf::ForOp> distribute(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);

} // namespace ml2k

#endif
