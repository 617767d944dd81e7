//===- EntryLoops.h - what kernels do for one entry of a batch, as loops --------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_MEMORY_ENTRYLOOPS_H
#define ML2K_PASSES_LOWER_MEMORY_ENTRYLOOPS_H

#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

#include "mlir/IR/IRMapping.h"

namespace ml2k {

/// Writes maps, reductions and rows, whose first loop runs over the entries, as loops over the elements of one of them.
class EntryLoops {
public:
  EntryLoops(mlir::OpBuilder &builder, mlir::BlockArgument entry);

  /// The entry's part of a buffer is an array from here on, or a number if that has one element. `isFlat`: the array
  /// has one dimension, since the buffer is seen in several shapes.
  void keep(mlir::Value buffer, llvm::StringRef name, bool isFlat);

  /// What the kernel does for the entry.
  void add(nest::Kernel kernel);

private:
  using Dims = llvm::ArrayRef<unsigned>;

  mlir::Value constant(int64_t value);
  mlir::Value load(unsigned operand);
  mlir::Value load(unsigned operand, llvm::ArrayRef<mlir::Value> at);
  void store(mlir::Value value, unsigned operand);
  llvm::SmallVector<mlir::Value> place(unsigned operand);
  llvm::SmallVector<mlir::Value> inArray(mlir::Value alias, mlir::Value array, llvm::ArrayRef<mlir::Value> at);
  void loops(Dims dims, llvm::function_ref<void()> body);
  mlir::Value fold(Dims dims, mlir::Value start, nest::Combiner combiner, llvm::function_ref<mlir::Value()> term);
  void loadArguments(mlir::Block &block, unsigned firstArgument, unsigned firstOperand, mlir::IRMapping &mapping);
  void copy(mlir::Block &block, mlir::IRMapping &mapping);
  void addMap(nest::MapOp map);
  void addReduce(nest::ReduceOp reduce);
  void addRow(nest::RowOp row);
  void addRowStatement(mlir::Operation &op, unsigned along, mlir::IRMapping &mapping);

  mlir::OpBuilder &builder;
  mlir::Value entry;
  llvm::DenseMap<mlir::Value, mlir::Value> arrays, numbers; ///< by the buffer
  llvm::DenseMap<mlir::Value, bool> isNumber;

  // Of the kernel that is added
  nest::Kernel kernel;
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<mlir::Value> positions;
};

} // namespace ml2k

#endif
