//===- WindowLoops.h - the loops of a convolution or pool, read off its indexing maps -------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_RAISE_WINDOWLOOPS_H
#define ML2K_PASSES_SCHEDULE_RAISE_WINDOWLOOPS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace ml2k {

/// Loops by their part in a window operation on (image, filter or window) -> output.
struct WindowLoops {
  /// A direction of the window: image position = stride * outLoop + dilation * tapLoop.
  struct Spatial {
    unsigned outLoop, tapLoop;            ///< loops
    unsigned imageDim, filterDim, outDim; ///< dimensions of the operands
    int64_t stride, dilation;
  };
  llvm::SmallVector<Spatial, 2> spatial; ///< in the order of the image's dimensions
  std::optional<unsigned> batch;         ///< in image and output
  std::optional<unsigned> group;         ///< in image, filter and output (the channel of a depthwise convolution)
  std::optional<unsigned> inChannel;     ///< reduced; in image and filter
  std::optional<unsigned> outChannel;    ///< in filter and output
  std::optional<unsigned> poolChannel;   ///< the second loop in image and output only (a pool's channels)

  bool isConvolution() const { return batch && !poolChannel && (inChannel || group); }
  bool isPool() const { return batch && poolChannel && !inChannel && !outChannel && !group; }

  /// None if some loop has no such part, or if the window moves in more directions.
  static std::optional<WindowLoops> of(mlir::linalg::GenericOp op, size_t mostDirections = 2);
};

/// How a pool joins its taps; none for any other body.
std::optional<nest::Combiner> poolCombiner(mlir::linalg::GenericOp op);

/// True if joining `value` changes nothing, so that it may be left out.
bool isNeutral(nest::Combiner combiner, mlir::TypedAttr value);

} // namespace ml2k

#endif
