//===- LinearForms.h - integers as sums of multiples of other values ------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_LINEARFORMS_H
#define ML2K_PASSES_LOWER_LOOPS_LINEARFORMS_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/MapVector.h"

namespace ml2k {

/// constant + Σ coefficient * symbol
struct Linear {
  llvm::SmallMapVector<mlir::Value, int64_t, 4> terms;
  int64_t constant = 0;

  /// False where a number does not fit.
  bool add(Linear const &other, int64_t factor);
};

/// The form of an integer, through casts, sums, differences, and multiples by constants. Large ones end at symbols.
Linear linearForm(mlir::Value value);

/// What is divided by two, if a number is the rest: 0, 1 or, below 0, perhaps -1. Null if it is not.
mlir::Value halved(mlir::Value rest);

/// Whether nothing on the way from the positions of loops to a number is so narrow that it wraps around.
bool isWide(mlir::Value number);

/// Whether a sum of the positions of loops and a constant is never below 0, by where the loops begin.
bool isNeverNegative(Linear const &sum, mlir::ValueRange positions, mlir::ValueRange lowers);

} // namespace ml2k

#endif
