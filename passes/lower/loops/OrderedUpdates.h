//===- OrderedUpdates.h - loops that update elements at data-dependent indices --------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_ORDEREDUPDATES_H
#define ML2K_PASSES_LOWER_LOOPS_ORDEREDUPDATES_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Of a loop whose iterations may run in any order, even where they update the same element: the operator of the model
/// says so (a Scatter).
inline constexpr char const unorderedUpdates[] = "nest.unordered";

/// Operations whose terms may be joined in any order: with the same result to the last bit, or because the text lets
/// them (`fastmath<reassoc>`).
bool isReorderable(mlir::Operation *op);

/// A perfect nest whose block updates one element, such as `sums[row[i]][j] += terms[i][j]`, becomes one scf.parallel
/// with `nest.ordered` (see nest.kernel), whose flag is false for loops that never meet in an element. Null for any
/// other nest, or if no loop has that flag.
mlir::scf::ParallelOp formUpdates(mlir::RewriterBase &rewriter, mlir::scf::ForOp outermost);

} // namespace ml2k

#endif
