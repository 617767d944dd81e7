//===- ProductOperands.h - what stands between a product and its operands -------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_CANONICALIZE_PRODUCTOPERANDS_H
#define ML2K_PASSES_CANONICALIZE_PRODUCTOPERANDS_H

#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// One transpose for one between two reshapes, one scale for one on each operand of a product.
void populateProductOperands(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
