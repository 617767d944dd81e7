//===- ComputedWeights.h - weights that the model computes from others ----------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_COMPUTEDWEIGHTS_H
#define ML2K_PASSES_CANONICALIZE_COMPUTEDWEIGHTS_H

#include "mlir/IR/Operation.h"

namespace ml2k {

/// What linalg.generics of float or double compute from weights alone, by sums and arithmetic, is a weight.
void computeWeights(mlir::Operation *root);

} // namespace ml2k

#endif
