//===- Resize.h - how Resize and Upsample read their input ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_RESIZE_H
#define ML2K_FRONTEND_ONNX_OPS_RESIZE_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

struct ResizeMode {
  std::string kind, coordinates, nearest;
  double cubicCoefficient;
  bool excludeOutside;
  double outside; // the value of what tf_crop_and_resize reads outside
  bool antialias = false;
};

/// Resizes an axis whose extents are known at run time only: positions and weights are computed for each element. The
/// scale is `to / from` where the model gives none.
mlir::Value resizeAtRunTime(Node &node, mlir::Value x, int64_t axis, ResizeMode const &mode, Extent const &to,
                            std::optional<double> scale);

} // namespace ml2k::frontend

#endif
