//===- Labels.h - names of copies and buffers -----------------------------------------------------------*- C++ -*-===//
//
// Names come from the model: the layer of a location, the label of the kernel that writes. Where two would be equal,
// both facts that made them are hashed; there are no counters, so that a new layer renames nothing.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_LOWER_LABELS_H
#define ML2K_PASSES_LOWER_LABELS_H

#include "passes/lower/memory/Memory.h"
#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace ml2k {

/// Names that are in use; a name asked for twice gets four characters of a hash of `detail`.
class Labels : public UniqueNames {
public:
  Labels() = default;
  /// Takes the labels of all kernels in `function`.
  explicit Labels(mlir::func::FuncOp function);
};

/// What a reader calls the contents of memory. The writers of a buffer are collected when it is first asked for: it may
/// have thousands of parts.
class ContentNames {
public:
  /// The argument's name, the weight's, or the label of the kernel that writes `memref`.
  std::string of(mlir::Value memref);

  /// `copy`, which writes `target`, is going to be erased: `kernel` writes it now.
  void replace(mlir::Operation *copy, mlir::Value target, mlir::Operation *kernel);

  /// Other operations write the memory of `root` now.
  void forget(mlir::Value root) { writers.erase(root); }

private:
  using Parts = std::map<Box, llvm::SmallVector<mlir::Operation *, 1>>; ///< in program order

  Parts &partsOf(mlir::Value root);
  std::string writerName(mlir::Value memref);

  llvm::DenseMap<mlir::Value, Parts> writers; ///< by the buffer
};

/// The label of a kernel; empty for other operations.
llvm::StringRef labelOf(mlir::Operation *op);

} // namespace ml2k

#endif
