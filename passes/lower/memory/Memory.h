//===- Memory.h - who reads and writes which part of a buffer -------------------------------------------*- C++ -*-===//
//
// Shared by the passes that run after bufferization: aliases of a buffer, its accesses, hoisting of what addresses it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_LOWER_MEMORY_MEMORY_H
#define ML2K_PASSES_LOWER_MEMORY_MEMORY_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

#include <optional>
#include <tuple>

namespace ml2k {

/// A use of a buffer, through one of its aliases.
struct Access {
  mlir::Operation *op;
  mlir::Value alias;
  bool reads;
  bool writes;
};

/// The part of a buffer that an alias covers, in the dimensions of the buffer; unknown extents are kDynamic, and values
/// of the program where it computes them.
struct Box {
  llvm::SmallVector<int64_t> offsets;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<mlir::Value> offsetValues = {}, sizeValues = {};

  bool operator<(Box const &other) const { return std::tie(offsets, sizes) < std::tie(other.offsets, other.sizes); }
};

/// Another view of the same memory: subview, collapse_shape, expand_shape or cast.
bool isAlias(mlir::Operation *op);

/// What an alias is a view of: an allocation, a nest.buffer, a weight or an argument.
mlir::Value rootOf(mlir::Value memref);

/// What an operand that is memory is there for. Operations that this analysis does not know read and write.
Access accessOf(mlir::OpOperand &use);

/// The operands that are accesses to the memory of `alias`, in no order.
void collectAccesses(mlir::Value alias, llvm::SmallVectorImpl<mlir::OpOperand *> &uses);

/// Every access to the memory of `root` in program order.
llvm::SmallVector<Access> accessesOf(mlir::Value root);

/// The part of its root that `alias` can touch.
Box boxOf(mlir::Value alias);

/// True if the two parts of one buffer share no element.
bool areDisjoint(Box const &a, Box const &b);

/// True if both have as many elements in each dimension, whatever the model is called with.
bool haveSameShape(mlir::Value a, mlir::Value b);

/// True if `alias` takes all images, rows and columns and some channels of a buffer N H W C, and nothing else.
bool isChannelSlice(mlir::Value alias);

/// True if from `first` to before `last`, of the same block, nobody writes what `alias` sees, or reads it unless
/// `mayRead`. False, too, where they stand far apart.
bool isFreeBetween(mlir::Value alias, mlir::Operation *first, mlir::Operation *last, bool mayRead);

/// Moves what defines `value` before `place` where it stands behind it. Fails, leaving everything in place, if that
/// takes more than aliases, dimensions and index arithmetic.
mlir::LogicalResult hoistBefore(mlir::Value value, mlir::Operation *place);

/// The same for several results of operations; returns the operation that cannot move, if there is one.
mlir::Operation *hoistAllBefore(mlir::ValueRange values, mlir::Operation *place);

/// The sizes of `memref` to allocate another one of its shape; static ones are left out.
llvm::SmallVector<mlir::Value> dynamicSizes(mlir::OpBuilder &builder, mlir::Location location, mlir::Value memref);

} // namespace ml2k

#endif
