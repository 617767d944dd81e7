//===- Quantized.h - products of what DequantizeLinear makes, as integers -------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_QUANTIZED_H
#define ML2K_FRONTEND_ONNX_OPS_QUANTIZED_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

/// Input 0 and the constant input 1 of a product of floats, if both are integers of 8 bits times a scale.
struct IntegerFactors {
  mlir::Value left, right;  ///< less their zero points, i32
  std::vector<float> scale; ///< of the product: one, or one for each output
};

/// Nothing where one of them is something else, or where sums in i32 might overflow. `outputs` is the dimension of the
/// weight along which its scales may differ.
std::optional<IntegerFactors> integerFactors(Node &node, int64_t outputs);

/// The sum of products times its scale, a float. `axis` is that of the outputs.
mlir::Value scaledSum(Node &node, mlir::Value sum, IntegerFactors const &factors, int64_t axis);

} // namespace ml2k::frontend

#endif
