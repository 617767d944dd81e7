//===- Padding.h - elements around a tensor -------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_PADDING_H
#define ML2K_FRONTEND_ONNX_OPS_PADDING_H

#include "translator/frontend/onnx/importer/Build.h"

namespace ml2k::frontend {

/// x with elements in front of and behind each dimension, which may be as many as only the run knows; none may be
/// negative. `mode` is ONNX's: with "constant" they are the scalar tensor `fill`, 0 without one.
mlir::Value padAtRunTime(Build &b, mlir::Value x, std::vector<Extent> const &low, std::vector<Extent> const &high,
                         llvm::StringRef mode, mlir::Value fill);

} // namespace ml2k::frontend

#endif
