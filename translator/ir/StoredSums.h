//===- StoredSums.h - where convolutions and products store their sums ----------------------------------*- C++ -*-===//

#ifndef ML2K_IR_STOREDSUMS_H
#define ML2K_IR_STOREDSUMS_H

#include "translator/ir/Nest.h"

namespace ml2k::nest {

/// How many values the epilogue yields for a sum: value j of sum o is channel o * count + j.
unsigned channelsPerSum(ConvOp conv);

/// Channel j of each of several parts becomes one of neighbours: part i's is j * parts + i, with i * channels + j as
/// `channel`.
mlir::AffineExpr shuffled(mlir::AffineExpr channel, int64_t parts, int64_t channels);

/// The number of parts where the map of the output shuffles them; 1 without such a map, 0 for any other map.
int64_t shuffledParts(ConvOp conv);

/// How many columns of a row are neighbours, where the map of a contraction's output cuts rows into parts that lie
/// anywhere: its last index is n mod columns, one other n floordiv columns. None where rows are whole.
std::optional<int64_t> columnsOfPart(mlir::AffineMap output, llvm::ArrayRef<Role> roles);
std::optional<int64_t> columnsOfPart(ContractOp contract);

} // namespace ml2k::nest

#endif
