//===- LoopNest.h - loops over elements, in order -------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_LOOPNEST_H
#define ML2K_FRONTEND_ONNX_IMPORTER_LOOPNEST_H

#include "translator/frontend/onnx/importer/Build.h"

namespace ml2k::frontend {

/// A loop per size around `body`, which makes the next value of the carried tensor. It builds with `b` itself.
mlir::Value loopNest(Build &b, SizesRef sizes, mlir::Value carried,
                     llvm::function_ref<mlir::Value(mlir::ValueRange position, mlir::Value carried)> body);

using Values = llvm::SmallVector<mlir::Value>;

/// The same for several carried values.
Values loopNest(Build &b, SizesRef sizes, mlir::ValueRange carried,
                llvm::function_ref<Values(mlir::ValueRange position, mlir::ValueRange carried)> body);

/// One loop from `begin` to `end`, both of type index.
Values loop(Build &b, mlir::Value begin, mlir::Value end, mlir::ValueRange carried,
            llvm::function_ref<Values(mlir::Value position, mlir::ValueRange carried)> body);

/// What `body` makes of the values if the condition holds, else the values.
Values when(Build &b, mlir::Value condition, mlir::ValueRange values, llvm::function_ref<Values()> body);

} // namespace ml2k::frontend

#endif
