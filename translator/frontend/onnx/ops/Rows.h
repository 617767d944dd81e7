//===- Rows.h - what operators of several families do along an axis -------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_ROWS_H
#define ML2K_FRONTEND_ONNX_OPS_ROWS_H

#include "translator/frontend/onnx/importer/Build.h"

namespace ml2k::frontend {

/// Where along the axis the largest (smallest) element is, i64: among the equal ones the first (last).
mlir::Value argument(Build &b, mlir::Value x, int64_t axis, bool isMax, bool isLast, bool isUnsigned);

/// exp(x) over its sum along the axes.
mlir::Value softmax(Build &b, mlir::Value x, IntsRef axes);

} // namespace ml2k::frontend

#endif
