//===- Labels.h - names of copies and buffers -----------------------------------------------------------*- C++ -*-===//
//
// Names come from the model: the layer of a location, the label of the kernel that writes. Where two would be equal,
// both facts that made them are hashed; there are no counters, so that a new layer renames nothing.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_LOWER_LABELS_H
#define ML2K_PASSES_LOWER_LABELS_H

#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace ml2k {

/// Names that are in use; a name asked for twice gets four characters of a hash of `detail`.
class Labels : public UniqueNames {
public:
  Labels() = default;
  /// Takes the labels of all kernels in `function`.
  explicit Labels(mlir::func::FuncOp function);
};

/// What a reader calls the contents of `memref`: the argument's name, the weight's, or the label of the kernel that
/// writes it.
std::string nameOfContents(mlir::Value memref);

/// The label of a kernel; empty for other operations.
llvm::StringRef labelOf(mlir::Operation *op);

} // namespace ml2k

#endif
