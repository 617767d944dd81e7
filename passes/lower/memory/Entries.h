//===- Entries.h - kernels that do little for each entry of a batch -------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_MEMORY_ENTRIES_H
#define ML2K_PASSES_LOWER_MEMORY_ENTRIES_H

#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

namespace ml2k {

/// How many entries there are: a number, the name that the model has for it, or a value.
struct EntryCount {
  int64_t known = mlir::ShapedType::kDynamic;
  llvm::StringRef name;
  mlir::Value value;

  bool operator==(EntryCount const &other) const {
    return known == other.known && name == other.name && value == other.value;
  }
};

/// The extent of the first dimension, from where the memory is made.
EntryCount countOf(mlir::Value memref);

/// Whether the entries of an alias are those of its source: all of each in another shape, or a part of each.
bool keepsEntries(mlir::Operation *alias);

/// The same of all aliases from a buffer to `memref`.
bool keepsEntries(mlir::Value memref);

/// Whether the kernel does a few dozen operations on floating-point numbers for each of many entries.
bool isOfEntries(nest::Kernel kernel);

/// Sums of products for several elements of an entry, of two operands that each entry has.
bool isMatrixProduct(nest::Kernel kernel);

} // namespace ml2k

#endif
