//===- SumKernel.h - kernels of loops that join terms in an inner loop and store one element ------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SUMKERNEL_H
#define ML2K_PASSES_LOWER_LOOPS_SUMKERNEL_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// Whether `end` is the extent of a dimension of `memref`, as can be seen.
bool isExtentOf(mlir::Value end, mlir::Value memref, unsigned dim);

/// What a matrix product and other reductions have in common, written as loops: independent loops from 0 on, an inner
/// loop that carries one value, scalar operations on it, and one store. Indices of loads and of the store are loops or
/// numbers.
class SumKernel {
public:
  explicit SumKernel(nest::LoopKernelOp kernel) : kernel(kernel), block(kernel.getBody().front()) {}

protected:
  /// Whether the kernel is such a one, but for the terms.
  bool readFrame();

  /// Whether what stands around the terms, given by their loads, is for an epilogue: it uses loop indices as positions
  /// only, and of the result it reads an element, at most, where it writes that. Terms read other memory.
  bool readRest(llvm::ArrayRef<mlir::memref::LoadOp> terms);

  bool standsAlone();

  /// Of loops by number: those of the kernel, then the inner one.
  unsigned sumLoop() { return block.getNumArguments(); }
  mlir::Value upper(unsigned loop) { return loop == sumLoop() ? sum.getUpperBound() : kernel.getUppers()[loop]; }

  /// From all loops to an element; null where an index is neither a loop nor a number.
  mlir::AffineMap mapOf(mlir::ValueRange positions);

  /// Whether a loop runs over all of the dimension of `memref` that it indexes.
  bool isWhole(mlir::Value memref, mlir::AffineMap map, unsigned loop);

  /// The names of the loops in the source, each at its place in the new kernel.
  mlir::ArrayAttr namesOf(llvm::ArrayRef<unsigned> places);

  /// The block of what stands behind the sum: the joined terms, then what `extras` load. `total` makes the loop's
  /// result of its initial value and those.
  void writeEpilogue(mlir::RewriterBase &rewriter, mlir::Region &region,
                     llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> total);

  using Loads = llvm::SmallVector<mlir::memref::LoadOp>;
  nest::LoopKernelOp kernel;
  mlir::Block &block;
  mlir::scf::ForOp sum;
  mlir::memref::StoreOp store;
  mlir::AffineMap mapOfStore;
  Loads extras;
};

/// Replaces the kernels of explicit loops that a `Raised`, a SumKernel, can read by what it makes of them.
template <class Raised> void raiseKernels(mlir::func::FuncOp entry) {
  mlir::IRRewriter rewriter(entry.getContext());
  llvm::SmallVector<nest::LoopKernelOp> kernels;
  entry.walk([&](nest::LoopKernelOp kernel) { kernels.push_back(kernel); });
  for (nest::LoopKernelOp kernel : kernels)
    if (Raised raised(kernel); raised.read())
      raised.raise(rewriter);
}

} // namespace ml2k

#endif
