//===- Evaluate.h - runs small operations at import -----------------------------------------------------*- C++ -*-===//
//
// Exporters compute shapes in the graph: Shape, Gather, Mul, Concat, Reshape. Import functions know nothing of that: a
// node with small constant inputs is imported into a scratch block, and what it made is executed here, each scalar
// operation by its own folder; sizes that are known at run time only, by Extents.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_EVALUATE_H
#define ML2K_FRONTEND_ONNX_IMPORTER_EVALUATE_H

#include "translator/frontend/onnx/importer/Extent.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace ml2k::frontend {

/// The values of tensors defined in `block`; nothing if the block holds an operation that cannot be executed. With
/// `hasUnknown`, integers may be codes of `extents`.
std::optional<llvm::SmallVector<mlir::DenseElementsAttr>>
evaluate(mlir::Block &block, llvm::ArrayRef<mlir::Value> results, bool hasUnknown, Extents &extents);

} // namespace ml2k::frontend

#endif
