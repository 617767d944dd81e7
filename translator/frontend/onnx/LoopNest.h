//===- LoopNest.h - loops over elements, in order -------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_LOOPNEST_H
#define ML2K_FRONTEND_ONNX_LOOPNEST_H

#include "translator/frontend/onnx/Build.h"

namespace ml2k::frontend {

/// A loop per size around `body`, which makes the next value of the carried tensor. It builds with `b` itself.
mlir::Value loopNest(Build &b, SizesRef sizes, mlir::Value carried,
                     llvm::function_ref<mlir::Value(mlir::ValueRange position, mlir::Value carried)> body);

} // namespace ml2k::frontend

#endif
