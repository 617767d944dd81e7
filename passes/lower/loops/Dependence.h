//===- Dependence.h - may the iterations of a loop run in any order? ------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_DEPENDENCE_H
#define ML2K_PASSES_LOWER_LOOPS_DEPENDENCE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace ml2k {

/// The memref that a chain of casts, subviews and reshapes starts from.
mlir::Value baseOf(mlir::Value memref);

/// Whether two memrefs may share elements. Different arguments of the entry never do: the header says so.
bool mayAlias(mlir::Value a, mlir::Value b);

/// True if different subscripts of a view are different elements.
bool isInjective(mlir::Value memref);

/// `hidden` of the location `matmul "hidden"`; empty for others.
std::string nameInLocation(mlir::Location location);

/// What a memref is called in comments and labels: the name of the argument or buffer.
std::string memrefName(mlir::Value memref);

/// Why two iterations of `loop` may touch the same element, one of them writing it; empty if that is proved impossible.
/// The proof: of every two accesses, one a store, some subscript is i * a + c in both, with the same loop-invariant
/// symbols, and what varies inside an iteration is less than |a|; or they are never equal; or parities
/// (ParityProof.h), the bounds of the loops and the conditions around (BoundsProof.h), what are like digits of
/// numbers (DigitsProof.h), or the order of pairs (PairsProof.h), keep them apart.
/// Two accesses for which `mayMeet` holds are none's concern.
std::string dependenceOf(mlir::scf::ForOp loop,
                         llvm::function_ref<bool(mlir::Operation *, mlir::Operation *)> mayMeet = {});

/// Whether all iterations of what is in front of `cut`, an operation of the loop's body, may run before any iteration
/// of the rest: by the same proof.
bool mayRunApart(mlir::scf::ForOp loop, mlir::Operation *cut);

} // namespace ml2k

#endif
