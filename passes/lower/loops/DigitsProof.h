//===- DigitsProof.h - subscripts whose parts are like digits of a number -------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_DIGITSPROOF_H
#define ML2K_PASSES_LOWER_LOOPS_DIGITSPROOF_H

#include "passes/lower/loops/BoundsProof.h"

namespace ml2k {

/// True if two accesses of one memref never meet in different iterations of `loop`, since their subscripts are like
/// numbers with digits: `x(i * m + j)` for `j` from 0 to `m`, an array of two dimensions in one, meets itself where `i`
/// and `j` are the same. So it is with blocks, `k + j` and `k + j + half` for `k` in steps of `2 * half`, and with
/// quotients and remainders, `x(t / m, t % m)` and `x((i + s) % n)`.
bool haveDifferentDigits(PlaceOf a, PlaceOf b, mlir::scf::ForOp loop);

} // namespace ml2k

#endif
