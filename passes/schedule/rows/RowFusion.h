//===- RowFusion.h - operations that share one row space, on their way to nest.row ----------------------*- C++ -*-===//
//
// RowGroup finds the members, RowPlan decides what is stored on the way and what is computed again, RowEmitter writes
// the kernel.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_SCHEDULE_ROWS_ROWFUSION_H
#define ML2K_PASSES_SCHEDULE_ROWS_ROWFUSION_H

#include "passes/schedule/Combiners.h"
#include "passes/schedule/GenericBody.h"

#include "llvm/ADT/MapVector.h"

#include <set>

namespace ml2k {

using Indices = llvm::SmallVector<mlir::AffineExpr>;

/// An operation of the group; loops[i] is the loop of the row space (or 0) that its loop i runs through.
struct RowMember {
  mlir::linalg::GenericOp op;
  Indices loops;
  bool folds;  ///< reduces along the row
  bool varies; ///< has an element per position along the row
};

/// A value read or written by a group, below reshapes that add or drop dimensions of extent 1.
struct RowAccess {
  mlir::Value root;
  Indices indices; ///< over the row space
};

/// A convex set of operations over one row space: loops [0, rowRank) run over the rows, the rest along them. Loops of
/// extent 1 are not part of it.
class RowGroup {
public:
  /// The group of a reduction along contiguous elements, or of an arg-max along any; empty for other operations.
  static std::optional<RowGroup> start(mlir::linalg::GenericOp reduction);

  /// Adds producers and consumers until nothing fits any more.
  void grow();

  /// Takes an operation out again.
  void remove(mlir::Operation *op) { members.erase(op); }

  RowMember const *find(mlir::Value root) const;
  RowAccess access(RowMember const &member, mlir::OpOperand &operand) const;
  RowAccess resultAccess(mlir::OpResult result) const;

  /// Uses of a value through reshapes that add or drop dimensions of extent 1, split by whether a member makes them.
  llvm::SmallVector<mlir::OpOperand *> innerUses(mlir::Value value) const;
  bool usedOutside(mlir::Value value) const;

  bool variesAlong(llvm::ArrayRef<mlir::AffineExpr> indices) const;
  unsigned alongRank() const { return extents.size() - rowRank; }
  /// One row, so long that all threads should share it: several kernels, by way of totals.
  bool isForAllThreads() const;
  mlir::Operation *last() const;

  mlir::MLIRContext *context;
  llvm::SmallVector<int64_t> extents;
  unsigned rowRank = 0;
  std::vector<RowMember> ordered() const; ///< in the order of the block

private:
  bool add(mlir::linalg::GenericOp op);
  bool solve(mlir::linalg::GenericOp op, RowMember &member) const;
  bool solveOperands(mlir::linalg::GenericOp op, Indices &loops) const;
  bool solveResults(mlir::linalg::GenericOp op, Indices &loops) const;
  bool isAsLong(mlir::linalg::GenericOp op, unsigned loop, unsigned place) const;
  bool assignRest(mlir::linalg::GenericOp op, Indices &loops) const;
  bool fitsRows(RowMember &member) const;
  bool fitsOperands(RowMember const &member) const;
  bool fitsProducer(RowMember const &member) const;
  bool isConvex() const;
  bool isInnermost(mlir::ShapedType type, llvm::ArrayRef<mlir::AffineExpr> indices) const;
  void collectUses(mlir::Value value, llvm::SmallVectorImpl<mlir::OpOperand *> &uses) const;

  bool anyOrder = false; ///< rows may be strided
  llvm::MapVector<mlir::Operation *, RowMember> members;
};

/// What the passes of a row kernel store on the way.
struct RowPlan {
  /// Values kept in the row of an output until that output itself is written; a value that is an output keeps its own
  /// row.
  llvm::DenseMap<mlir::Value, mlir::Value> keptIn;
  llvm::SmallVector<mlir::Value> outputs;  ///< members' results used outside, in order
  mlir::Operation *tooExpensive = nullptr; ///< a producer that would be computed several times

  static RowPlan of(RowGroup const &group);
};

/// Replaces the group by one nest.row; false if its rows cannot be one loop of contiguous elements.
bool emitRow(mlir::RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan);

} // namespace ml2k

#endif
