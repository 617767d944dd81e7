//===- StoredRows.h - kernels over the rows of a sparse matrix ------------------------------------------*- C++ -*-===//
//
// A nest.kernel over the rows of a matrix whose entries lie between two positions of each row can be shared: a host's
// threads get rows of as many entries each, the lanes of a device's team take the entries of a row. This says which
// kernels are such, and how each of their loops over entries can be split among lanes.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_STOREDROWS_H
#define ML2K_IR_STOREDROWS_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace ml2k::nest {

/// A loop at the top of the kernel's block.
struct RowLoop {
  enum class Kind {
    Fold,   ///< joins a term of each entry
    Each,   ///< writes to what belongs to an entry
    Columns ///< over columns, and joins for each column a term of each entry
  };
  Kind kind;
  mutable mlir::scf::ForOp entries;                                ///< of Columns: inside the loop over columns
  Combiner combiner = Combiner::Sum;                               ///< of Fold and Columns
  mlir::Operation *join = nullptr;                                 ///< likewise: the operation that it is
  mlir::Value term() const;                                        ///< likewise: what is joined
  mlir::Value initial() const { return entries.getInitArgs()[0]; } ///< likewise: what is joined to it
};

struct StoredRows {
  mlir::Value positions;  ///< of the first entry of each row, and one more
  mlir::Value entryArray; ///< has an element for each entry
  llvm::DenseMap<mlir::Operation *, RowLoop> loops;

  /// Whether an entry is more than a number: it has columns, or a loop of its own. Lanes of a device then read side by
  /// side what one lane would read far apart.
  bool hasWideEntries() const;

  /// Whether all loops join terms that need nothing of the row: threads of a device may evaluate those of other rows.
  bool areTermsOfEntries() const;

  /// What is read at the entry itself, in the order of the text, if an entry has no loop of its own: rows that are read
  /// by its column outweigh that.
  llvm::SmallVector<mlir::Value> arraysByEntry(LoopKernelOp kernel) const;
};

/// A loop inside those from 0 on that joins terms in any order and stores nothing: a Fold of one lane.
std::optional<RowLoop> innerFoldOf(mlir::scf::ForOp loop);

/// A loop without loops or branches inside that joins terms in any order and stores nothing.
std::optional<RowLoop> joinOf(mlir::scf::ForOp loop);

/// One that adds or subtracts terms of f32 or f64 in order, which are read along memory.
std::optional<RowLoop> orderedSumOf(mlir::scf::ForOp loop);

/// Nothing where some lane could need what another one computes at the same time.
std::optional<StoredRows> storedRowsOf(LoopKernelOp kernel);

/// Rows whose entries change elements by their columns: A^T x.
struct ScatteredRows {
  mlir::Value positions, coordinates;
  mlir::scf::ForOp entries;
  mlir::Value column; ///< of an entry, as subscripts have it
  mlir::memref::StoreOp store;
  unsigned dim = 0; ///< of the memory that is changed: along the columns
};

/// Of a kernel whose only loop is in order. No other entry of a row has the same column, and columns of a row ascend.
std::optional<ScatteredRows> scatteredRowsOf(LoopKernelOp kernel);

/// The first of the entries begin .. end - 1 whose coordinate is not below the one that is looked for.
struct EntrySearch {
  mlir::Value coordinates, begin, end, coordinate;
};

/// Of integers with a sign, in an array of the caller's; nothing for any other loop.
std::optional<EntrySearch> entrySearchOf(mlir::scf::WhileOp loop);

} // namespace ml2k::nest

#endif
