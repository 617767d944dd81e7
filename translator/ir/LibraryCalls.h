//===- LibraryCalls.h - kernels that KokkosKernels has an operation for ---------------------------------*- C++ -*-===//
//
// Which contractions and sums along rows are a call of gemm or gemv, and which loops over the rows of a sparse matrix a
// call of spmv, and the operands of those calls. The pass that hands kernels over and the printer ask the same.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_LIBRARYCALLS_H
#define ML2K_IR_LIBRARYCALLS_H

#include "translator/ir/Nest.h"

#include <optional>
#include <string>

namespace ml2k::nest {

/// A matrix that lies row by row without gaps: op(A) of BLAS is it, or its transpose. A vector has no columns.
struct BlasMatrix {
  mlir::Value memref;
  llvm::SmallVector<unsigned> rows, columns; ///< loops of the kernel, as the matrix lies in memory
  bool isTransposed = false;
};

/// c = op(a) op(b) + (0 or 1) c. Of gemv, b and c are vectors.
struct BlasProduct {
  BlasMatrix a, b, c;
  bool isMatrix = true; ///< gemm
  bool adds = false;    ///< to what c holds
};

/// Where the epilogue, or what finishes a reduction, neither changes the sum nor adds anything but the old element of
/// the result. Otherwise `why` says what is in the way.
std::optional<BlasProduct> blasProductOf(mlir::Operation *kernel, std::string &why);

/// The same for the product alone, whatever becomes of its sums.
std::optional<BlasProduct> blasSumsOf(mlir::Operation *kernel, std::string &why);

/// y = A x + (0 or 1) y, for a matrix by rows.
struct SparseProduct {
  mlir::Value positions, coordinates, values, x, y;
  bool adds = false;
};

std::optional<SparseProduct> sparseProductOf(LoopKernelOp kernel, std::string &why);

/// Whether a kernel is printed as a call of KokkosKernels.
inline bool isLibraryCall(KernelBlock block) {
  return block == KernelBlock::LibraryGemm || block == KernelBlock::LibraryGemv || block == KernelBlock::LibrarySpmv;
}

/// `KokkosBlas::gemm`; empty for other blocks.
llvm::StringRef libraryFunction(KernelBlock block);

} // namespace ml2k::nest

#endif
