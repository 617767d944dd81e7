//===- ChooseBlocks.h - what each kernel is printed as --------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PREPARE_CHOOSEBLOCKS_H
#define ML2K_PASSES_PREPARE_CHOOSEBLOCKS_H

#include "passes/prepare/Prepare.h"

namespace ml2k {

/// Whether memory, not a view of a part of it, is an image of convolutions.
bool isImage(mlir::Value memory);

/// Whether integers in the caller's memory have no sign.
bool isUnsigned(mlir::Value memref);

/// True if a dimension joins several of an image with a border: its elements do not lie at equal distances.
bool crossesBorder(mlir::Value memref, int64_t dimension);

/// True if the elements of a buffer that follow each other along a loop lie side by side in memory.
bool liesAlong(mlir::Value memref, mlir::AffineMap map, unsigned loop);

/// The loop along the contiguous dimension of what a map addresses; loops of extent 1 do not count.
std::optional<unsigned> innermost(mlir::AffineMap map, llvm::ArrayRef<int64_t> extents);

/// How often each loop runs, kDynamic where known at run time only.
llvm::SmallVector<int64_t> extentsOf(nest::Kernel kernel);

/// Whether enough rows, of one loop that is not of extent 1, are there to fold several at once.
bool foldsTogether(llvm::ArrayRef<int64_t> rows);

/// Whether terms are so few that an element of a vector takes them all, and there are enough elements. What lies along
/// a row of 3 or 5 does not fill a vector.
bool foldsInElements(llvm::ArrayRef<int64_t> terms, llvm::ArrayRef<int64_t> elements);

/// The loop that runs in vector registers, the last of `loops` that does anything; none if it is too short, so that all
/// of them run there as one.
int64_t vectorLoop(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<int64_t> extents);

/// Whether the printed file serves any.
enum class Devices { None, Some };

//===--- By kind of kernel ---===//

void chooseBlock(nest::MapOp map, Devices devices);
/// True for a copy of a whole image N C H W of few channels to one N H W C.
bool isChannelsLast(nest::MapOp map);
void chooseBlock(nest::RowOp row, Devices devices);
mlir::LogicalResult chooseBlock(nest::ContractOp contract);
mlir::LogicalResult chooseBlock(nest::ConvOp conv);

/// Marks the parts of long sums in explicit loops.
void nameSums(nest::LoopKernelOp kernel);

//===--- The last check ---===//

/// Refuses a kernel with memory that its block cannot address.
mlir::LogicalResult checkMemory(mlir::Operation *kernel);

} // namespace ml2k

#endif
