//===- FuseShuffles.h - channel shuffles in the convolution in front of them ----------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_FUSE_FUSESHUFFLES_H
#define ML2K_PASSES_SCHEDULE_FUSE_FUSESHUFFLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// Part of ml2k-fuse-epilogues.
void fuseShuffles(mlir::func::FuncOp function);

} // namespace ml2k

#endif
