//===- VectorArrays.h - which vectors are stored, and when ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_VECTORARRAYS_H
#define ML2K_FRONTEND_MLIR_VECTORARRAYS_H

#include "translator/frontend/mlir/Vectors.h"

#include "llvm/ADT/DenseSet.h"

namespace ml2k::mlir_import {

/// The vectors of a function: stored in arrays, or to be computed where they are read.
class VectorArrays : public VectorElements {
public:
  /// Decides for the results of an operation that computes(): what is not computed later is stored here.
  void define(mlir::OpBuilder &at, mlir::Operation *op);

  /// Stores a vector that is still to be computed, unless its elements are constants or scalars.
  void settle(mlir::OpBuilder &at, mlir::Value vector);

  /// Stores all whose elements memory may change in which they lie.
  void settleReads(mlir::OpBuilder &at);

  /// Before the operation at the insertion point stores at `place`, `vector` into memory: stores what that memory has
  /// elements of. The vector itself may be computed on the way if it reads no element but the one that it goes to.
  void prepareStore(mlir::OpBuilder &at, mlir::Operation *store, mlir::Value vector,
                    llvm::ArrayRef<mlir::Value> others);

  /// Whether the elements are constants or scalars, which cost nothing to compute again.
  bool isFree(mlir::Value vector) const;

  /// What reads the vector is there.
  void consume(mlir::Value vector) { reading.remove(vector); }

  /// A new array with the elements of the vector.
  mlir::Value copied(mlir::OpBuilder &at, mlir::Value vector, mlir::Location loc);
  void store(mlir::OpBuilder &at, mlir::Value vector, mlir::Value array);
  mlir::Value newArray(mlir::OpBuilder &at, mlir::Type vector, mlir::Location loc);

  /// An array that holds `vector` and is `user`'s to change: its own if no other reads it, and
  /// it is neither an argument nor a table.
  mlir::Value takeArray(mlir::OpBuilder &at, mlir::Value vector, mlir::Operation *user, mlir::Location loc);

  /// Whether computing the vector into `own`, position by position, reads another one of `carried`, or other positions.
  bool isInTheWay(mlir::Value vector, mlir::Value own, llvm::DenseSet<mlir::Value> const &carried) const;

private:
  struct Read {
    mlir::Operation *op;  // reads memory of the program; or
    mlir::Value array;    // an array
    bool atSamePositions; // as the element that is computed
  };
  void readsOf(mlir::Value vector, bool atSamePositions, llvm::SmallVectorImpl<Read> &reads) const;
  bool isViewOfArray(mlir::Operation *op) const;
  bool mayWait(mlir::OpResult result) const;
  void waitFor(mlir::OpResult result);

  llvm::DenseSet<mlir::Value> views;       // elements of arrays in other places: as good as an array
  llvm::DenseMap<mlir::Value, int> depths; // of vectors that are to be computed
  llvm::SetVector<mlir::Value> reading;    // of these, in order, those that read memory and that no other one reads
  llvm::DenseSet<mlir::Value> readers;     // those that read memory
};

} // namespace ml2k::mlir_import

#endif
