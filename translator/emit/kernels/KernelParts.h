//===- KernelParts.h - what the printers of several kernels need ----------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_KERNELS_KERNELPARTS_H
#define ML2K_EMIT_KERNELS_KERNELPARTS_H

#include "translator/emit/model/Layer.h"

namespace ml2k {

/// The declarations among `statements` that are the same for all `index`, then a loop of `index` along `span` with the
/// rest.
Body alongSpan(Body const &statements, Identifier const &index, Identifier const &span);

/// Names computed positions that do not depend on what `varies`, so that they can stand outside a loop.
void namePositions(ScalarPrinter &printer, std::function<bool(mlir::Value)> varies);

/// `32 * 56`, without factors of 1.
Expression product(llvm::ArrayRef<Expression> factors);

/// `int const name = value;`
cpp::Statement letInt(Identifier const &name, Expression const &value);

/// `Row const &along`
cpp::Parameter rowParameter(Code const &type = Raw("Row"));

/// Several loops run as one, outermost first: its name, its extent and how to get the loops' indices back.
class FusedLoops {
public:
  /// `loops` are the dimensions that are fused; their names go into `space.dims`. A single loop keeps its own name,
  /// several run as `fused`.
  FusedLoops(Layer &layer, Layer::Loops const &all, llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<Identifier> names,
             llvm::StringRef fused, IndexSpace &space);

  Identifier const &name() const { return index; }
  Expression const &size() const { return total; }

  /// Puts the declarations of the indices that `statements` use in front of them.
  void recover(Body &statements) const;

private:
  Identifier index;
  Expression total;
  Body declarations; ///< outermost last
};

/// The loops of for_each: one in vector registers, the others in front of it; or all of them as one in vector
/// registers.
class ElementLoops {
public:
  /// `names` are those of `loops`; `inner` is one of these, or negative.
  ElementLoops(Layer &layer, Layer::Loops const &all, llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<Identifier> names,
               int64_t inner, IndexSpace &space);

  /// `for_each(label, space, rows, length, [=](int row, int i) { statements })`
  void call(Layer &layer, Body statements) const;

private:
  FusedLoops inner, rows;
};

/// Names for `count` loops of extents greater than 1, channels last for images.
std::vector<Identifier> loopNames(Layer &layer, unsigned count);

/// What a loop program calls one of the `count` loops of a kernel that was made of it, if no other of them has that
/// name; else empty.
std::string sourceNameOf(mlir::Operation *kernel, unsigned loop, unsigned count);

/// Binds the arguments of a block that are not bound yet to the elements of `values` at `maps`.
mlir::LogicalResult bindElements(Layer &layer, ScalarPrinter &printer, mlir::Block::BlockArgListType arguments,
                                 mlir::ValueRange values, llvm::ArrayRef<mlir::AffineMap> maps, IndexSpace const &space,
                                 Body &statements);

/// `out(n, i) = value;` for every value that the block yields.
mlir::LogicalResult storeElements(Layer &layer, ScalarPrinter &printer, mlir::Block &block, mlir::ValueRange outputs,
                                  llvm::ArrayRef<mlir::AffineMap> maps, IndexSpace const &space, Body &statements);

/// Prints an epilogue: `return value;` of the only value that the block yields, or an array of several.
mlir::LogicalResult returnValue(ScalarPrinter &printer, mlir::Block &block, Body &statements);

/// vector.print and cf.assert.
void handleMessages(ScalarPrinter &printer);

/// All indexing maps of a kernel.
llvm::SmallVector<mlir::AffineMap> mapsOf(mlir::ArrayAttr maps);

/// `a[..] * b[..] + bias[..] -> out[..]` with the given separators of inputs and extras.
std::string describe(Layer &layer, mlir::ValueRange inputs, mlir::ValueRange extras, mlir::ValueRange outputs,
                     llvm::StringRef between);

/// The block that joins values: Sum, Max...
Raw combinerName(nest::Combiner combiner);

/// `a + b`, `Kokkos::max(a, b)`... NaN behaves as the combiner says if `b` is the new value.
Expression joined(nest::Combiner combiner, Expression const &a, Expression const &b);

/// The same with a constant, which is left out where it changes nothing.
Expression joined(nest::Combiner combiner, mlir::TypedAttr initial, Expression const &b);

/// `target += value;`, `target = Kokkos::max(target, value);`
cpp::Statement joinInto(nest::Combiner combiner, Expression const &target, Expression const &value);

/// What the result of a reduction is called: total, largest, smallest.
ScalarPrinter::Nouns accumulatorNouns(nest::Combiner combiner);

} // namespace ml2k

#endif
