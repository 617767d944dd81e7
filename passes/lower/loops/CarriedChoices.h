//===- CarriedChoices.h - under what conditions a loop changes what it carries --------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_CARRIEDCHOICES_H
#define ML2K_PASSES_LOWER_LOOPS_CARRIEDCHOICES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ml2k {

/// What takes the place of a carried value, and all conditions under which it does.
struct Choice {
  llvm::SmallVector<std::pair<mlir::Value, bool>> path;
  mlir::OpOperand *leaf;
  unsigned depth = 0; ///< of choices in choices
};

/// The comparison of a term with the extreme that is carried.
struct Comparison {
  mlir::Operation *op;
  mlir::Value term;
  bool isLess, isStrict;
};

/// What is yielded is `carried` but where those conditions hold, and is used for nothing else.
Choice choiceOf(mlir::OpOperand &yielded, mlir::Value carried);

/// The comparison that a condition is; none where a NaN would satisfy it.
std::optional<Comparison> comparisonOf(mlir::Value condition, mlir::BlockArgument best);

bool comparesUnsigned(mlir::Operation *compare);

/// Whether an operation joins the term as the comparison does.
bool joinsTerm(mlir::Operation *op, mlir::BlockArgument best, Comparison const &by);

/// Whether every compiler computes a value in one way wherever it stands: products are not fused into additions.
bool isComputedOneWay(mlir::Value value, mlir::scf::ForOp loop, unsigned depth = 12);

/// Whether two values of a loop that writes nothing are computed in the same way.
bool isComputedAlike(mlir::Value a, mlir::Value b, unsigned depth = 8);

} // namespace ml2k

#endif
