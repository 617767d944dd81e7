//===- Teams.h - kernels that a team of threads runs ----------------------------------------------------*- C++ -*-===//
//
// What the statements of a nest.kernel with the policy `team` are to its threads: all of them run scalar operations,
// one of them stores, they share the iterations of each scf.parallel.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_TEAMS_H
#define ML2K_IR_TEAMS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k::nest {

/// On an scf.parallel, and on the kernel that it becomes: each position is one of a team of threads, the loops inside
/// are theirs.
inline constexpr llvm::StringLiteral teamLoop = "nest.team";

/// On a memref.alloca of a team: an element for each of its threads, which nobody else touches.
inline constexpr llvm::StringLiteral ofThreads = "nest.of_threads";

enum class TeamPart {
  All,     ///< every thread runs it
  Once,    ///< it has effects: one thread runs it
  Shared,  ///< scf.parallel: each iteration is one thread's
  Barrier, ///< nest.barrier
  Control  ///< a loop or branch around such parts, the same for all threads
};

/// Of an operation outside of scf.parallel.
TeamPart teamPartOf(mlir::Operation *op);

/// The team of a device: `threads`, each of `lanes` vector lanes.
struct TeamShape {
  int64_t threads = 1, lanes = 1;
};

/// The threads of a launch as it says, otherwise as many as its longest loop has work for. Values of threads have a
/// lane each.
TeamShape teamShapeOf(LoopKernelOp kernel);

/// Whether all that a team shares are loops over 0 .. n - 1, where the host knows n, and no memory, so that barriers
/// behind these loops are enough: each position is a row, which blocks give to as many lanes as it needs. Teams of
/// launches stay teams.
bool isOfRows(LoopKernelOp kernel);

/// Whether a reduction finds the first position for which a condition holds, or the end: the least of `c ? k : end`.
bool isFirstPlace(mlir::scf::ParallelOp loop);

/// Whether the team has to have the shape of such memory.
bool hasValuesOfThreads(mlir::Operation *kernel);

mlir::LogicalResult verifyTeam(LoopKernelOp kernel);

} // namespace ml2k::nest

#endif
