//===- SparseWalk.h - loops over the stored elements of a tensor ----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SPARSEWALK_H
#define ML2K_PASSES_LOWER_LOOPS_SPARSEWALK_H

#include "translator/ir/Nest.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace ml2k {

/// A sparse tensor: what stands for it, and the arguments that are its arrays.
struct StoredTensor {
  mlir::BlockArgument standIn;
  int64_t number; ///< of the tensor whose positions and coordinates it has
  llvm::SmallVector<SparseLevel> levels;
  llvm::SmallVector<mlir::Value> positions, coordinates; ///< of each level, null where it has none
  mlir::Value values;
  std::optional<nest::Assembly> assembly; ///< where the program makes its entries

  /// Those of the same entries come before; what no caller has is allocated.
  StoredTensor(mlir::func::FuncOp entry, mlir::BlockArgument standIn, llvm::ArrayRef<StoredTensor> others);

  std::string name() const;

  /// A matrix of one row, or one column, after the other: CSR or CSC.
  bool isByRows() const;

  /// The number of coordinates of a dense level; null if only its arrays could say it and do not.
  mlir::Value extentOf(mlir::OpBuilder &builder, mlir::Location location, size_t level, mlir::Value dimension) const;

  /// The extent of a dimension as the arrays have it; null if they do not.
  mlir::Value dimensionFromArrays(mlir::OpBuilder &builder, mlir::Location location, unsigned dim) const;

  /// The element at `indices`, found by bisection of the coordinates; zero where nothing is stored.
  mlir::Value lookUp(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::Value> indices,
                     llvm::ArrayRef<mlir::Value> extents) const;

  /// What an index along a dimension is called.
  llvm::StringRef indexName(unsigned dim) const;

  /// An element of an array of positions or coordinates.
  static mlir::Value read(mlir::OpBuilder &builder, mlir::Location location, mlir::Value array, mlir::Value at);

  /// An index as an element of such an array.
  static mlir::Value element(mlir::OpBuilder &builder, mlir::Location location, mlir::Value array, mlir::Value index);
};

/// All sparse tensors of an entry.
class StoredTensors {
public:
  explicit StoredTensors(mlir::func::FuncOp entry);

  /// The tensor that `value` stands for, or null.
  StoredTensor const *find(mlir::Value value) const;
  llvm::ArrayRef<StoredTensor> all() const { return tensors; }

  /// The extent of a dimension: of an argument whose extent has the same name, or as arrays have it; null if nothing
  /// says it.
  mlir::Value extentOf(mlir::OpBuilder &builder, mlir::Location location, StoredTensor const &tensor,
                       unsigned dim) const;

  /// For who reads the entries of a matrix by rows, or of a tensor that shares them.
  void setPositions(StoredTensor const &tensor, mlir::Value positions);

private:
  llvm::SmallVector<StoredTensor> tensors;
};

/// Gives a value the name that it gets in the printed code.
mlir::Value named(mlir::Value value, llvm::StringRef name);

} // namespace ml2k

#endif
