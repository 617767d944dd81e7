//===- ColumnReader.h - a scheduled network as layers of a column ---------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_COLUMNREADER_H
#define ML2K_IR_COLUMNREADER_H

#include "translator/ir/Column.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace ml2k {

constexpr char const notColumns[] = "has no team, thread or runner form: ";

/// Rows of a tensor whose first dimension is the batch; nothing if it has another shape.
std::optional<int64_t> widthOf(mlir::Type type);

/// Kernels are read in ColumnKernels.cpp, everything else in ColumnReader.cpp.
class ColumnReader {
public:
  explicit ColumnReader(mlir::func::FuncOp entry) : entry(entry) {}
  mlir::FailureOr<Column> read();

private:
  mlir::LogicalResult readArgument(mlir::BlockArgument argument);
  mlir::LogicalResult readOperation(mlir::Operation *op);
  mlir::LogicalResult readContract(nest::ContractOp op);
  mlir::LogicalResult readElementwise(mlir::Operation *op, ColumnLayer::Kind kind);
  mlir::LogicalResult readConcat(mlir::tensor::ConcatOp op);
  mlir::LogicalResult readSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult readReshape(mlir::Operation *op);
  mlir::LogicalResult readReturn(mlir::func::ReturnOp op);

  mlir::LogicalResult checkBatch(mlir::Location where, mlir::RankedTensorType type, llvm::StringRef what);
  mlir::LogicalResult checkScalar(mlir::Operation *op, mlir::Type type);
  mlir::LogicalResult isColumnMap(mlir::Operation *op, mlir::AffineMap map, unsigned along);
  ColumnLayer &addLayer(ColumnLayer::Kind kind, mlir::Operation *op);
  mlir::FailureOr<ColumnParts> onePart(mlir::Operation *reader, mlir::Value value);
  unsigned addBuffer(std::string name, int64_t width, mlir::Type type);
  void copyParts(ColumnParts const &parts, unsigned to, mlir::Location location, std::string const &label);
  void dropUnread();

  mlir::func::FuncOp entry;
  Column column;
  std::optional<int64_t> batch;
  llvm::DenseMap<mlir::Value, ColumnParts> parts;
  llvm::DenseMap<mlir::Value, unsigned> writer; ///< layer of a kernel's result
};

} // namespace ml2k

#endif
