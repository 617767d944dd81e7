//===- PreparedInputs.h - inputs that the model prepares before their layout changes --------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_LAYOUT_PREPAREDINPUTS_H
#define ML2K_PASSES_SCHEDULE_LAYOUT_PREPAREDINPUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ml2k {

/// transpose(f(x, ...)) with x an argument and few channels innermost in the result: f itself reads in the one order
/// and writes in the other, one kernel rather than two. False where `transpose` is none of those.
bool prepareInNewOrder(mlir::linalg::TransposeOp transpose);

} // namespace ml2k

#endif
