//===- Formulas.h - what elementwise families share -----------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_FORMULAS_H
#define ML2K_FRONTEND_ONNX_IMPORTER_FORMULAS_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

/// Output 0 from all inputs, which are of one type, as is the result.
void elementwise(Node &node, Formula formula);

/// The same for floats alone.
void floatElementwise(Node &node, Formula formula);

/// x < 0
mlir::Value isNegative(Scalars &s, mlir::Value x);

} // namespace ml2k::frontend

#endif
