//===- Statement.h - C++ statements, lambdas and calls --------------------------------------------------*- C++ -*-===//
//
// A statement is one of a few kinds: a new kind does not compile before use-sets and the serializer know it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_CPP_STATEMENT_H
#define ML2K_EMIT_CPP_STATEMENT_H

#include "translator/emit/cpp/Expression.h"

#include <variant>

namespace ml2k::cpp {

/// How a variable is declared.
struct Type {
  Type() = default;
  Type(Code code) : code(std::move(code)) {}
  Code code;
  BlockName block = {};      ///< that declares it
  bool isScalar = false;     ///< a number, passed by value
  bool isConst = false;      ///< the elements of a view
  bool isFixedWidth = false; ///< of <cstdint>
  bool operator==(Type const &other) const { return code == other.code; }
};

struct Statement;
using Body = std::vector<Statement>;

/// A parameter: of a lambda, it is printed without its name where nothing uses that.
struct Parameter {
  Code type;
  std::optional<Identifier> name = {};
  Raw by = " ";         ///< ` const &`
  BlockName block = {}; ///< that declares the type
  bool operator==(Parameter const &) const = default;
};

Parameter intParameter(Identifier const &name);
std::vector<Parameter> intParameters(llvm::ArrayRef<Identifier> names);

struct Let { // type const name = value;
  Type type;
  Identifier name;
  Expression value;
  bool operator==(Let const &) const = default;
};
struct Copy { // auto const name = value; of `type`, for who wants to pass it on
  Type type;
  Identifier name;
  Expression value;
  bool operator==(Copy const &) const = default;
};
struct View { // type const name(arguments);
  Type type;
  Identifier name;
  std::vector<Expression> arguments;
  bool isConst = true;
  bool operator==(View const &) const = default;
};
struct Image { // type const name{{data, extents}};
  Type type;
  Identifier name;
  Expression data;
  std::vector<Expression> extents;
  bool operator==(Image const &) const = default;
};
struct Variable { // type name[extents] = value;
  Type type;
  Identifier name;
  std::vector<int64_t> extents = {};
  std::optional<Expression> value = {};
  bool operator==(Variable const &) const = default;
};
struct Assign { // target = others = value;
  Expression target, value;
  std::vector<Expression> others = {};
  bool operator==(Assign const &) const = default;
};
struct Add { // target += value;
  Expression target, value;
  bool operator==(Add const &) const = default;
};
struct Return { // return value;
  Expression value;
  bool operator==(Return const &) const = default;
};
struct Run { // call;
  Expression call;
  bool operator==(Run const &) const = default;
};
struct If {
  Expression condition;
  Body yes, no;
  bool operator==(If const &) const = default;
};
struct For { // for (int index = begin; index < end; index += step), or down: index >= end; --index
  Identifier index;
  Expression begin, end, step;
  Body body;
  bool isLine = false; ///< without braces
  bool isDown = false;
  bool operator==(For const &) const = default;
};
struct While { // while (condition), or while (true)
  Body body;
  std::optional<Expression> condition = {};
  bool operator==(While const &) const = default;
};
struct BreakIf {
  Expression condition;
  bool operator==(BreakIf const &) const = default;
};
struct Fold { // type const name = along.fold<combiner>(length, [&](parameter) { body; return value; });
  Type type;
  Identifier name;
  Raw combiner;
  std::optional<Expression> length; ///< not of a row that knows it
  Parameter parameter;
  Body body;
  Expression value;
  bool inForm = false;                    ///< of a network inside a kernel: the combiner is an argument
  std::optional<Expression> span = {};    ///< fold_span<combiner, type>(span, ...) instead, by one thread
  std::optional<Expression> initial = {}; ///< fold_in_order<combiner, type>(span, initial, ...) instead
  bool isFirst = false;                   ///< along.first(length, ...) instead: where the value, a condition, holds
  bool operator==(Fold const &) const = default;
};
struct Each {                       // along.each(length, [&](parameter) { body });
  std::optional<Expression> length; ///< likewise
  Parameter parameter;
  Body body;
  bool operator==(Each const &) const = default;
};
struct Once { // along.once([&] { body });
  Body body;
  bool operator==(Once const &) const = default;
};
/// along.columns<combiner>(width, [&](entry, column) { body; return value; }, [&](column, sum) { store });
struct Columns {
  Raw combiner;
  Expression width;
  Parameter entry, column, sum;
  Body body;
  Expression value;
  Body store;
  bool operator==(Columns const &) const = default;
};
struct Pattern { // function(arguments, [&](parameters) { body });
  Code function;
  std::vector<Expression> arguments;
  std::vector<Parameter> parameters;
  Body body;
  BlockName block = {}; ///< that declares the function
  bool operator==(Pattern const &) const = default;
};
struct Joined { // type const name = function<combiner>(arguments, [&](parameter) { body; return value; });
  Type type;
  Identifier name;
  Raw function, combiner;
  std::vector<Expression> arguments;
  Parameter parameter;
  Body body;
  Expression value;
  BlockName block = {};
  bool operator==(Joined const &) const = default;
};
struct Simd { // a vector loop of index along a Span
  Identifier index, span;
  Body body;
  bool operator==(Simd const &) const = default;
};
struct Refuse { // if (condition) throw std::invalid_argument(message);
  Expression condition;
  std::string message;
  bool operator==(Refuse const &) const = default;
};
struct Refit { // if (condition) return forward(arguments);
  Expression condition;
  std::vector<Expression> arguments;
  bool operator==(Refit const &) const = default;
};

struct Statement {
  using Variant = std::variant<Let, Copy, View, Image, Variable, Assign, Add, Return, Run, If, For, While, BreakIf,
                               Fold, Each, Once, Columns, Pattern, Joined, Simd, Refuse, Refit>;
  template <class Kind>
    requires std::constructible_from<Variant, Kind>
  Statement(Kind kind) : node(std::move(kind)) {}
  bool operator==(Statement const &other) const { return node == other.node; }

  template <class Kind> Kind const *as() const { return std::get_if<Kind>(&node); }
  template <class Kind> Kind *as() { return std::get_if<Kind>(&node); }
  template <class Visitor> auto visit(Visitor &&visitor) const { return std::visit(visitor, node); }

  Variant node;
};

struct Lambda {
  std::vector<Parameter> parameters;
  Body body;
  Code result = {}; ///< its type, where C++ would find another one
  bool operator==(Lambda const &) const = default;
};

/// By the thread that makes the stores behind which it stands.
void addOnce(Body &to, Body statements);

/// The variable that a statement declares, if any.
Identifier const *declared(Statement const &statement);

/// Its type, if it is not that of its value.
Type const *typeOf(Statement const &statement);

/// Takes the names of parameters away that nothing uses.
void dropUnusedParameters(Lambda &lambda);

/// The bodies inside a statement.
std::vector<Body const *> bodiesOf(Statement const &statement);
std::vector<Body *> bodiesOf(Statement &statement);

/// The expressions of a statement, without those in its bodies.
std::vector<Expression const *> expressionsOf(Statement const &statement);

/// The variables that code uses and does not declare itself.
Names usesOf(Body const &body);
Names usesOf(Statement const &statement);
Names usesOf(Lambda const &lambda);

/// The statements in a body and in their bodies.
size_t countStatements(Body const &body);

/// Every statement in a body and in their bodies.
void walk(Body const &body, llvm::function_ref<void(Statement const &)> visit);

template <class... F> struct Overloaded : F... {
  using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

} // namespace ml2k::cpp

#endif
