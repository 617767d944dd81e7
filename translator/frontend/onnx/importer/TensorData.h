//===- TensorData.h - ONNX element types and tensors in MLIR's terms ------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_TENSORDATA_H
#define ML2K_FRONTEND_ONNX_IMPORTER_TENSORDATA_H

#include "translator/frontend/onnx/importer/Protos.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ml2k::frontend {

/// Tensors with more elements are refused: the printed code counts elements with `int`.
constexpr int64_t maxElements = int64_t(1) << 31;

/// The (signless) element type for a TensorProto::DataType; null for strings and other types without arithmetic.
mlir::Type elementType(mlir::MLIRContext &context, int32_t dataType);

/// The TensorProto::DataType that goes with an element type, the signed one where there are two.
int32_t dataTypeOf(mlir::Type element);

bool isUnsignedType(int32_t dataType);

/// "float32", "uint8", ...
llvm::StringRef dataTypeName(int32_t dataType);

/// A ranked tensor type after a check of its extents (mlir::ShapedType::kDynamic for unknown ones). Throws Refusal.
mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// The value of a tensor; external data is read from `directory`. Throws Refusal.
mlir::DenseElementsAttr tensorValue(mlir::MLIRContext &context, pb::TensorProto const &tensor,
                                    llvm::StringRef directory);

/// Integers of a constant, sign- or zero-extended to 64 bits.
llvm::SmallVector<int64_t> integersOf(mlir::DenseElementsAttr constant);

mlir::DenseElementsAttr integersAttr(mlir::MLIRContext &context, llvm::ArrayRef<int64_t> values);

} // namespace ml2k::frontend

#endif
