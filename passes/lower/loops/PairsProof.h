//===- PairsProof.h - elements that are exchanged in pairs ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_PAIRSPROOF_H
#define ML2K_PASSES_LOWER_LOOPS_PAIRSPROOF_H

#include "passes/lower/loops/BoundsProof.h"

namespace ml2k {

/// True if two accesses of one memref never meet in different iterations of `loop`, since each is of `x(i)` or of
/// `x(i ^ mask)`, where a condition says that one of the two is greater: the steps of a bitonic sort.
bool areOfOnePair(PlaceOf a, PlaceOf b, mlir::scf::ForOp loop);

} // namespace ml2k

#endif
