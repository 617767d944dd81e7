//===- LoopsToNest.h - the parts of the lowering of loop programs ---------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_LOOPSTONEST_H
#define ML2K_PASSES_LOWER_LOOPS_LOOPSTONEST_H

#include "translator/ir/LoopNames.h"
#include "translator/ir/Nest.h"
#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace ml2k {

//===--- Memory (LoopMemory.cpp) ---===//

/// A member of the workspace for `allocation`, at the start of the entry; fails if its size is known in a loop only.
mlir::FailureOr<nest::BufferOp> makeBuffer(mlir::func::FuncOp entry, mlir::Operation *allocation);

/// An array in the workspace; null if one of its sizes is known in a loop only.
mlir::Value makeArray(mlir::func::FuncOp entry, mlir::Type element, mlir::ValueRange sizes, llvm::StringRef name);

/// A scalar in the workspace, through which kernels hand values on.
mlir::Value makeScalar(mlir::func::FuncOp entry, mlir::Type type, llvm::StringRef name);

/// Constant globals become weights; deallocations go.
mlir::LogicalResult lowerGlobals(mlir::func::FuncOp entry);

/// Results become arguments that are written; those that are arguments already go.
mlir::LogicalResult resultsToArguments(mlir::func::FuncOp entry);

/// Copies become parallel loops; `onlyOfViews` leaves those of whole memrefs.
mlir::LogicalResult lowerCopies(mlir::func::FuncOp entry, bool onlyOfViews = false);

/// Gives the dynamic dimensions of arguments names of their own: extents of different arguments may differ.
void nameDims(mlir::func::FuncOp entry);

/// Marks the arguments that a kernel writes.
void markOutputs(mlir::func::FuncOp entry);

//===--- Kernels (LoopKernels.cpp) ---===//

/// A value that is the same on every thread and needs no memory: it can be computed again wherever it is used.
bool isRecomputable(mlir::Operation *op);

/// A label that no other kernel has, after the memory that it writes: `c`; a second one `c_from_a`, or `c_update` if it
/// reads c. `otherwise`, if it writes none.
std::string labelFor(nest::LoopKernelOp kernel, UniqueNames &taken, llvm::StringRef otherwise = "loop");

using nest::combinerOf;
using nest::reductionNames;

/// What was read in front of a branch is not read again in it.
void shareBranchLoads(mlir::func::FuncOp entry);

/// Replaces a parallel loop by sequential ones, outermost first.
llvm::SmallVector<mlir::scf::ForOp> makeSequential(mlir::RewriterBase &rewriter, mlir::scf::ParallelOp loop);

/// A parallel loop on the host becomes a kernel without label; its reductions go to `into`.
nest::LoopKernelOp makeKernel(mlir::RewriterBase &rewriter, mlir::scf::ParallelOp loop, mlir::ValueRange into);

/// Copies into the kernel what its block uses of recomputable host values, and readies loops and memory inside.
mlir::LogicalResult finishKernel(mlir::RewriterBase &rewriter, nest::LoopKernelOp kernel);

/// Memory that loops and branches of the kernel choose becomes numbers of it, and loads and stores decide by these.
mlir::LogicalResult numberMemory(nest::LoopKernelOp kernel);

/// Of an array inside a kernel that stands for `allocation`: with its name.
mlir::Location locationOfArray(mlir::Operation *allocation);

//===--- Parallel loops (ParallelizeLoops.cpp) ---===//

/// Why the iterations of a loop have to run in order; empty if it is proved that they do not: no iteration touches what
/// another one writes, and what is carried are reductions that may be reordered.
std::string whySequential(mlir::scf::ForOp loop);

/// A loop for which that holds.
mlir::scf::ParallelOp makeParallel(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);

//===--- Teams (TeamKernels.cpp) ---===//

/// Whether the kernel became one of teams, whose threads share its inner parallel loops.
bool formTeam(mlir::RewriterBase &rewriter, nest::LoopKernelOp kernel);

/// Kernels whose shared loops computed what nothing needs, as another statement overwrites it, are plain ones again.
void leaveTeams(mlir::func::FuncOp entry);

//===--- Reductions of loops (SplitReductions.cpp) ---===//

/// A kernel has reductions of one type: another loop with several becomes several loops.
void splitReductions(mlir::func::FuncOp entry);

//===--- Sizes (CheckExtents.cpp) ---===//

/// Asserts in the entry what its kernels need of run-time extents; names of extents are given.
void checkExtents(mlir::func::FuncOp entry);

//===--- Reductions (LinalgReductions.cpp) ---===//

/// What writes one value to all of a memref.
struct Fill {
  mlir::Operation *op = nullptr;
  mlir::Value value;
  explicit operator bool() const { return op; }
};

/// The fill that writes `memref` last before `op`, where nothing in between looks at that.
Fill fillBefore(mlir::Operation *op, mlir::Value memref);

/// Nothing else that the operation reads or writes is the memory of `output`.
bool isApart(mlir::linalg::LinalgOp op, mlir::OpOperand &output);

/// linalg operations that reduce become parallel reductions, or parallel loops that carry what they reduce.
void lowerReductions(mlir::func::FuncOp entry);

//===--- Fewer kernels (FuseLoops.cpp, SinkLoops.cpp, RecomputeTerms.cpp, ForwardScalars.cpp,
// FoldScalars.cpp) ---===//

/// Single elements that the entry makes for itself become values where the store is in sight.
void forwardScalars(mlir::func::FuncOp entry);

/// Neighbouring parallel loops over the same positions become one.
void fuseLoops(mlir::func::FuncOp entry);

/// Loops around one kernel whose iterations never meet go into it.
void sinkLoops(mlir::func::FuncOp entry);

/// Vectors that one loop computes for the next from two others are computed again instead.
void recomputeTerms(mlir::func::FuncOp entry);

/// What the result of a parallel loop is called; perhaps nothing.
std::string nameOfReduction(mlir::OpResult result);

/// Kernels compute the scalars that a kernel of one iteration would compute for them.
void foldScalars(mlir::func::FuncOp entry);

//===--- Inside iterations (KeepSums.cpp, ShareLoads.cpp, EarlyLoads.cpp, SinkLoads.cpp) ---===//

/// Loads of branches stand in front of the choice, where every position is proved to be inside.
void hoistLoads(mlir::func::FuncOp entry);

/// An iteration reads an element that no iteration writes once.
void shareLoads(mlir::func::FuncOp entry);

/// Elements that a sequential loop of a parallel iteration changes are carried by the loop.
void keepSums(mlir::func::FuncOp entry);

/// Loads in front of kernels to where those need the element.
void sinkLoads(mlir::func::FuncOp entry);

//===--- Kernels of one sum (JoinLoops.cpp, RaiseProducts.cpp, RaiseComplexProducts.cpp, RaiseColumnSums.cpp) ---===//

/// Loops of a sum of products that go along memory one behind the other become one.
void joinLoops(mlir::func::FuncOp entry);

/// Kernels whose loops are a matrix product become nest.contract.
void raiseProducts(mlir::func::FuncOp entry);

/// Those of complex numbers, as products of real ones.
void raiseComplexProducts(mlir::func::FuncOp entry);

/// Kernels that reduce down the columns of a matrix become nest.reduce.
void raiseColumnSums(mlir::func::FuncOp entry);

//===--- Views (FoldViews.cpp) ---===//

/// Loads and stores through transposes and casts to other strides become such of their source; whether there were any.
bool foldViews(mlir::func::FuncOp entry);

//===--- Sparse tensors (SparseKernels.cpp) ---===//

/// linalg operations on what stands for sparse tensors become loops over the stored elements; their arrays are
/// arguments like others then.
mlir::LogicalResult lowerSparse(mlir::func::FuncOp entry);

//===--- Updates (Atomics.cpp) ---===//

/// Atomic updates become loads and stores, and the parallel loops around them sequential ones.
void lowerAtomics(mlir::func::FuncOp entry);

} // namespace ml2k

#endif
