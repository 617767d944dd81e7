//===- KernelLoops.h - the loops of a kernel brought to the fewest that say the same --------------------*- C++ -*-===//
//
// A kernel in the making: loops and the operands that they address. Loops of extent 1 vanish; neighbouring loops over
// which every operand is contiguous become one, the operands reshaped. Used for maps, reductions and rows alike.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_SCHEDULE_KERNELLOOPS_H
#define ML2K_PASSES_SCHEDULE_KERNELLOOPS_H

#include "translator/ir/LoopExtents.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace ml2k {

/// A loop; only neighbours of the same kind are joined.
struct KernelLoop {
  int64_t extent;
  int kind = 0;
  bool pinned = false; ///< its position is used: it stays as it is
};

/// An operand and where the loops address it.
struct KernelAccess {
  mlir::Value value;
  mlir::AffineMap map;
  mlir::Value result; ///< of an output: the value that the kernel's result replaces
};

class KernelLoops {
public:
  KernelLoops(mlir::MLIRContext *context, llvm::ArrayRef<KernelLoop> loops);

  std::vector<KernelAccess> inputs, outputs;

  /// Reads through slices: an input that is one, its dimensions split perhaps, becomes an access of the whole tensor,
  /// unless only the slice tells how often a loop runs.
  void readThroughSlices();

  /// Loop new i is loop order[i].
  void reorder(llvm::ArrayRef<unsigned> order);

  void dropUnitLoops();

  /// Joins neighbours, unless the kernel has at most `enough` loops already and a last loop of at least `length`.
  /// `kind` limits it to loops of one kind.
  void joinLoops(mlir::OpBuilder &builder, mlir::Location loc, unsigned enough, int64_t length,
                 std::optional<int> kind = {});

  /// True if operands tell how often every loop of this kind runs: not where it reduces copies of an element.
  bool knowsExtents(int kind) const;

  unsigned count() const { return loops.size(); }
  KernelLoop const &loop(unsigned i) const { return loops[i]; }

  /// The loop that a loop of the source has become; nothing if its position is always 0.
  std::optional<unsigned> find(unsigned sourceLoop) const;

  /// The maps of inputs, then outputs.
  mlir::ArrayAttr maps(mlir::OpBuilder &builder) const;
  llvm::SmallVector<mlir::Value> inputValues() const;
  llvm::SmallVector<mlir::Value> outputValues() const;

  /// Replaces what the outputs stand for by the results of the kernel, in their old shape.
  void replaceResults(mlir::RewriterBase &rewriter, mlir::ValueRange results) const;

private:
  llvm::SmallVector<nest::LoopExtent> extentsBy(llvm::ArrayRef<std::vector<KernelAccess> const *> operands) const;
  bool givesExtent(mlir::tensor::ExtractSliceOp slice, mlir::AffineMap map) const;
  void joinSplitSlices();
  bool canJoin(unsigned i) const;
  void join(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<unsigned> groupOf);
  void joinAccess(mlir::OpBuilder &builder, mlir::Location loc, KernelAccess &access, llvm::ArrayRef<unsigned> groupOf,
                  bool output);
  template <class Function> void forEachAccess(Function function);

  mlir::MLIRContext *context;
  llvm::SmallVector<KernelLoop> loops;
  llvm::SmallVector<std::optional<unsigned>> places; ///< per loop of the source
};

} // namespace ml2k

#endif
