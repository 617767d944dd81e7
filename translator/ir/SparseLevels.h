//===- SparseLevels.h - how a sparse tensor is stored ---------------------------------------------------*- C++ -*-===//
//
// The levels of an encoding in terms of the tensor's dimensions, as far as kernels of our own walk through them. A
// stored tensor is an argument for each of its arrays, level by level: positions, coordinates, and the values last. The
// first level has no positions: its coordinates are all there are.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_SPARSELEVELS_H
#define ML2K_IR_SPARSELEVELS_H

#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

#include <optional>

namespace ml2k {

struct SparseLevel {
  enum class Format {
    Dense,      ///< every coordinate
    Compressed, ///< the coordinates between two positions, each once
    Repeated,   ///< all coordinates of the first level, in ascending order; equal ones lie together
    Singleton   ///< the one coordinate of an entry of the level above
  };
  enum class Part { Whole, Quotient, Remainder };

  Format format;
  unsigned dim; ///< of the tensor
  Part part;    ///< of the index along `dim`: of its division by `block`
  int64_t block = 1;

  bool isDense() const { return format == Format::Dense; }
  bool hasPositions(size_t level) const { return format == Format::Compressed && level > 0; }
};

/// Nothing if some level is of another kind. Loose ones are coordinates in any order, perhaps some of them twice: no
/// kernel walks through those, they can be sorted.
std::optional<llvm::SmallVector<SparseLevel>> levelsOf(mlir::sparse_tensor::SparseTensorEncodingAttr encoding,
                                                       bool takesLoose = false);

/// Whether an element of a tensor of such levels can be found without going through all of them: by bisection.
bool canLookUp(llvm::ArrayRef<SparseLevel> levels);

/// On the argument that stands for a sparse tensor: its encoding. On that and on its arrays: which tensor.
inline constexpr llvm::StringLiteral sparseEncoding = "nest.sparse";
inline constexpr llvm::StringLiteral sparseTensor = "nest.stored";

/// On what stands for a tensor that is written: the tensor whose positions and coordinates it has.
inline constexpr llvm::StringLiteral sparsePattern = "nest.pattern";

/// On what stands for a tensor that is written and has entries of its own: how they come about.
inline constexpr llvm::StringLiteral sparseAssembly = "nest.assembly";

/// Likewise, where the program does not return it: its arrays are the caller's all the same.
inline constexpr llvm::StringLiteral sparseIntermediate = "nest.intermediate";

/// On an operation with several sparse operands: the tensor over whose entries it runs.
inline constexpr llvm::StringLiteral walkedTensor = "nest.walked";

/// On a nest.assemble: how many rows the text says that there are.
inline constexpr llvm::StringLiteral assembledRows = "nest.rows";

/// On a loop over entries: their tensor. Other iterations of the parallel loop around it have other ones.
inline constexpr llvm::StringLiteral sparseEntries = "nest.entries";

/// On a search among the ascending coordinates between two positions.
inline constexpr llvm::StringLiteral bisectsEntries = "nest.bisects";

/// On another loop that sums: its terms may be joined in any order.
inline constexpr llvm::StringLiteral sumsInAnyOrder = "nest.any_order";

} // namespace ml2k

#endif
