//===- NestVerify.h - what the verifiers of several kernels need ----------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_NESTVERIFY_H
#define ML2K_IR_NESTVERIFY_H

#include "translator/ir/Nest.h"

namespace ml2k::nest {

/// Outputs are tensors with a result each, or memrefs.
mlir::LogicalResult verifyResults(mlir::DestinationStyleOpInterface op);

/// After `leading` arguments, one for each of `scalars`, of its element type; what the block yields.
mlir::LogicalResult verifyBlock(mlir::Operation *op, mlir::Region &region, unsigned leading, mlir::ValueRange scalars,
                                mlir::TypeRange yields);

} // namespace ml2k::nest

#endif
