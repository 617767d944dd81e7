//===- HostLoops.h - loops and branches of the host around kernels --------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_HOSTLOOPS_H
#define ML2K_PASSES_LOWER_LOOPS_HOSTLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/SmallBitVector.h"

#include <functional>
#include <optional>
#include <string>

namespace ml2k {

/// What the text calls a value, or `otherwise`.
std::string nameOr(mlir::Value value, llvm::StringRef otherwise);

/// A location that says `verb "name"`.
mlir::Location namedLocation(mlir::Location location, llvm::StringRef verb, llvm::StringRef name);

/// Every use of a kernel's scalar reads it from memory, where the use is; `finish` makes of it what the use gets.
void replaceByLoads(mlir::RewriterBase &rewriter, mlir::Value value, mlir::Value memory,
                    std::optional<mlir::Location> location = {},
                    llvm::function_ref<mlir::Value(mlir::Value)> finish = nullptr);

/// Which of the values that a loop around kernels carries are numbers that the host computes itself.
llvm::SmallBitVector placesOnHost(mlir::scf::ForOp loop);

/// Whether the host carries all numbers of a loop around kernels, and decides how long it goes on.
bool isDecidedOnHost(mlir::scf::WhileOp loop);

class HostLoops {
public:
  /// Stores that belong to the kernel in front are handed to `gather`.
  HostLoops(mlir::func::FuncOp entry, mlir::RewriterBase &rewriter, std::function<void(mlir::Operation *)> gather)
      : entry(entry), rewriter(rewriter), gather(std::move(gather)) {}

  /// Numbers that the host can compute it carries, memrefs it may exchange; other scalars live in memory.
  mlir::scf::ForOp carry(mlir::scf::ForOp loop);

  /// Results of a branch live in memory, and so does its condition unless the host computes it.
  mlir::scf::IfOp carry(mlir::scf::IfOp branch, bool isDecidedHere);

  /// Whether the host can carry all of the loop's memory: it only exchanges that, and the host decides.
  static bool mayCarry(mlir::scf::WhileOp loop);

  /// Numbers that the host can compute it carries, a few that kernels compute are read back once a round. Otherwise
  /// scalars and the condition live in memory.
  mlir::scf::WhileOp carry(mlir::scf::WhileOp loop);

private:
  mlir::scf::ForOp carry(mlir::scf::ForOp loop, llvm::ArrayRef<unsigned> scalars);
  mlir::scf::WhileOp decideInMemory(mlir::scf::WhileOp loop);
  llvm::SmallVector<mlir::Value> memoriesOf(mlir::scf::WhileOp loop, llvm::ArrayRef<mlir::Value> carried);
  void storeBefore(mlir::Operation *op, mlir::Value value, mlir::Value memory);

  mlir::func::FuncOp entry;
  mlir::RewriterBase &rewriter;
  std::function<void(mlir::Operation *)> gather;
};

} // namespace ml2k

#endif
