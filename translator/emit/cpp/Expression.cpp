//===- Expression.cpp - C++ expressions as trees ------------------------------------------------------------------===//

#include "translator/emit/cpp/Expression.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

namespace ml2k::cpp {

/// How wide the text of a node is: of its parts and what stands between them.
static size_t widthOf(Node const &node) {
  size_t width = node.code.width();
  for (Expression const &part : node.parts)
    width += part.width();
  size_t const arguments = node.parts.size() > 1 ? node.parts.size() - 1 : 0;
  size_t const commas = arguments > 1 ? 2 * (arguments - 1) : 0;
  switch (node.kind) {
  case Kind::Member:
    return width + 1;
  case Kind::Call:
  case Kind::Braces:
    return width + 2 + commas;
  case Kind::Index:
    return width + 2 * arguments;
  case Kind::Binary:
  case Kind::Parentheses:
    return width + 2;
  case Kind::Conditional:
    return width + 6;
  case Kind::Lambda:
    return width + node.name->str().size() + sizeof("[&]( ) { return ; }") - 1;
  default:
    return width;
  }
}

Expression::Expression(Node node) {
  for (Expression const &part : node.parts)
    readsMemory |= part.readsMemory;
  node.width = widthOf(node);
  this->node = std::make_shared<Node const>(std::move(node));
}

Kind Expression::kind() const { return node->kind; }
Rank Expression::rank() const { return node->rank; }
size_t Expression::width() const { return node->width; }
std::optional<int64_t> Expression::constant() const { return node->constant; }
bool Expression::isSimple() const { return node->kind == Kind::Name || node->isNumber; }

bool Expression::isWord() const {
  return node->kind == Kind::Name || (node->kind == Kind::Literal && node->constant && !node->isNegative);
}

bool Expression::operator==(Expression const &other) const {
  return node == other.node || (node->kind == other->kind && node->code == other->code && node->parts == other->parts &&
                                node->name == other->name);
}

std::optional<Expression> Expression::other(NodePtr const &form) const {
  if (!form)
    return std::nullopt;
  Expression expression(form);
  expression.readsMemory = readsMemory;
  return expression;
}

std::optional<Expression> Expression::unsignedForm() const { return other(asUnsigned); }
std::optional<Expression> Expression::halfForm() const { return other(asHalf); }

Expression Expression::withUnsignedForm(Expression const &form) const {
  Expression copy = *this;
  copy.asUnsigned = form.node;
  return copy;
}

Expression Expression::withHalfForm(Expression const &form) const {
  Expression copy = *this;
  copy.asHalf = form.node;
  return copy;
}

//===--- Making expressions ---------------------------------------------------------------------------------------===//

Expression name(Identifier const &name) { return Expression(Node{.kind = Kind::Name, .code = name, .name = name}); }

Expression global(Code const &code, BlockName block, Raw header) {
  return Expression(Node{.kind = Kind::Global, .code = code, .block = block, .header = header});
}

Expression member(Expression const &object, Code const &field) {
  return Expression(Node{.kind = Kind::Member, .code = field, .parts = {object}});
}

static std::vector<Expression> withFirst(Expression const &first, llvm::ArrayRef<Expression> others) {
  std::vector<Expression> all = {first};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Expression call(Expression const &callee, llvm::ArrayRef<Expression> arguments) {
  return Expression(Node{.kind = Kind::Call, .parts = withFirst(callee, arguments)});
}

Expression call(Code const &function, llvm::ArrayRef<Expression> arguments, BlockName block) {
  return call(global(function, block), arguments);
}

Expression braces(Code const &type, llvm::ArrayRef<Expression> values, BlockName block) {
  return Expression(Node{.kind = Kind::Braces, .parts = withFirst(global(type, block), values)});
}

Expression index(Expression const &array, llvm::ArrayRef<Expression> indices) {
  return Expression(Node{.kind = Kind::Index, .parts = withFirst(array, indices)});
}

Expression checkedIndex(llvm::ArrayRef<Expression> arguments) {
  return Expression(Node{.kind = Kind::Call,
                         .parts = withFirst(global(Raw("checked_index"), "checked_index"), arguments),
                         .mustRun = true});
}

Expression division(Raw function, llvm::ArrayRef<Expression> arguments) {
  return Expression(
      Node{.kind = Kind::Call, .parts = withFirst(global(function, "division"), arguments), .divides = true});
}

Expression lambda(Code const &type, Identifier const &name, Expression const &value) {
  return Expression(Node{.kind = Kind::Lambda, .code = type, .parts = {value}, .name = name});
}

Expression cast(Code const &type, Expression const &a) { return call(type, {a}); }

Expression parentheses(Expression const &a) { return Expression(Node{.kind = Kind::Parentheses, .parts = {a}}); }

Expression operand(Expression const &a, Rank loosest) { return a.rank() <= loosest ? a : parentheses(a); }

/// Whether gcc or clang ask for parentheses around an operand of rank `inner` within an operator of rank `outer`.
static bool wantsParentheses(Rank outer, Rank inner) {
  bool const bits = outer == Rank::Shift || outer == Rank::BitAnd || outer == Rank::BitXor || outer == Rank::BitOr;
  if (bits)
    return inner > Rank::Unary && inner != outer;
  bool const comparisons = outer == Rank::Relation || outer == Rank::Equality;
  return (outer == Rank::Or && inner == Rank::And) ||
         (comparisons && (inner == Rank::Relation || inner == Rank::Equality));
}

/// `3` of `-3`.
static std::optional<Expression> negatedLiteral(Expression const &a) {
  bool const isNegative = a.kind() == Kind::Literal && a->constant && *a->constant < 0;
  return isNegative ? std::optional(literal(-*a->constant)) : std::nullopt;
}

/// `j * 2` of `j * -2`, `x / 2.0` of `-x / 2.0`, `x` of `-x`.
static std::optional<Expression> negatedProduct(Expression const &a) {
  if (a.kind() == Kind::Unary)
    return a->code == Code(Raw("-")) ? std::optional(a->parts[0]) : std::nullopt;
  bool const isProduct = a.kind() == Kind::Binary && a->code == Code(Raw("*"));
  if (!isProduct && !(a.kind() == Kind::Binary && a->code == Code(Raw("/"))))
    return std::nullopt;
  Raw const op = isProduct ? Raw("*") : Raw("/");
  std::optional<Expression> const factor = isProduct ? negatedLiteral(a->parts[1]) : std::nullopt;
  if (factor)
    return binary(a->parts[0], op, Rank::Multiply, *factor);
  if (a->parts[0].kind() == Kind::Unary && a->parts[0]->code == Code(Raw("-")))
    return binary(a->parts[0]->parts[0], op, Rank::Multiply, a->parts[1]);
  return std::nullopt;
}

/// `a - 3`, not `a + -3`; `9 - a * 2`, not `a * -2 + 9`.
static std::optional<Expression> withoutSigns(Expression const &a, bool isSum, Expression const &b) {
  std::optional<Expression> const negated = negatedLiteral(b), product = negatedProduct(b), first = negatedProduct(a);
  if (isSum && first && a.kind() == Kind::Binary && negatedLiteral(a->parts[1]) && !negated && !product)
    return binary(b, "-", Rank::Add, *first);
  if (std::optional<Expression> const positive = negated ? negated : product)
    return binary(a, isSum ? Raw("-") : Raw("+"), Rank::Add, *positive);
  return std::nullopt;
}

Expression binary(Expression const &a, Raw op, Rank rank, Expression const &b) {
  if (rank == Rank::Add)
    if (std::optional<Expression> const plain = withoutSigns(a, op == Raw("+"), b))
      return *plain;
  bool const associates = rank == Rank::And || rank == Rank::Or || rank == Rank::BitAnd || rank == Rank::BitOr;
  Rank const tighter = rank == Rank::Primary ? rank : Rank(int(rank) - 1);
  Expression const left = wantsParentheses(rank, a.rank()) ? parentheses(a) : operand(a, rank);
  Expression const right = wantsParentheses(rank, b.rank()) ? parentheses(b) : operand(b, associates ? rank : tighter);
  return Expression(Node{.kind = Kind::Binary, .rank = rank, .code = op, .parts = {left, right}});
}

Expression unary(Raw op, Expression const &a) {
  bool const isMinus = op == Raw("-");
  Expression const inner = isMinus && a->isNegative ? parentheses(a) : operand(a, Rank::Unary);
  return Expression(
      Node{.kind = Kind::Unary, .rank = Rank::Unary, .code = op, .parts = {inner}, .isNegative = isMinus});
}

Expression conditional(Expression const &condition, Expression const &yes, Expression const &no) {
  return Expression(
      Node{.kind = Kind::Conditional,
           .rank = Rank::Conditional,
           .parts = {operand(condition, Rank::Or), operand(yes, Rank::Or), operand(no, Rank::Conditional)}});
}

/// Of a number as it is written.
static Node number(Code const &code, bool isNegative, std::optional<int64_t> constant = {}) {
  return Node{.kind = Kind::Literal,
              .rank = isNegative ? Rank::Unary : Rank::Primary,
              .code = code,
              .constant = constant,
              .isNumber = !isNegative,
              .isNegative = isNegative};
}

Expression literal(int64_t value) { return Expression(number(Code(value), value < 0, value)); }
Expression boolLiteral(bool value) { return Expression(number(value ? Raw("true") : Raw("false"), false, value)); }
Expression floatLiteral(float value) { return Expression(number(Code::floatLiteral(value), std::signbit(value))); }
Expression doubleLiteral(double value) { return Expression(number(Code::doubleLiteral(value), std::signbit(value))); }

Expression unsignedLiteral(uint64_t value) {
  std::optional<int64_t> const constant =
      value <= uint64_t(std::numeric_limits<int64_t>::max()) ? std::optional<int64_t>(value) : std::nullopt;
  return Expression(number(Code::integerLiteral(value) + Raw("u"), false, constant));
}

Expression stringLiteral(llvm::StringRef text) { return constant(Code::quoted(text)); }

Expression constant(Code const &code, Rank rank) {
  return Expression(Node{.kind = Kind::Literal, .rank = rank, .code = code, .isNegative = rank == Rank::Unary});
}

Expression joinAll(llvm::ArrayRef<Expression> parts, Raw op, Rank rank) {
  Expression all;
  for (Expression const &part : parts)
    all = all ? binary(all, op, rank, part) : part;
  return all;
}

//===--- Asking
//-----------------------------------------------------------------------------------------------------===//

void walk(Expression const &expression, llvm::function_ref<void(Node const &)> visit) {
  visit(*expression);
  for (Expression const &part : expression->parts)
    walk(part, visit);
}

void addUses(Names &names, Expression const &expression) {
  if (expression.kind() == Kind::Name)
    names.insert(*expression->name);
  if (expression.kind() != Kind::Lambda) {
    for (Expression const &part : expression->parts)
      addUses(names, part);
    return;
  }
  Names inner = usesOf(expression->parts.front());
  inner.erase(*expression->name);
  names.merge(inner);
}

Names usesOf(Expression const &expression) {
  Names names;
  addUses(names, expression);
  return names;
}

bool uses(Expression const &expression, Identifier const &name) { return usesOf(expression).contains(name); }

bool checks(Expression const &expression) {
  bool found = false;
  walk(expression, [&](Node const &node) { found |= node.mustRun; });
  return found;
}

bool divides(Expression const &expression) {
  bool found = false;
  walk(expression, [&](Node const &node) {
    found |= node.divides || (node.kind == Kind::Binary && (node.code == Raw("/") || node.code == Raw("%")));
  });
  return found;
}

bool isOperandOf(Expression const &value, Expression const &expression) {
  bool found = false;
  walk(expression, [&](Node const &node) { found |= node.kind == Kind::Parentheses && node.parts.front() == value; });
  return found;
}

Expression withReplacement(Expression const &expression, Expression const &value, Expression const &name) {
  if (!isOperandOf(value, expression))
    return expression;
  Node copy = *expression;
  if (copy.kind == Kind::Parentheses && copy.parts.front() == value)
    return name;
  for (Expression &part : copy.parts)
    part = withReplacement(part, value, name);
  return Expression(std::move(copy));
}

} // namespace ml2k::cpp
