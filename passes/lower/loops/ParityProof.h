//===- ParityProof.h - subscripts that never agree, since their sums are even and odd -------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_PARITYPROOF_H
#define ML2K_PASSES_LOWER_LOOPS_PARITYPROOF_H

#include "passes/lower/loops/BoundsProof.h"

namespace ml2k {

/// True if the sum of some subscripts is always even in one of two accesses and odd in the other, or differs from it by
/// an odd number, in whichever iterations of `loop`: the red and the black elements of a chessboard. Counts what steps
/// of two, remainders, and conditions around an access say of its indices.
bool differInParity(PlaceOf a, PlaceOf b, mlir::scf::ForOp loop);

} // namespace ml2k

#endif
