//===- GatheredProducts.h - a product of gathered rows is a gather of products --------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_RAISE_GATHEREDPRODUCTS_H
#define ML2K_PASSES_SCHEDULE_RAISE_GATHEREDPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// A product with rows gathered from fewer is a gather from products of these.
void populateGatheredProducts(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
