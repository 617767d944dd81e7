//===- Rewrite.h - patterns applied without a cleanup of blocks -----------------------------------------*- C++ -*-===//

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

} // namespace ml2k

#endif
