//===- WindowImages.h - what a window works on, as images N H W C ---------------------------------------*- C++ -*-===//
//
// Kernels of windows work on images whose channels lie last. Lines are images of one row, volumes batches of their
// planes, N * D of them; groups are parts of the channels.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_SCHEDULE_RAISE_WINDOWIMAGES_H
#define ML2K_PASSES_SCHEDULE_RAISE_WINDOWIMAGES_H

#include "passes/schedule/raise/WindowLoops.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// An image brought to N H W C, and the padding that came off it.
struct WindowImage {
  mlir::Value value;
  llvm::SmallVector<int64_t> pads{0, 0, 0, 0};
  std::array<int64_t, 2> planes{0, 0}; ///< padding of volumes in front and behind
};

/// The first input of `op`. A tensor.pad in front of it comes off if its scalar `isPadding` and it pads the window's
/// dimensions only.
WindowImage imageChannelsLast(mlir::PatternRewriter &rewriter, mlir::linalg::GenericOp op, WindowLoops const &loops,
                              std::optional<unsigned> channel, llvm::function_ref<bool(mlir::TypedAttr)> isPadding);

/// What the kernel makes, N P Q O, and the way back to the type of the operation's result.
class WindowResult {
public:
  /// `channel`: output channels beside the group.
  WindowResult(mlir::PatternRewriter &rewriter, mlir::linalg::GenericOp op, WindowLoops const &loops,
               std::optional<unsigned> channel)
      : rewriter(rewriter), op(op), loops(loops), channel(channel) {}

  mlir::RankedTensorType type();
  mlir::Value init();
  void replaceWith(mlir::Value made);

private:
  llvm::SmallVector<int64_t> order();

  /// The shape before the planes of a volume are images.
  llvm::SmallVector<int64_t> volumeShape();

  mlir::Value initOfPlanes();
  mlir::Value splitLast(mlir::Value made);

  mlir::PatternRewriter &rewriter;
  mlir::linalg::GenericOp op;
  WindowLoops const &loops;
  std::optional<unsigned> channel;
};

/// A member of the window's rows and columns; 1 for the rows of lines.
llvm::SmallVector<int64_t> perDirection(WindowLoops const &loops, int64_t WindowLoops::Spatial::*member);

/// What a window has of the planes of a volume; nothing for images, and where each plane is one by itself.
mlir::DenseI64ArrayAttr planesOf(mlir::linalg::GenericOp op, WindowLoops const &loops, std::array<int64_t, 2> pads);

/// A volume is a batch of planes if it is known how many they are, and an index counts those of all volumes.
bool isWindowed(mlir::linalg::GenericOp op, WindowLoops const &loops);

} // namespace ml2k

#endif
