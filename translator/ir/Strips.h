//===- Strips.h - kernels that take many columns of a matrix down their rows together ------------------*- C++ -*-===//
//
// What has columns, a kernel with the policy `strips` or a loop with `nest.columns` in another kernel, runs its marked
// loops for all columns of a strip at once. What it does at its outermost level, and in marked loops, is for each
// column, but for the loops and for numbers that all columns share.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_STRIPS_H
#define ML2K_IR_STRIPS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k::nest {

/// Fewer columns are no strip, fewer terms not worth a fold down one.
inline constexpr int64_t leastColumns = 16, leastTerms = 8;

/// Fewer columns than those, of so many terms, are sums that threads share.
inline constexpr int64_t manyTerms = 1024;

/// On an scf.for: all columns of a strip take each of its iterations together.
inline constexpr llvm::StringLiteral stripLoop = "nest.strip";

/// On an scf.for in a kernel: its iterations are independent columns, at most so many a strip.
inline constexpr llvm::StringLiteral stripColumns = "nest.columns";

/// On a memref.alloca inside what has columns: each column of a strip has one.
inline constexpr llvm::StringLiteral ofColumns = "nest.of_columns";

/// On the scf.for that is all a kernel does: a running sum down each of neighbouring columns.
inline constexpr llvm::StringLiteral columnScan = "nest.column_scan";

/// What differs among the columns of a strip: the last position of a kernel, the index of a loop.
mlir::Value columnOf(mlir::Operation *owner);

/// Whether the block is that of what has columns, or of a marked loop.
bool isStripLevel(mlir::Block *block, mlir::Operation *owner);

/// Which values inside what has columns are the same for all columns of a strip, without looking at memory.
class StripValues {
public:
  using Choice = llvm::function_ref<bool(mlir::scf::ForOp)>;

  /// Of the marked loops.
  explicit StripValues(mlir::Operation *owner);

  /// Of loops that are not marked yet; `isChosen` is asked in the order of the text.
  StripValues(mlir::Operation *owner, Choice isChosen);

  /// Whether it has one value for a strip, which stands outside of the loops over its columns.
  bool isShared(mlir::Value value) const { return isOutside(value) || shared.contains(value); }

  /// Whether it has, step by step, the same values in each iteration.
  bool goesAlike(mlir::Value value) const { return isShared(value) || alike.contains(value); }

  /// Whether some access is to elements of neighbouring columns that are rows of memory apart.
  bool lieAcrossRows() const;

private:
  bool isOutside(mlir::Value value) const { return !owner->isAncestor(value.getParentRegion()->getParentOp()); }

  mlir::Operation *owner;
  llvm::DenseSet<mlir::Value> shared, alike;
};

/// So many columns of a strip, or fewer, have a register each; no strip has more than those.
inline constexpr int64_t columnsInRegisters = 16, broadestStrip = 4096;

/// The most columns that a strip may have, so that what they carry stays in a cache near the core; `columnsInRegisters`
/// where columns do not lie side by side in all memory, and all columns of a kernel that has fewer than `leastColumns`.
int64_t columnsOfStrip(mlir::Operation *owner);

mlir::LogicalResult verifyStrips(mlir::Operation *owner);

} // namespace ml2k::nest

#endif
