//===- Expression.h - C++ expressions as trees ----------------------------------------------------------*- C++ -*-===//
//
// Immutable once made. Expressions know what they are made of, how tightly they bind, how wide they print and which
// names they use; parentheses are put here and nowhere else, so that they stand where a reader or a compiler warning
// wants them and nowhere else.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_CPP_EXPRESSION_H
#define ML2K_EMIT_CPP_EXPRESSION_H

#include "translator/emit/cpp/Code.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <optional>
#include <vector>

namespace ml2k::cpp {

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

enum class Kind {
  Name,        ///< of a variable
  Global,      ///< a function, type or constant that is no variable
  Literal,     ///< a number or a string
  Member,      ///< parts[0].code
  Call,        ///< parts[0](parts[1], ...)
  Braces,      ///< parts[0]{parts[1], ...}
  Index,       ///< parts[0][parts[1]]...
  Unary,       ///< code parts[0]
  Binary,      ///< parts[0] code parts[1]
  Conditional, ///< parts[0] ? parts[1] : parts[2]
  Parentheses, ///< (parts[0])
  Lambda       ///< [&](code) { return parts[0]; }, whose only parameter is `name`
};

class Expression;
struct Node;
using NodePtr = std::shared_ptr<Node const>;

/// A block of templates/block that the printed text needs; empty for none.
using BlockName = Raw;

class Expression {
public:
  Expression() = default;
  explicit Expression(Node node);

  Kind kind() const;
  Rank rank() const;
  Node const &operator*() const { return *node; }
  Node const *operator->() const { return node.get(); }
  explicit operator bool() const { return bool(node); }

  /// The value of an integer literal.
  std::optional<int64_t> constant() const;
  bool is(int64_t value) const { return constant() == value; }
  /// A name or a literal of letters and digits.
  bool isWord() const;
  /// A name or a number.
  bool isSimple() const;
  size_t width() const;

  bool operator==(Expression const &other) const;

  bool readsMemory = false; ///< must not move past a write
  /// MLIR's integers have no sign, the caller's memory has: the same bits as an unsigned value, where they were read as
  /// one.
  std::optional<Expression> unsignedForm() const;
  /// Halves are computed with as float: the half itself, where it was read from memory as it is.
  std::optional<Expression> halfForm() const;
  Expression withUnsignedForm(Expression const &form) const;
  Expression withHalfForm(Expression const &form) const;

private:
  explicit Expression(NodePtr node) : node(std::move(node)) {}
  std::optional<Expression> other(NodePtr const &form) const;
  NodePtr node, asUnsigned, asHalf;
};

struct Node {
  Kind kind;
  Rank rank = Rank::Primary;
  Code code = {}; ///< of a name, literal, operator or member
  std::vector<Expression> parts = {};
  BlockName block = {};
  Raw header = {};                      ///< that declares it
  std::optional<Identifier> name = {};  ///< of Name and Lambda
  std::optional<int64_t> constant = {}; ///< of integer literals
  bool isNumber = false;                ///< a literal that is not negative
  bool isNegative = false;              ///< begins with a minus
  bool mustRun = false;                 ///< a call that counts though nobody uses its result
  bool divides = false;                 ///< calls a function that divides
  size_t width = 0;                     ///< of the text
};

//===--- Making expressions ---------------------------------------------------------------------------------------===//

Expression name(Identifier const &name);
Expression global(Code const &code, BlockName block = {}, Raw header = {});
Expression member(Expression const &object, Code const &field);
Expression call(Expression const &callee, llvm::ArrayRef<Expression> arguments);
Expression call(Code const &function, llvm::ArrayRef<Expression> arguments, BlockName block = {});
Expression braces(Code const &type, llvm::ArrayRef<Expression> values, BlockName block = {});
Expression index(Expression const &array, llvm::ArrayRef<Expression> indices);
/// `checked_index(...)`: aborts for what is out of range, whether the result is used or not.
Expression checkedIndex(llvm::ArrayRef<Expression> arguments);
/// floor_div, floor_mod, ceil_div.
Expression division(Raw function, llvm::ArrayRef<Expression> arguments);
/// `[&](type name) { return value; }`
Expression lambda(Code const &type, Identifier const &name, Expression const &value);
/// `type(a)`.
Expression cast(Code const &type, Expression const &a);

/// `a op b`, left-associative. Mixed shifts, bit and logical operators get the parentheses that -Wparentheses wants.
Expression binary(Expression const &a, Raw op, Rank rank, Expression const &b);
Expression unary(Raw op, Expression const &a);
Expression conditional(Expression const &condition, Expression const &yes, Expression const &no);
/// As an operand that must bind at least as tightly as `loosest`: in parentheses where it does not.
Expression operand(Expression const &a, Rank loosest);
Expression parentheses(Expression const &a);

Expression literal(int64_t value);
Expression boolLiteral(bool value);
Expression floatLiteral(float value);
Expression doubleLiteral(double value);
/// `"text"`
Expression stringLiteral(llvm::StringRef text);
Expression unsignedLiteral(uint64_t value);
/// Text of ours that is a value: an infinity, the lowest integer.
Expression constant(Code const &code, Rank rank = Rank::Primary);

/// `a && b && c`; empty without any.
Expression joinAll(llvm::ArrayRef<Expression> parts, Raw op, Rank rank);

//===--- Asking
//-----------------------------------------------------------------------------------------------------===//

/// All parts, from the outside in; `visit` says whether to go into a part.
void walk(Expression const &expression, llvm::function_ref<void(Node const &)> visit);

/// The variables that it uses and does not declare itself.
void addUses(Names &names, Expression const &expression);
Names usesOf(Expression const &expression);
bool uses(Expression const &expression, Identifier const &name);

/// True if a part of it must run.
bool checks(Expression const &expression);
/// True if it divides: what is computed once if it can be.
bool divides(Expression const &expression);

/// True if `value` stands in parentheses within `expression`.
bool isOperandOf(Expression const &value, Expression const &expression);

/// `expression` with `name` for every `value` that stands in parentheses.
Expression withReplacement(Expression const &expression, Expression const &value, Expression const &name);

} // namespace ml2k::cpp

#endif
