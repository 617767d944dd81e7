//===- Tuning.h - numbers of building blocks that measurements may choose -------------------------------*- C++ -*-===//
//
// A tuning says, for a kernel and a family of processors, numbers that its building block otherwise has by a rule:
// sizes of tiles and pieces, and who works. A result changes by rounding at most.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_TUNING_H
#define ML2K_IR_TUNING_H

#include "translator/ir/Nest.h"

namespace ml2k {

struct Tunable {
  llvm::StringRef name;
  llvm::SmallVector<int64_t, 8> values; ///< beside the one of the rule
};

/// What may be chosen for the block that prints a kernel; nothing for most blocks.
llvm::ArrayRef<Tunable> hostTunablesOf(nest::ScheduleAttr schedule);
llvm::ArrayRef<Tunable> deviceTunablesOf(nest::ScheduleAttr schedule);

/// A processor family that one object file can be compiled for.
struct Family {
  llvm::StringRef name;
  llvm::StringRef
      macro; ///< of compilers that compile for it, or for a later one of the same line; a device's is Kokkos'
  bool isDevice;
};

/// In the order in which they are asked for.
llvm::ArrayRef<Family> families();

/// What was measured for a kernel on a family of processors: an element of nest.tuned,
/// `{family = "avx512", threads = 2, nanoseconds = 12300, default_nanoseconds = 14000, choices = {strip = 4}}`.
struct Tuned {
  llvm::StringRef family;
  int64_t threads, nanoseconds, defaultNanoseconds;
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> choices; ///< by name

  static std::optional<Tuned> read(mlir::Attribute attribute);
};

/// Of a kernel, in the order of families().
llvm::SmallVector<Tuned> tunedOf(mlir::Operation *kernel);

/// Kernels that something was measured for, in the order of the program.
llvm::SmallVector<nest::Kernel> tunedKernels(mlir::Operation *program);

/// The edge of the squares of results of Winograd's method by the rule, 0 for any other kernel.
int64_t winogradSquare(mlir::Operation *kernel);

/// The operation, and how a convolution is computed if not directly: `contract`, `conv F(4,3)`.
std::string patternOf(mlir::Operation *kernel);

/// `[1,64,56,56] [64,64,3,3] -> [1,64,56,56]`, run-time extents as `?`.
std::string shapesOf(mlir::DestinationStyleOpInterface kernel);

/// What an entry of a tune file is for, beside the label of its kernel: pattern, block, element type and extents.
std::string shapeClassOf(nest::Kernel kernel);

} // namespace ml2k

#endif
