//===- Values.h - MLIR's scalar types, constants and affine expressions as C++ --------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_SCALARS_VALUES_H
#define ML2K_EMIT_SCALARS_VALUES_H

#include "translator/emit/cpp/Statement.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <string>

namespace ml2k {

using cpp::binary;
using cpp::Body;
using cpp::call;
using cpp::Code;
using cpp::conditional;
using cpp::Expression;
using cpp::Identifier;
using cpp::literal;
using cpp::Rank;
using cpp::Raw;
using cpp::unary;

/// How a scalar of this type is declared: float, int, std::int64_t, bool; empty if C++ has none.
cpp::Type scalarType(mlir::Type type);

cpp::Type intType();

/// The same, of the unsigned integer.
cpp::Type unsignedScalarType(mlir::Type type);

/// The type in which values of `type` are computed: float for f16 and bf16.
cpp::Type computedType(mlir::Type type);

/// The same as text.
std::string cppType(mlir::Type type);
std::string unsignedType(mlir::Type type);
std::string computeType(mlir::Type type);

/// True for f16 and bf16, which are stored in their type and computed in float.
bool isStoredNarrow(mlir::Type type);

/// What a store writes: its memory may be of either sign, or hold halves.
Expression stored(Expression const &value, mlir::Type type);

/// The shortest literal that reads back as the same value.
Expression literal(mlir::TypedAttr value);

/// What an affine expression's dimensions and symbols are called and how far they reach.
struct IndexSpace {
  llvm::SmallVector<Expression> dims;
  llvm::SmallVector<int64_t> extents; ///< of the dims; kDynamic where unknown
  llvm::SmallVector<Expression> symbols;
};

/// Folds what the extents of the dimensions decide: `i / 28` of an i < 28 is 0, dimensions of extent 1 are 0.
mlir::AffineExpr simplify(mlir::AffineExpr expr, IndexSpace const &space);

/// `expr` in C++, simplified. Divisions round down in affine maps and truncate in C++: the printed text is right for
/// operands that are not negative, for others it calls the block floor_div or floor_mod.
Expression indexExpression(mlir::AffineExpr expr, IndexSpace const &space);

} // namespace ml2k

#endif
