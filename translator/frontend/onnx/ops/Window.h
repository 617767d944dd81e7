//===- Window.h - kernel, strides, dilations and pads of convolutions and pools -------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_WINDOW_H
#define ML2K_FRONTEND_ONNX_OPS_WINDOW_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

/// Over the spatial dimensions of an N C ... tensor. `high` includes what ceil_mode adds.
struct Window {
  Ints kernel, strides, dilations, low, high;
  /// Extra elements at the end that are in no pad of the model (ceil_mode).
  Ints overhang;
  /// Pads that only the run knows, of SAME with strides, a pair for each dimension; empty without any. `low` and `high`
  /// are 0 there.
  std::vector<std::pair<Extent, Extent>> open;

  /// Reads and checks the attributes; `kernel` comes from the weight or from kernel_shape.
  static Window of(Node &node, IntsRef kernel);
  /// A leading dimension of extent 1.
  void addRow();
  mlir::Value pad(Build &b, mlir::Value x, mlir::Value scalar) const;
  /// For x that has been padded.
  Sizes outputSizes(Build &b, mlir::Value x) const;
};

/// The sum over windows of x, which has been padded and has two or three spatial dimensions.
mlir::Value convolve(Build &b, mlir::Value x, mlir::Value w, Window const &window, int64_t groups);

/// Whether convolveByPlanes() takes x, which is N C D H W: its depth is known and its channels are in one group.
bool isConvolvedByPlanes(mlir::Value x, int64_t groups);

/// The sum over windows of x N C D H W, which has not been padded, as a convolution of images with the channels of all
/// planes that the filter reaches.
mlir::Value convolveByPlanes(Build &b, mlir::Value x, mlir::Value w, Window const &window);

/// Pads are what is cut off the full output.
struct TransposedWindow {
  Ints kernel, strides, dilations, low, high;

  static TransposedWindow of(Node &node, IntsRef kernel);
  void addRow();
  /// The windows tile the output.
  bool isBlocks() const;
};

} // namespace ml2k::frontend

#endif
