//===- BoundsProof.h - elements that the bounds of loops keep apart -------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_BOUNDSPROOF_H
#define ML2K_PASSES_LOWER_LOOPS_BOUNDSPROOF_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// An access at subscripts; null ones may be anything.
struct PlaceOf {
  mlir::Operation *op;
  mlir::ValueRange subscripts;
};

/// Whether the bounds of the loops and the conditions around two accesses of one memref prove that they never meet in
/// different iterations of `loop`: `x(j, i)` and `x(i, j)` for `j > i`.
bool neverMeetInOthers(PlaceOf a, PlaceOf b, mlir::scf::ForOp loop);

/// The same of any iterations of the loops in `inside`: `x(i)` and `x(k)` for `k < i`. What is outside of it is the
/// same for both.
bool neverMeet(PlaceOf a, PlaceOf b, mlir::Operation *inside);

} // namespace ml2k

#endif
