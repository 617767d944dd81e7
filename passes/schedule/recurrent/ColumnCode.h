//===- ColumnCode.h - the steps of a loop, for one column ------------------------------------------------*- C++
//-*-===//

#ifndef ML2K_PASSES_SCHEDULE_RECURRENT_COLUMNCODE_H
#define ML2K_PASSES_SCHEDULE_RECURRENT_COLUMNCODE_H

#include "passes/schedule/recurrent/ColumnDims.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace ml2k {

/// Writes the body of a loop over tensors again as code of one column, element by element. What an operation makes is
/// computed where it is read, or kept: a number in a variable, several in an array.
class ColumnCode {
public:
  ColumnCode(mlir::scf::ForOp loop, ColumnDims const &dims);

  /// False if a step keeps more for a column, or takes more operations, than an iteration of a kernel should.
  bool isSmall();

  /// Replaces the loop by a parallel one over the columns around one over the steps.
  void build();

private:
  using Indices = llvm::SmallVector<mlir::Value>;

  /// What one column holds of a tensor that is carried.
  struct State {
    mlir::Value carried, yielded;
    mlir::Value memory;      ///< of the whole result
    mlir::Value array;       ///< of the column; null for a number and for what is only written
    bool isSequence = false; ///< parts are inserted, nothing is read
    bool isChangedInPlace = false;
  };

  // What is kept
  bool isInside(mlir::Operation *op) const { return op && loop->isProperAncestor(op); }
  llvm::SmallVector<unsigned> ownLoops(mlir::linalg::GenericOp op) const;
  int64_t volume(mlir::linalg::GenericOp op, bool withReductions) const;
  bool isKept(mlir::linalg::GenericOp op) const;
  bool reads(mlir::Value value, mlir::Value carried);
  bool readsInOrder(mlir::Value value, mlir::Value carried);
  bool isChangedInPlace(State const &state);
  bool isSequence(mlir::BlockArgument carried);
  llvm::SmallVector<int64_t> partExtents(mlir::tensor::InsertSliceOp op) const;

  // Elements
  mlir::Value element(mlir::Value tensor, Indices const &at);
  mlir::Value computed(mlir::Value tensor, Indices const &at);
  mlir::Value viewed(mlir::Operation *op, Indices const &at);
  mlir::Value shifted(mlir::Location location, mlir::OpFoldResult offset, mlir::OpFoldResult stride, mlir::Value index);
  Indices sliceIndices(mlir::tensor::ExtractSliceOp slice, Indices const &at);
  Indices reshapedIndices(mlir::Operation *op, Indices const &at);
  mlir::Value bodyValue(mlir::linalg::GenericOp op, Indices const &positions, mlir::Value total);
  mlir::Value valueAt(mlir::linalg::GenericOp op, Indices &positions);
  bool isComputedHere(mlir::linalg::GenericOp op, Indices const &at) const;
  bool isReadHereOnly(mlir::Value value) const;
  bool isOfFewElements(mlir::Value index) const;
  mlir::Value sum(mlir::linalg::GenericOp op, Indices &positions, llvm::ArrayRef<unsigned> loops, mlir::Value total);
  mlir::Value load(mlir::Value tensor, Indices const &at);
  mlir::Value scalar(mlir::Value value) const { return scalars.lookupOrDefault(value); }
  mlir::Value indexOf(mlir::OpFoldResult value);

  // Statements
  void keep(mlir::linalg::GenericOp op);
  void insert(mlir::tensor::InsertSliceOp op);
  void forElements(mlir::Value like, mlir::Location location, llvm::function_ref<void(Indices const &)> body);
  void nest(llvm::ArrayRef<int64_t> extents, mlir::Location location, llvm::function_ref<void(mlir::ValueRange)> body);
  Indices own(Indices const &at, mlir::Value carried) const;
  llvm::SmallVector<int64_t> ownExtents(mlir::Value carried) const;
  mlir::Value makeArray(llvm::ArrayRef<int64_t> extents, mlir::Type element, mlir::Location location);
  void makeStates();
  mlir::Value makeMemory(State const &state, mlir::Value init);
  mlir::Value extent(mlir::Value tensor, unsigned dim);
  void writeColumns(mlir::ValueRange lowers, mlir::ValueRange uppers, mlir::ValueRange ones);
  void writeSteps(mlir::scf::ForOp steps);

  mlir::scf::ForOp loop;
  ColumnDims const &dims;
  mlir::OpBuilder builder;
  mlir::scf::ParallelOp parallel;       ///< over the columns
  mlir::Operation *lastArray = nullptr; ///< at its start
  mlir::Value zero;
  Indices columns; ///< of this iteration
  mlir::Value stepIndex;
  std::optional<mlir::Location> reading;   ///< of the part of a sequence that is read: its name
  llvm::DenseSet<mlir::Operation *> moved; ///< in front of the loop, computed in it
  Indices around;                          ///< the loops here, whose extents are not 1
  llvm::SmallVector<State> states;
  mlir::IRMapping scalars;                       ///< of the body: indices, constants
  llvm::DenseMap<mlir::Value, mlir::Value> kept; ///< numbers
  llvm::DenseMap<mlir::Value, mlir::Value> arrays;
  llvm::DenseMap<mlir::Value, mlir::Value> memories;                   ///< of tensors from outside
  std::map<std::pair<void *, std::vector<void *>>, mlir::Value> known; ///< elements, in this loop
};

} // namespace ml2k

#endif
