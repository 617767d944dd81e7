//===- Constants.h - values of the model known at translation -------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CONSTANTS_H
#define ML2K_PASSES_CONSTANTS_H

#include "translator/ir/Nest.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>
#include <vector>

namespace ml2k {

/// The bytes of a constant, row-major, a splat spelled out; empty for types that are not whole bytes.
std::vector<char> constantBytes(mlir::ElementsAttr value);

/// Dimension i of the result is dimension permutation[i] of the value. Element types of whole bytes only.
mlir::DenseElementsAttr permuted(mlir::ElementsAttr value, llvm::ArrayRef<int64_t> permutation);

/// The elements from `offsets` on, `sizes` in each dimension. Element types of whole bytes only.
mlir::DenseElementsAttr sliced(mlir::ElementsAttr value, llvm::ArrayRef<int64_t> offsets,
                               llvm::ArrayRef<int64_t> sizes);

/// The elements at the row-major places that `place` gives for row-major positions in `shape`, zero where it gives
/// none. Element types of whole bytes only.
mlir::DenseElementsAttr gathered(mlir::ElementsAttr value, llvm::ArrayRef<int64_t> shape,
                                 llvm::function_ref<std::optional<int64_t>(llvm::ArrayRef<int64_t>)> place);

/// The same elements under another shape of as many elements.
mlir::DenseElementsAttr reshaped(mlir::ElementsAttr value, llvm::ArrayRef<int64_t> shape);

/// The elements of a floating point constant, row-major.
std::vector<double> constantDoubles(mlir::ElementsAttr value);

/// A constant of a floating point type from doubles, each rounded once.
mlir::DenseElementsAttr constantOf(mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// The weight that a tensor is, looking through reshapes; null otherwise.
nest::WeightOp weightBehind(mlir::Value value);

/// A weight with the name and location of `like` and another value.
mlir::Value replacementWeight(mlir::OpBuilder &builder, nest::WeightOp like, mlir::DenseElementsAttr value);

/// The scalar that a tensor is filled with, if it is a splat constant or a linalg.fill with a constant.
std::optional<mlir::TypedAttr> fillValue(mlir::Value tensor);

/// True for the value a sum starts with.
bool isZero(mlir::TypedAttr value);

} // namespace ml2k

#endif
