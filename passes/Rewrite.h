//===- Rewrite.h - patterns without a cleanup of blocks, erasing ------------------------------------------*- C++
//-*-===//

#ifndef ML2K_PASSES_REWRITE_H
#define ML2K_PASSES_REWRITE_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ml2k {

/// Applies patterns until none matches. Regions are not simplified as well, round by round, as upstream does: that is
/// another walk over everything, and ml2k-cleanup does it.
inline mlir::LogicalResult rewriteGreedily(mlir::Operation *op, mlir::RewritePatternSet patterns) {
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Disabled;
  return applyPatternsAndFoldGreedily(op, std::move(patterns), config);
}

/// Erases an operation that nothing uses any more, and then what it alone used.
inline void eraseUnused(mlir::Operation *op) {
  llvm::SetVector<mlir::Operation *> work;
  work.insert(op);
  while (!work.empty()) {
    mlir::Operation *const next = work.pop_back_val();
    if (!mlir::isOpTriviallyDead(next))
      continue;
    for (mlir::Value operand : next->getOperands())
      if (mlir::Operation *const before = operand.getDefiningOp())
        work.insert(before);
    next->erase();
  }
}

} // namespace ml2k

#endif
