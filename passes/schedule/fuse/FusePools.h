//===- FusePools.h - what a pool takes over from the operations around it -------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_FUSE_FUSEPOOLS_H
#define ML2K_PASSES_SCHEDULE_FUSE_FUSEPOOLS_H

#include "mlir/IR/PatternMatch.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace ml2k {

/// A direction in which windows move: where that of output p begins, p * stride - pad, and what it covers.
struct PoolDirection {
  int64_t outputs, inputs; ///< extents of result and image
  int64_t kernel, stride, dilation, pad;

  int64_t tapsInside(int64_t p) const;
};

/// Whether `count` is the number of taps inside the image at every output position: a product of one number for each
/// direction. directionOf: which direction's position an operation is, if any.
bool countsTapsInside(mlir::Value count, llvm::ArrayRef<PoolDirection> directions,
                      llvm::function_ref<std::optional<unsigned>(mlir::Operation *)> directionOf);

/// The number that `sum` is divided by, if `value` is such a quotient of it and an integer.
mlir::Value divisorOf(mlir::Value value, mlir::Value sum);

/// Sums divided by the number of their taps inside the image are means.
void populatePoolMeans(mlir::RewritePatternSet &patterns);

/// Pools between images N C H W, and those of volumes N C D H W, are pools of planes.
void populatePoolPlanes(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
