//===- VectorLowering.h - the walk that replaces vectors ------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_VECTORLOWERING_H
#define ML2K_FRONTEND_MLIR_VECTORLOWERING_H

#include "translator/frontend/mlir/VectorArrays.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ml2k::mlir_import {

/// Replaces all vectors of a function.
class VectorLowering {
public:
  explicit VectorLowering(mlir::func::FuncOp entry) : entry(entry) {}
  mlir::LogicalResult run();

private:
  /// Vectors among the arguments become memrefs, those among the results tensors.
  void takeArguments();
  void takeResults();
  /// All operations of a block but its terminator.
  mlir::LogicalResult block(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult lower(mlir::OpBuilder &at, mlir::Operation *op);
  mlir::LogicalResult unmask(mlir::vector::MaskOp op);

  // Operations that make an array
  void insertAt(mlir::OpBuilder &at, mlir::Operation *op, mlir::Value source, mlir::Value dest, Positions first);
  void make(mlir::OpBuilder &at, mlir::vector::InsertOp op);
  void make(mlir::OpBuilder &at, mlir::vector::InsertElementOp op);
  void make(mlir::OpBuilder &at, mlir::vector::InsertStridedSliceOp op);
  void make(mlir::OpBuilder &at, mlir::vector::ShuffleOp op);
  void make(mlir::OpBuilder &at, mlir::vector::InterleaveOp op);
  void make(mlir::OpBuilder &at, mlir::vector::FromElementsOp op);
  void make(mlir::OpBuilder &at, mlir::vector::ScanOp op);
  void make(mlir::OpBuilder &at, mlir::vector::ExpandLoadOp op);
  void make(mlir::OpBuilder &at, mlir::arith::ConstantOp op);
  void countMasked(mlir::OpBuilder &at, mlir::Location loc, mlir::Value mask,
                   llvm::function_ref<void(mlir::OpBuilder &, Positions, mlir::Value)> taken,
                   llvm::function_ref<void(mlir::OpBuilder &, Positions)> left);

  // Stores
  void write(mlir::OpBuilder &at, mlir::vector::TransferWriteOp op);
  void write(mlir::OpBuilder &at, mlir::vector::StoreOp op);
  void write(mlir::OpBuilder &at, mlir::vector::MaskedStoreOp op);
  void write(mlir::OpBuilder &at, mlir::vector::ScatterOp op);
  void write(mlir::OpBuilder &at, mlir::vector::CompressStoreOp op);
  void write(mlir::OpBuilder &at, mlir::vector::PrintOp op);
  void consume(mlir::Operation *op);

  // Loops and branches (VectorControl.cpp)
  mlir::LogicalResult control(mlir::Operation *op);
  mlir::LogicalResult loop(mlir::Operation *op, mlir::ValueRange inits);
  mlir::LogicalResult whileLoop(mlir::Operation *op);
  mlir::LogicalResult branch(mlir::Operation *op);
  mlir::LogicalResult inner(mlir::Operation *op);
  mlir::Operation *withoutVectors(mlir::Operation *op, llvm::ArrayRef<mlir::Value> resultArrays);
  mlir::Value standIn(mlir::OpBuilder &at, mlir::Type type, mlir::Value array, mlir::Location loc);
  void dropArguments(mlir::Block &block, llvm::ArrayRef<mlir::Value> arrays);
  void carry(mlir::Operation *end, mlir::OperandRange values, llvm::ArrayRef<mlir::Value> into);

  mlir::func::FuncOp entry;
  VectorArrays vectors;
  llvm::SmallVector<mlir::Operation *> dead; // replaced; erased at the end
  unsigned tables = 0;                       // of constants
};

} // namespace ml2k::mlir_import

#endif
