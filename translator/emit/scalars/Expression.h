//===- Expression.h - C++ expressions as text with their binding strength -------------------------------*- C++ -*-===//
//
// The text of every expression is put together here and nowhere else, so that parentheses stand where a reader or a
// compiler warning wants them and nowhere else.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_SCALARS_EXPRESSION_H
#define ML2K_EMIT_SCALARS_EXPRESSION_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <string>

namespace ml2k {

/// How tightly an operator binds; smaller binds tighter.
enum class Rank {
  Primary,
  Unary,
  Multiply,
  Add,
  Shift,
  Relation,
  Equality,
  BitAnd,
  BitXor,
  BitOr,
  And,
  Or,
  Conditional
};

struct Expression {
  std::string text;
  Rank rank = Rank::Primary;
  bool readsMemory = false; ///< must not move past a write
  /// MLIR's integers have no sign, the caller's memory has: the same bits as an unsigned value, where they were read as
  /// one.
  std::string asUnsigned = {};
  /// Halves are computed with as float: the half itself, where it was read from memory as it is.
  std::string asHalf = {};

  bool isIdentifier() const;
};

/// The text as an operand that must bind at least as tightly as `loosest`.
std::string asOperand(Expression const &operand, Rank loosest);

/// `a op b`, left-associative. Mixed shifts, bit and logical operators get the parentheses that -Wparentheses wants.
Expression binary(Expression const &a, llvm::StringRef op, Rank rank, Expression const &b);
Expression unary(llvm::StringRef op, Expression const &a);
Expression call(llvm::StringRef function, llvm::ArrayRef<Expression> arguments);
Expression conditional(Expression const &condition, Expression const &yes, Expression const &no);

/// What a store writes: its memory may be of either sign, or hold halves.
std::string storedText(Expression const &value, mlir::Type type);

/// `type(a)`.
Expression cast(llvm::StringRef type, Expression const &a);

/// How a scalar of this type is declared: float, int, std::int64_t, bool; empty if C++ has none.
std::string cppType(mlir::Type type);

/// The same, of the integer without a sign.
std::string unsignedType(mlir::Type type);

/// The type in which values of `type` are computed: float for f16 and bf16.
std::string computeType(mlir::Type type);

/// True for f16 and bf16, which are stored in their type and computed in float.
bool isStoredNarrow(mlir::Type type);

/// The shortest literal that reads back as the same value.
Expression literal(mlir::TypedAttr value);
Expression literal(int64_t value);

/// What an affine expression's dimensions and symbols are called and how far they reach.
struct IndexSpace {
  llvm::SmallVector<Expression> dims;
  llvm::SmallVector<int64_t> extents; ///< of the dims; kDynamic where unknown
  llvm::SmallVector<Expression> symbols;
};

/// Folds what the extents of the dimensions decide: `i / 28` of an i < 28 is 0, dimensions of extent 1 are 0.
mlir::AffineExpr simplify(mlir::AffineExpr expr, IndexSpace const &space);

/// `expr` in C++, simplified. Divisions round down in affine maps and truncate in C++: the printed text is right for
/// operands that are not negative, for others it calls the block floor_div or floor_mod; `blocks` collects those.
Expression indexExpression(mlir::AffineExpr expr, IndexSpace const &space,
                           llvm::function_ref<void(llvm::StringRef)> useBlock);

} // namespace ml2k

#endif
