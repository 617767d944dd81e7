//===- Sizes.h - extents and host values as affine expressions over named values ------------------------*- C++ -*-===//
//
// The one form of sizes known at run time only: what index arithmetic, views and allocations make of the extents of
// arguments, as an expression whose symbols are values that somebody has a name for.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_SIZES_H
#define ML2K_IR_SIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SetVector.h"

namespace ml2k {

/// Host values that expressions refer to, in order of their symbols.
class HostSymbols {
public:
  /// Symbols below `first` belong to somebody else.
  explicit HostSymbols(unsigned first = 0) : first(first) {}
  mlir::AffineExpr get(mlir::Value value);
  llvm::ArrayRef<mlir::Value> values() const { return known.getArrayRef(); }

private:
  unsigned first;
  llvm::SetVector<mlir::Value> known;
};

/// What an extent of an argument that has no memref.dim stands for: another value of the same name; null if there is
/// none.
using ExtentOfArgument = llvm::function_ref<mlir::Value(mlir::BlockArgument, unsigned)>;

class Sizes {
public:
  /// Values that are named are symbols, whatever computes them.
  Sizes(llvm::function_ref<bool(mlir::Value)> isNamed, ExtentOfArgument extentOf)
      : isNamed(isNamed), extentOf(extentOf) {}

  /// A host value; null where it depends on an extent that nothing says, or is too long to be printed.
  mlir::AffineExpr index(mlir::Value value, HostSymbols &symbols) const;

  /// The extent of a dimension; null where nothing says it.
  mlir::AffineExpr extent(mlir::Value memref, unsigned dim, HostSymbols &symbols) const;

  /// A constant or a host value.
  mlir::AffineExpr size(mlir::OpFoldResult size, HostSymbols &symbols, mlir::MLIRContext *context) const;

private:
  mlir::AffineExpr index(mlir::Value value, HostSymbols &symbols, unsigned &steps) const;

  llvm::function_ref<bool(mlir::Value)> isNamed;
  ExtentOfArgument extentOf;
};

/// Row-major without gaps, whatever the strides of dimensions of extent 1.
bool isContiguous(mlir::MemRefType type);

/// What the model calls a dynamic dimension of an argument, in nest.dims; empty if it says nothing.
llvm::StringRef nameOfExtent(mlir::func::FuncOp entry, mlir::BlockArgument argument, unsigned dim);

} // namespace ml2k

#endif
