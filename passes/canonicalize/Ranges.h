//===- Ranges.h - positions along a dimension -----------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_RANGES_H
#define ML2K_PASSES_CANONICALIZE_RANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace ml2k {

/// Positions along a dimension: ranges that ascend and do not touch.
class Ranges {
public:
  struct Range {
    int64_t begin, end;
  };

  void add(int64_t begin, int64_t end);
  /// One range from the first to the last position.
  Ranges hull() const;

  int64_t size() const;
  size_t count() const { return ranges.size(); }
  int64_t begin() const { return ranges.front().begin; }
  /// Where a position stands among those of the ranges.
  int64_t placeOf(int64_t position) const;
  /// The position at a place.
  int64_t at(int64_t place) const;

private:
  llvm::SmallVector<Range> ranges;
};

/// The dimensions of an operand that a loop walks through; nothing if the loop is also part of a sum of loops.
std::optional<llvm::SmallVector<unsigned>> dimensionsOf(mlir::AffineMap map, unsigned loop);

/// The elements of a tensor at the positions of a dimension: a weight of its own where the tensor is one that nobody
/// else reads, else a slice. Null where that takes several slices.
mlir::Value partAt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, unsigned dim,
                   Ranges const &ranges);

/// Whether partAt finds it.
bool hasPartAt(mlir::Value tensor, Ranges const &ranges);

/// The operation with other inputs and an output of another shape, filled as its own is.
mlir::linalg::GenericOp withInputs(mlir::OpBuilder &builder, mlir::linalg::GenericOp op, mlir::ValueRange inputs,
                                   llvm::ArrayRef<int64_t> shape);

/// Whether withInputs can make its output: it is filled with a scalar, or uninitialised.
bool hasFreshOutput(mlir::linalg::GenericOp op);

} // namespace ml2k

#endif
