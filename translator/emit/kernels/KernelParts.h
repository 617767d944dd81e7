//===- KernelParts.h - what the printers of several kernels need ----------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_KERNELS_KERNELPARTS_H
#define ML2K_EMIT_KERNELS_KERNELPARTS_H

#include "translator/emit/model/Layer.h"

namespace ml2k {

/// True if the statements use the identifier.
bool mentions(Json const &statements, llvm::StringRef name);

/// `int n, int, int o`: parameters that `statements` do not use have no name.
std::string indexParameters(llvm::ArrayRef<std::string> names, Json const &statements);

/// The declarations among `statements` that are the same for all `index`, then a loop of `index` along `span` with the
/// rest.
Json alongSpan(Json statements, std::string const &index, std::string const &span);

/// True if a declaration that is the same for all `index` checks a computed position, which no vector loop may hold.
bool checksOutside(Json const &statements, llvm::StringRef index);

/// Names computed positions that do not depend on what `varies`, so that they can stand outside a loop.
void namePositions(ScalarPrinter &printer, std::function<bool(mlir::Value)> varies);

/// `32 * 56`, without factors of 1.
Expression product(llvm::ArrayRef<Expression> factors);

/// Several loops run as one, outermost first: its name, its extent and how to get the loops' indices back.
class FusedLoops {
public:
  /// `loops` are the dimensions that are fused; their names go into `space.dims`. A single loop keeps its own name,
  /// several run as `fused`.
  FusedLoops(Layer &layer, Layer::Loops const &all, llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<std::string> names,
             llvm::StringRef fused, IndexSpace &space);

  std::string const &name() const { return index; }
  Expression const &size() const { return total; }

  /// Puts the declarations of the indices that `statements` use in front of them.
  void recover(Json &statements) const;

private:
  std::string index;
  Expression total;
  std::vector<std::pair<std::string, std::string>> declarations; ///< name, value; outermost last
};

/// Names for `count` loops of extents greater than 1, channels last for images.
std::vector<std::string> loopNames(Layer &layer, unsigned count);

/// Binds the arguments of a block to the elements of `values` at `maps`.
mlir::LogicalResult bindElements(Layer &layer, ScalarPrinter &printer, mlir::Block::BlockArgListType arguments,
                                 mlir::ValueRange values, llvm::ArrayRef<mlir::AffineMap> maps, IndexSpace const &space,
                                 Json &statements);

/// `out(n, i) = value;` for every value that the block yields.
mlir::LogicalResult storeElements(Layer &layer, ScalarPrinter &printer, mlir::Block &block, mlir::ValueRange outputs,
                                  llvm::ArrayRef<mlir::AffineMap> maps, IndexSpace const &space, Json &statements);

/// Prints an epilogue: `return value;` of the only value that the block yields.
mlir::LogicalResult returnValue(ScalarPrinter &printer, mlir::Block &block, Json &statements);

/// vector.print and cf.assert.
void handleMessages(ScalarPrinter &printer);

/// All indexing maps of a kernel.
llvm::SmallVector<mlir::AffineMap> mapsOf(mlir::ArrayAttr maps);

/// True if the elements of a buffer that follow each other along a loop lie side by side in memory.
bool liesAlong(mlir::Value buffer, mlir::AffineMap map, unsigned loop);

/// `a[..] * b[..] + bias[..] -> out[..]` with the given separators of inputs and extras.
std::string describe(Layer &layer, mlir::ValueRange inputs, mlir::ValueRange extras, mlir::ValueRange outputs,
                     llvm::StringRef between);

/// The block that joins values: Sum, Max...
std::string combinerName(nest::Combiner combiner);

/// `a + b`, `Kokkos::max(a, b)`... NaN behaves as the combiner says if `b` is the new value.
Expression joined(Program &program, nest::Combiner combiner, Expression const &a, Expression const &b);

/// The same with a constant, which is left out where it changes nothing.
Expression joined(Program &program, nest::Combiner combiner, mlir::TypedAttr initial, Expression const &b);

} // namespace ml2k

#endif
