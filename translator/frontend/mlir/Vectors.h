//===- Vectors.h - vectors as elements, loops and small arrays ------------------------------------------*- C++ -*-===//
//
// A vector is what computes its elements. An operation whose result one other reads, once, in the same block, is
// computed where it is read, element by element; the elements of any other one are stored in an array (memref.alloca)
// in a loop.
//
//   %v = vector.load %x[%i]                     for k in 0..8:
//   %w = arith.mulf %v, %v : vector<8xf32>        v = x[i + k]
//   vector.store %w, %y[%i]                       y[i + k] = v * v
//
// What reads the program's memory is never computed behind an operation that may write it: such an operation first has
// the elements stored that are still to be computed. So the loops do what the operations do, in their order.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_MLIR_VECTORS_H
#define ML2K_FRONTEND_MLIR_VECTORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

namespace ml2k::mlir_import {

using Positions = llvm::ArrayRef<mlir::Value>;

inline bool isVector(mlir::Type type) { return mlir::isa<mlir::VectorType>(type); }

//===--- Loops ----------------------------------------------------------------------------------------------------===//

mlir::Value indexOf(mlir::OpBuilder &at, mlir::Location loc, int64_t value);

/// a + b and a * b of indices; a zero or a one is not written.
mlir::Value sumOf(mlir::OpBuilder &at, mlir::Location loc, mlir::Value a, mlir::Value b);
mlir::Value timesOf(mlir::OpBuilder &at, mlir::Location loc, mlir::Value a, int64_t factor);

using Step = llvm::function_ref<mlir::Value(mlir::OpBuilder &, Positions, mlir::Value)>;
using Body = llvm::function_ref<void(mlir::OpBuilder &, Positions)>;

/// A nest of loops over `extents`, the last one innermost; none over an extent of 1.
void forEach(mlir::OpBuilder &at, mlir::Location loc, llvm::ArrayRef<int64_t> extents, Body body);

/// The same with a value that every step makes anew; returns the last one.
mlir::Value foldOver(mlir::OpBuilder &at, mlir::Location loc, llvm::ArrayRef<int64_t> extents, mlir::Value first,
                     Step step);

/// `value` where the condition holds, computed there only, else `other`.
mlir::Value where(mlir::OpBuilder &at, mlir::Location loc, mlir::Value condition,
                  llvm::function_ref<mlir::Value(mlir::OpBuilder &)> value,
                  llvm::function_ref<mlir::Value(mlir::OpBuilder &)> other);

//===--- Elements -------------------------------------------------------------------------------------------------===//

/// Where an element of a transfer lies, and the condition of its being there; null if it always is.
struct Place {
  llvm::SmallVector<mlir::Value> indices;
  mlir::Value isInside;
};

/// Elements of vectors: of arrays, or computed by the operation that defines the vector.
class VectorElements {
public:
  /// Whether element() knows the operation.
  static bool computes(mlir::Operation *op);

  mlir::Value element(mlir::OpBuilder &at, mlir::Value vector, Positions positions);

  /// Where a transfer reads or writes the element; with the condition of its mask.
  Place placeOf(mlir::OpBuilder &at, mlir::VectorTransferOpInterface transfer, Positions positions);

  /// Position `p` of a vector that is `last` dimensions of memory at `indices`.
  static llvm::SmallVector<mlir::Value> placeIn(mlir::OpBuilder &at, mlir::Location loc, mlir::ValueRange indices,
                                                Positions positions);

  /// The arrays of vectors that have one.
  llvm::DenseMap<mlir::Value, mlir::Value> arrays;
  /// The masks of operations that stood in a vector.mask.
  llvm::DenseMap<mlir::Operation *, mlir::Value> masks;

private:
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::BroadcastOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::SplatOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ShapeCastOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ExtractOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ExtractElementOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ExtractStridedSliceOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::TransposeOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::FlatTransposeOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::MatmulOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::DeinterleaveOp op, unsigned result, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::BitCastOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::StepOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::CreateMaskOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ConstantMaskOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::FMAOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ReductionOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::MultiDimReductionOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::ContractionOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::OuterProductOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::TransferReadOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::LoadOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::MaskedLoadOp op, Positions positions);
  mlir::Value of(mlir::OpBuilder &at, mlir::vector::GatherOp op, Positions positions);
  llvm::SmallVector<mlir::Value> elementsOf(mlir::OpBuilder &at, mlir::ValueRange vectors, Positions positions);
  mlir::Value elementwise(mlir::OpBuilder &at, mlir::OpResult result, Positions positions);
  mlir::Value constant(mlir::OpBuilder &at, mlir::arith::ConstantOp op, Positions positions);
  mlir::Value masked(mlir::OpBuilder &at, mlir::Operation *op, Positions positions, mlir::Value joined,
                     mlir::Value before);
};

/// Whether a constant is one number everywhere, or the numbers of a loop: first + step * position.
bool isSimpleConstant(mlir::Operation *op);

/// Whether an operation reads elements of this operand more than once each.
bool readsRepeatedly(mlir::OpOperand &operand);

/// Prints a vector element by element, and erases the operation.
void printElements(mlir::vector::PrintOp print, VectorElements &elements);

} // namespace ml2k::mlir_import

#endif
