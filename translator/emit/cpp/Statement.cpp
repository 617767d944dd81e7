//===- Statement.cpp - C++ statements, lambdas and calls ----------------------------------------------------------===//

#include "translator/emit/cpp/Statement.h"

#include "llvm/ADT/STLExtras.h"

namespace ml2k::cpp {

Parameter intParameter(Identifier const &name) { return {Raw("int"), name}; }

std::vector<Parameter> intParameters(llvm::ArrayRef<Identifier> names) {
  std::vector<Parameter> parameters;
  llvm::transform(names, std::back_inserter(parameters), intParameter);
  return parameters;
}

Identifier const *declared(Statement const &statement) {
  return statement.visit([](auto const &kind) -> Identifier const * {
    if constexpr (requires { kind.name; })
      return &kind.name;
    else
      return nullptr;
  });
}

Type const *typeOf(Statement const &statement) {
  return statement.visit([](auto const &kind) -> Type const * {
    if constexpr (requires { kind.type; })
      return &kind.type;
    else
      return nullptr;
  });
}

/// Calls `add` with every body of a kind of statement.
template <class Kind, class Add> static void forBodies(Kind &kind, Add add) {
  if constexpr (requires { kind.body; })
    add(kind.body);
  if constexpr (requires { kind.yes; }) {
    add(kind.yes);
    add(kind.no);
  }
  if constexpr (requires { kind.store; })
    add(kind.store);
}

std::vector<Body const *> bodiesOf(Statement const &statement) {
  std::vector<Body const *> bodies;
  statement.visit([&](auto const &kind) { forBodies(kind, [&](Body const &body) { bodies.push_back(&body); }); });
  return bodies;
}

std::vector<Body *> bodiesOf(Statement &statement) {
  std::vector<Body *> bodies;
  std::visit([&](auto &kind) { forBodies(kind, [&](Body &body) { bodies.push_back(&body); }); }, statement.node);
  return bodies;
}

std::vector<Expression const *> expressionsOf(Statement const &statement) {
  std::vector<Expression const *> all;
  auto const add = [&](auto const &...expressions) { (all.push_back(&expressions), ...); };
  auto const addList = [&](std::vector<Expression> const &list) {
    for (Expression const &expression : list)
      all.push_back(&expression);
  };
  auto const addOptional = [&](std::optional<Expression> const &expression) {
    if (expression)
      add(*expression);
  };
  statement.visit(Overloaded{
      [&](Let const &s) { add(s.value); },
      [&](Copy const &s) { add(s.value); },
      [&](View const &s) { addList(s.arguments); },
      [&](Image const &s) { add(s.data), addList(s.extents); },
      [&](Variable const &s) {
        if (s.value)
          add(*s.value);
      },
      [&](Assign const &s) { add(s.target, s.value), addList(s.others); },
      [&](Add const &s) { add(s.target, s.value); },
      [&](Return const &s) { add(s.value); },
      [&](Run const &s) { add(s.call); },
      [&](If const &s) { add(s.condition); },
      [&](For const &s) { add(s.begin, s.end, s.step); },
      [&](While const &s) { addOptional(s.condition); },
      [&](BreakIf const &s) { add(s.condition); },
      [&](Fold const &s) { addOptional(s.length), addOptional(s.span), addOptional(s.initial), add(s.value); },
      [&](Each const &s) { addOptional(s.length); },
      [&](Once const &) {},
      [&](Columns const &s) { add(s.width, s.value); },
      [&](Pattern const &s) { addList(s.arguments); },
      [&](Joined const &s) { addList(s.arguments), add(s.value); },
      [&](Simd const &) {},
      [&](Refuse const &s) { add(s.condition); },
      [&](Refit const &s) { add(s.condition), addList(s.arguments); }});
  return all;
}

void addOnce(Body &to, Body statements) {
  if (to.empty() || !to.back().as<Once>())
    to.push_back(Once{});
  llvm::append_range(to.back().as<Once>()->body, statements);
}

//===--- Names in use ---------------------------------------------------------------------------------------------===//

/// What a statement itself brings into the scope of its bodies.
static Names bindingsOf(Statement const &statement) {
  Names names;
  auto const add = [&](Parameter const &parameter) {
    if (parameter.name)
      names.insert(*parameter.name);
  };
  if (auto const *loop = statement.as<For>())
    names.insert(loop->index);
  if (auto const *simd = statement.as<Simd>())
    names.insert(simd->index);
  if (auto const *fold = statement.as<Fold>())
    add(fold->parameter);
  if (auto const *each = statement.as<Each>())
    add(each->parameter);
  if (auto const *columns = statement.as<Columns>())
    add(columns->entry), add(columns->column), add(columns->sum);
  if (auto const *pattern = statement.as<Pattern>())
    llvm::for_each(pattern->parameters, add);
  if (auto const *joined = statement.as<Joined>())
    add(joined->parameter);
  return names;
}

/// Variables that a statement uses without an expression.
static Names silentUses(Statement const &statement) {
  if (auto const *simd = statement.as<Simd>())
    return {simd->span};
  auto const *fold = statement.as<Fold>();
  bool const isAlong = (fold && !fold->span) || statement.as<Each>() || statement.as<Once>() || statement.as<Columns>();
  return isAlong ? Names{Raw("along")} : Names();
}

/// What the first lambda of a statement returns.
static Expression const *valueBehind(Statement const &statement) {
  if (auto const *columns = statement.as<Columns>())
    return &columns->value;
  if (auto const *joined = statement.as<Joined>())
    return &joined->value;
  auto const *fold = statement.as<Fold>();
  return fold ? &fold->value : nullptr;
}

/// Takes what a body declares out of `names`, which those behind it use, and adds what it uses.
static void addBefore(Names &names, Body const &body) {
  for (Statement const &statement : llvm::reverse(body)) {
    if (Identifier const *name = declared(statement))
      names.erase(*name);
    Names own = usesOf(statement);
    names.merge(own);
  }
}

Names usesOf(Body const &body) {
  Names names;
  addBefore(names, body);
  return names;
}

Names usesOf(Statement const &statement) {
  Names names = silentUses(statement), bound = bindingsOf(statement);
  Expression const *value = valueBehind(statement);
  for (Body const *body : bodiesOf(statement)) {
    Names inner;
    if (value)
      addUses(inner, *value); // in the scope of the first body
    value = nullptr;
    addBefore(inner, *body);
    for (Identifier const &name : bound)
      inner.erase(name);
    names.merge(inner);
  }
  for (Expression const *expression : expressionsOf(statement))
    if (expression != valueBehind(statement))
      addUses(names, *expression);
  return names;
}

Names usesOf(Lambda const &lambda) {
  Names names = usesOf(lambda.body);
  for (Parameter const &parameter : lambda.parameters)
    if (parameter.name)
      names.erase(*parameter.name);
  return names;
}

static void dropUnused(Parameter &parameter, Names const &used) {
  if (parameter.name && !used.contains(*parameter.name))
    parameter.name.reset();
}

static void dropUnusedParameters(Body &body) {
  for (Statement &statement : body) {
    if (auto *fold = statement.as<Fold>()) {
      Names used = usesOf(fold->body);
      addUses(used, fold->value);
      dropUnused(fold->parameter, used);
    }
    if (auto *each = statement.as<Each>())
      dropUnused(each->parameter, usesOf(each->body));
    if (auto *pattern = statement.as<Pattern>())
      for (Parameter &parameter : pattern->parameters)
        dropUnused(parameter, usesOf(pattern->body));
    for (Body *inner : bodiesOf(statement))
      dropUnusedParameters(*inner);
  }
}

void dropUnusedParameters(Lambda &lambda) {
  dropUnusedParameters(lambda.body);
  Names const used = usesOf(lambda.body);
  for (Parameter &parameter : lambda.parameters)
    dropUnused(parameter, used);
}

void walk(Body const &body, llvm::function_ref<void(Statement const &)> visit) {
  for (Statement const &statement : body) {
    visit(statement);
    for (Body const *inner : bodiesOf(statement))
      walk(*inner, visit);
  }
}

size_t countStatements(Body const &body) {
  size_t count = 0;
  walk(body, [&](Statement const &) { ++count; });
  return count;
}

} // namespace ml2k::cpp
