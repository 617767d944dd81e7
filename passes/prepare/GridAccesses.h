//===- GridAccesses.h - how the memory of a kernel lies along its loops ---------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PREPARE_GRIDACCESSES_H
#define ML2K_PASSES_PREPARE_GRIDACCESSES_H

#include "translator/ir/Nest.h"

#include "llvm/ADT/BitVector.h"

#include <optional>

namespace ml2k {

/// The loads and stores of a kernel of several loops.
class GridAccesses {
public:
  explicit GridAccesses(nest::LoopKernelOp kernel);

  /// The loop that neighbours in memory belong to: most elements lie one behind the other along it. The last one unless
  /// another is better and not short.
  unsigned innermost() const;

  /// The loop along which some memory lies that `inner` runs across, while other memory lies along `inner`: tiles of
  /// both use whole lines. None if either is short, and for reductions or iterations with loops of their own.
  std::optional<unsigned> tiled(unsigned inner) const;

private:
  struct Access {
    std::optional<unsigned> along; ///< one element further with each step of that loop
    llvm::BitVector across;        ///< the other loops that it depends on
    int64_t weight;                ///< elements in an iteration, by rule of thumb
  };

  using Dependences = llvm::DenseMap<mlir::Value, llvm::BitVector>;
  void visit(mlir::Block &block, Dependences &loopsOf, int64_t times);
  void add(mlir::Value memref, mlir::ValueRange indices, Dependences const &loopsOf, int64_t weight);
  int64_t score(unsigned loop) const;
  std::optional<unsigned> crossing(unsigned inner) const;
  bool isLong(unsigned loop, int64_t least) const;

  nest::LoopKernelOp kernel;
  llvm::SmallVector<Access> accesses;
};

/// Whether a kernel goes in tiles of its last two loops.
bool goesInTiles(nest::LoopKernelOp kernel);

/// As many columns as a grid has if they are a few and the rows many, such as the components of `x[n, 3]`; else 0.
int64_t columnsOfShortRows(nest::LoopKernelOp kernel);

/// Whether the kernel is a grid of two or three loops without loops inside that nobody has decided about.
bool isPlainGrid(nest::LoopKernelOp kernel);

} // namespace ml2k

#endif
