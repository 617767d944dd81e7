//===- AccessIndex.h - the accesses to every buffer while copies go away --------------------------------*- C++ -*-===//
//
// A buffer of thousands of parts is asked for each of them who else uses it meanwhile. The accesses of all buffers are
// collected once, in program order; those of a buffer that becomes a part of another one join that one's.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_LOWER_MEMORY_ACCESSINDEX_H
#define ML2K_PASSES_LOWER_MEMORY_ACCESSINDEX_H

#include "passes/lower/memory/Memory.h"

#include <map>

namespace ml2k {

/// Valid as long as accesses neither move nor are made; they may be erased after forget().
class AccessIndex {
public:
  explicit AccessIndex(mlir::Operation *function);

  /// Every access to the memory of `root` in program order.
  llvm::SmallVector<Access> all(mlir::Value root);

  /// Those from the beginning of `first` to the end of `last`.
  llvm::SmallVector<Access> between(mlir::Value root, mlir::Operation *first, mlir::Operation *last);

  /// An access is going to be erased.
  void forget(mlir::Value root, mlir::Operation *access);

  /// `part` becomes an alias of `whole`.
  void join(mlir::Value part, mlir::Value whole);

  /// Program order; an operation begins before those in its regions.
  bool isBefore(mlir::Operation *a, mlir::Operation *b) const {
    return places.lookup(a).begin < places.lookup(b).begin;
  }

private:
  struct Place {
    unsigned begin = 0, end = 0;
  };
  using Uses = std::multimap<unsigned, mlir::OpOperand *>; ///< by the place of their owner

  Uses &usesOf(mlir::Value root);

  llvm::DenseMap<mlir::Operation *, Place> places;
  llvm::DenseMap<mlir::Value, Uses> roots;
};

} // namespace ml2k

#endif
