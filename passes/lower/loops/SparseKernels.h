//===- SparseKernels.h - one linalg operation on a sparse tensor ----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SPARSEKERNELS_H
#define ML2K_PASSES_LOWER_LOOPS_SPARSEKERNELS_H

#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/SparseWalk.h"

namespace ml2k {

/// Replaces the operation by loops over the stored elements of its sparse operand.
class SparseKernel {
public:
  SparseKernel(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op, mlir::OpOperand &sparse,
               StoredTensors const &tensors);

  mlir::LogicalResult lower();

private:
  /// A loop of the kernel: over a level of the sparse tensor, or over an index that the tensor has not.
  struct Step {
    std::optional<size_t> level;
    unsigned loop; ///< of the operation
    bool isReduction;
  };

  unsigned loopOf(SparseLevel const &level);
  void planSteps();
  mlir::LogicalResult findExtents();
  std::string note();

  mlir::scf::ParallelOp openParallel(llvm::ArrayRef<Step> over, mlir::ValueRange initials);
  void lowerParallel();
  void lowerTotal();
  void lowerUpdates();
  void enterRun(mlir::Value first);

  std::pair<mlir::Value, mlir::Value> boundsOf(Step const &step);
  mlir::Value nameOf(Step const &step, mlir::Value at);
  bool isSingle(Step const &step) const;
  void settle(Step const &step, mlir::Value at);
  void settleIndex(unsigned dim);
  void advance();
  void fillSlice();
  bool writesAll() const;
  void markEntries(mlir::scf::ForOp loop, Step const &step);
  void walk(size_t next);
  mlir::Value carry(size_t next, mlir::Value before);

  mlir::Value index(int64_t value);
  mlir::Value zeroOfOutput();
  mlir::Value add(mlir::Value a, mlir::Value b);
  llvm::SmallVector<mlir::Value> placeOf(mlir::OpOperand &operand);
  mlir::Value load(mlir::OpOperand &operand);
  mlir::Value lookUp(mlir::OpOperand &operand, StoredTensor const &tensor);
  void storeResult(mlir::Value value);
  mlir::Value evaluate(mlir::Value before);

  mlir::RewriterBase &rewriter;
  mlir::linalg::LinalgOp op;
  mlir::Location location;
  mlir::OpOperand &sparse, &output;
  StoredTensors const &tensors;
  StoredTensor const &stored;
  StoredTensor const *result; ///< where the output is sparse, with entries like those of the operand
  Fill fill;
  mlir::Operation *join; ///< adds to the output; null if that is written only, and zero where nothing is stored

  llvm::SmallVector<Step> prefix, steps;      ///< parallel loops; those of a thread
  llvm::SmallVector<mlir::Value> extents;     ///< of the operation's loops, null where nothing says it
  llvm::SmallVector<mlir::Value> indices;     ///< of the operation's loops, as far as they are settled
  llvm::SmallVector<mlir::Value> coordinates; ///< of levels, likewise
  llvm::SmallVector<mlir::Value> entries;     ///< of levels that are not dense: where in their arrays
  size_t reached = 0;                         ///< levels that `position` counts
  mlir::Value position;                       ///< in the arrays of the next level
  std::pair<mlir::Value, mlir::Value> run;    ///< of equal coordinates in the first level
  bool hasRuns = false;                       ///< an iteration has all entries of equal first coordinates
  bool fillsItself = false;                   ///< elements where nothing is stored get their value here, too
  bool usesFill = false;                      ///< the value of the fill in front is part of the sum
};

/// An operation whose sparse result has entries of its own becomes nest.assemble, or loops over those of its operand.
mlir::LogicalResult lowerAssembly(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op, StoredTensors &tensors);

} // namespace ml2k

#endif
