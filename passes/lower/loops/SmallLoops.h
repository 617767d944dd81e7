//===- SmallLoops.h - parallel loops of a few iterations -------------------------------------------------*- C++
//-*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SMALLLOOPS_H
#define ML2K_PASSES_LOWER_LOOPS_SMALLLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// A few elements, which one thread has made before a kernel is launched for them.
bool isSmall(mlir::scf::ParallelOp loop);

/// Whether all that is parallel in a sequential loop are single rows that its elements choose, such as the three
/// components of `force[a[e]] += f`: one thread has made all of them before as many kernels are launched.
bool hasOnlyChosenRows(mlir::scf::ForOp loop);

/// Whether an integer is computed of elements of memory.
bool isLoaded(mlir::Value value);

} // namespace ml2k

#endif
