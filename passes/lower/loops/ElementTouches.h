//===- ElementTouches.h - what may read or write one element of memory ----------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_ELEMENTTOUCHES_H
#define ML2K_PASSES_LOWER_LOOPS_ELEMENTTOUCHES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace ml2k {

/// An element of memory: what loads and stores have in common.
struct AccessedElement {
  mlir::Operation *op;
  mlir::Value memref;
  mlir::ValueRange indices;

  bool operator==(AccessedElement const &other) const {
    return memref == other.memref && llvm::equal(indices, other.indices);
  }
};

std::optional<AccessedElement> elementOf(mlir::Operation *op);

/// Whether `op`, or something in it, may access the element, which is the same in all iterations of loops `inside`.
/// `proofs`: how many accesses may still be kept apart by the bounds of loops, which takes time.
bool mayTouch(mlir::Operation *op, AccessedElement const &element, mlir::Operation *inside, unsigned &proofs,
              bool onlyWrites = false);

} // namespace ml2k

#endif
