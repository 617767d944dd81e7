//===- Counted.h - what operators share whose results have as many elements as data decide --------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_COUNTED_H
#define ML2K_FRONTEND_ONNX_OPS_COUNTED_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

mlir::Value asI64(Build &b, mlir::Value index);

/// x at the positions of a vector along the axis.
mlir::Value taken(Node &node, mlir::Value x, int64_t axis, mlir::Value positions);

} // namespace ml2k::frontend

#endif
