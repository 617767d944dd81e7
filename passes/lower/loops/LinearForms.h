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

} // namespace ml2k

#endif
