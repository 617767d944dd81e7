//===- Serializer.cpp - the model of the generated C++ as JSON for the templates ----------------------------------===//

#include "translator/emit/cpp/Serializer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ml2k::cpp {

//===--- Expressions ----------------------------------------------------------------------------------------------===//

void Serializer::appendList(std::string &text, llvm::ArrayRef<Expression> expressions) {
  for (auto const &[i, expression] : llvm::enumerate(expressions)) {
    text += i ? ", " : "";
    append(text, expression);
  }
}

void Serializer::append(std::string &text, Expression const &expression) {
  Node const &node = *expression;
  llvm::ArrayRef<Expression> const parts = node.parts;
  auto const first = [&] { append(text, parts.front()); };
  switch (node.kind) {
  case Kind::Name:
  case Kind::Global:
  case Kind::Literal:
    text += node.code.text;
    break;
  case Kind::Member:
    first();
    text += "." + node.code.text;
    break;
  case Kind::Call:
  case Kind::Braces:
    first();
    text += node.kind == Kind::Call ? "(" : "{";
    appendList(text, parts.drop_front());
    text += node.kind == Kind::Call ? ")" : "}";
    break;
  case Kind::Index:
    first();
    for (Expression const &index : parts.drop_front()) {
      text += "[";
      append(text, index);
      text += "]";
    }
    break;
  case Kind::Unary:
    text += node.code.text;
    first();
    break;
  case Kind::Binary:
    first();
    text += " " + node.code.text + " ";
    append(text, parts.back());
    break;
  case Kind::Conditional:
    first();
    text += " ? ";
    append(text, parts[1]);
    text += " : ";
    append(text, parts[2]);
    break;
  case Kind::Parentheses:
    text += "(";
    first();
    text += ")";
    break;
  case Kind::Lambda:
    text += "[&](" + node.code.text + " " + node.name->str() + ") { return ";
    first();
    text += "; }";
    break;
  }
}

std::string Serializer::text(Expression const &expression) {
  std::string text;
  append(text, expression);
  return text;
}

std::string Serializer::list(llvm::ArrayRef<Expression> expressions) {
  std::string text;
  appendList(text, expressions);
  return text;
}

//===--- Statements -----------------------------------------------------------------------------------------------===//

std::string Serializer::text(Parameter const &parameter) {
  std::string const type = parameter.type.text, by = parameter.by.str().str();
  return parameter.name ? type + by + parameter.name->str() : by == " " ? type : type + by;
}

std::string Serializer::list(llvm::ArrayRef<Parameter> parameters) {
  return llvm::join(llvm::map_range(parameters, [](Parameter const &parameter) { return text(parameter); }), ", ");
}

Json Serializer::json(Body const &body) {
  Json list = Json::array();
  for (Statement const &statement : body)
    list.push_back(json(statement));
  return list;
}

/// `name[4][2]`
static std::string declarator(Variable const &variable) {
  std::string text = variable.name.str();
  for (int64_t extent : variable.extents)
    text += "[" + std::to_string(extent) + "]";
  return text;
}

/// `++i`, `--i`, `i += 2`
static std::string advance(For const &loop) {
  std::string const index = loop.index.str();
  if (loop.isDown)
    return "--" + index;
  return loop.step.is(1) ? "++" + index : index + " += " + Serializer::text(loop.step);
}

Json Serializer::view(Let const &s) {
  return {{"template", "statement/let"}, {"type", text(s.type.code)}, {"name", s.name.str()}, {"value", text(s.value)}};
}

Json Serializer::view(Copy const &s) {
  Json copy = {{"template", "statement/local"}};
  if (!s.type.code.empty())
    copy["type"] = text(s.type.code);
  copy.update({{"name", s.name.str()}, {"value", text(s.value)}});
  return copy;
}

Json Serializer::view(View const &s) {
  return {{"template", s.isConst ? "statement/view" : "statement/object"},
          {"type", text(s.type.code)},
          {"name", s.name.str()},
          {"arguments", list(s.arguments)}};
}

Json Serializer::view(Image const &s) {
  return {{"template", "statement/image"},
          {"type", text(s.type.code)},
          {"name", s.name.str()},
          {"data", text(s.data)},
          {"extents", list(s.extents)}};
}

Json Serializer::view(Variable const &s) {
  return {{"template", "statement/variable"},
          {"type", text(s.type.code)},
          {"name", declarator(s)},
          {"initial", s.value.has_value()},
          {"value", s.value ? text(*s.value) : ""}};
}

/// Of `target = target - value`, `target -= value`.
std::optional<Json> Serializer::update(Assign const &s) {
  if (!s.others.empty() || s.value.kind() != Kind::Binary || s.value->parts.front() != s.target ||
      s.value.rank() > Rank::BitOr || s.value.rank() == Rank::Relation || s.value.rank() == Rank::Equality)
    return {};
  Expression const &by = s.value->parts.back();
  return Json{{"template", "statement/update"},
              {"target", text(s.target)},
              {"operator", s.value->code.text + "="},
              {"value", text(by.kind() == Kind::Parentheses ? by->parts.front() : by)}};
}

Json Serializer::view(Assign const &s) {
  if (std::optional<Json> shorter = update(s))
    return *shorter;
  std::string targets = text(s.target);
  for (Expression const &other : s.others)
    targets += " = " + text(other);
  return {{"template", "statement/assign"}, {"target", targets}, {"value", text(s.value)}};
}

Json Serializer::view(Add const &s) {
  return {{"template", "statement/update"}, {"target", text(s.target)}, {"operator", "+="}, {"value", text(s.value)}};
}

Json Serializer::view(Return const &s) { return {{"template", "statement/return"}, {"value", text(s.value)}}; }

Json Serializer::view(Run const &s) { return {{"template", "statement/call"}, {"text", text(s.call)}}; }

Json Serializer::view(If const &s) {
  return {{"template", "statement/if"},
          {"condition", text(s.condition)},
          {"then", json(s.yes)},
          {"else", json(s.no)},
          {"has_else", !s.no.empty()}};
}

Json Serializer::view(For const &s) {
  return {{"template", s.isLine ? "statement/for_line" : "statement/for"},
          {"index", s.index.str()},
          {"begin", text(s.begin)},
          {"goes_on", s.isDown ? ">=" : "<"},
          {"end", text(s.end)},
          {"advance", advance(s)},
          {"statements", json(s.body)}};
}

Json Serializer::view(While const &s) {
  return {{"template", "statement/while"},
          {"condition", s.condition ? text(*s.condition) : "true"},
          {"statements", json(s.body)}};
}

Json Serializer::view(BreakIf const &s) { return {{"template", "statement/break"}, {"condition", text(s.condition)}}; }

Json Serializer::view(Fold const &s) {
  char const *const kind = s.initial   ? "statement/fold_in_order"
                           : s.span    ? "statement/fold_span"
                           : s.inForm  ? "form/fold"
                           : s.isFirst ? "statement/first"
                                       : "statement/fold";
  return {{"template", kind},
          {"span", s.span ? text(*s.span) : ""},
          {"initial", s.initial ? text(*s.initial) : ""},
          {"type", text(s.type.code)},
          {"name", s.name.str()},
          {"combiner", s.combiner.str()},
          {"has_length", s.length.has_value()},
          {"length", s.length ? text(*s.length) : ""},
          {"parameters", text(s.parameter)},
          {"statements", json(s.body)},
          {"value", text(s.value)}};
}

Json Serializer::view(Each const &s) {
  return {{"template", "statement/each"},
          {"has_length", s.length.has_value()},
          {"length", s.length ? text(*s.length) : ""},
          {"parameters", text(s.parameter)},
          {"statements", json(s.body)}};
}

Json Serializer::view(Once const &s) { return {{"template", "statement/once"}, {"statements", json(s.body)}}; }

Json Serializer::view(Columns const &s) {
  return {{"template", "statement/columns"}, {"combiner", s.combiner.str()},
          {"width", text(s.width)},          {"terms", list({s.entry, s.column})},
          {"sums", list({s.column, s.sum})}, {"statements", json(s.body)},
          {"value", text(s.value)},          {"store", json(s.store)}};
}

Json Serializer::view(Pattern const &s) {
  return {{"template", "statement/pattern"},
          {"function", text(s.function)},
          {"arguments", list(s.arguments)},
          {"parameters", list(s.parameters)},
          {"statements", json(s.body)}};
}

Json Serializer::view(Joined const &s) {
  return {{"template", "statement/joined"},  {"type", text(s.type.code)},    {"name", s.name.str()},
          {"function", s.function.str()},    {"combiner", s.combiner.str()}, {"arguments", list(s.arguments)},
          {"parameters", text(s.parameter)}, {"statements", json(s.body)},   {"value", text(s.value)}};
}

Json Serializer::view(Simd const &s) {
  return {{"template", "statement/simd"},
          {"index", s.index.str()},
          {"span", s.span.str()},
          {"block", s.body.size() > 1},
          {"statements", json(s.body)}};
}

Json Serializer::view(Refuse const &s) {
  return {{"template", "statement/refuse"}, {"condition", text(s.condition)}, {"message", s.message}};
}

Json Serializer::view(Refit const &s) {
  return {{"template", "statement/refit"}, {"condition", text(s.condition)}, {"arguments", list(s.arguments)}};
}

Json Serializer::json(Statement const &statement) {
  return statement.visit([](auto const &kind) { return view(kind); });
}

//===--- Functions ------------------------------------------------------------------------------------------------===//

/// A statement that stands in one line with its lambda.
static bool isShort(Body const &body) {
  return body.size() == 1 && (body.front().as<Return>() || body.front().as<Assign>());
}

Json Serializer::json(Lambda const &lambda) {
  bool const single = isShort(lambda.body);
  return {{"parameters", list(lambda.parameters)},
          {"result", lambda.result.empty() ? "" : " -> " + lambda.result.text},
          {"is_block", !single},
          {"single", single ? json(lambda.body) : Json::array()},
          {"statements", single ? Json::array() : json(lambda.body)}};
}

Json Serializer::json(Function const &function) {
  Json comments = Json::array(), lambdas = Json::array(), closes = Json::array();
  for (std::string const &line : function.comments)
    comments.push_back({{"text", line}});
  for (Lambda const &lambda : function.call.lambdas)
    lambdas.push_back(json(lambda));
  for (Closing const &closing : function.closings)
    closes.push_back({{"label", closing.label}, {"image", text(closing.image)}});
  std::string operands, signature = list(function.fixed);
  for (Expression const &argument : function.call.arguments)
    operands += ", " + text(argument);
  for (Binding const &binding : function.bindings) {
    std::string const by = binding.type.isScalar ? " " : " const &", type = text(binding.type.code);
    signature += ", " + type + by + binding.name.str();
  }
  return {{"locals", json(function.locals)},
          {"lambdas", lambdas},
          {"closes", closes},
          {"function", text(function.call.function)},
          {"label", function.label},
          {"operands", operands},
          {"template", "kernel/block"},
          {"comments", comments},
          {"name", function.name.str()},
          {"model_name", function.modelName},
          {"parameters", signature}};
}

Json Serializer::json(Functor const &functor) {
  Json members = Json::array();
  std::vector<std::string> types, parameters;
  for (Functor::Member const &member : functor.members) {
    members.push_back({{"type", member.type.str()}, {"name", member.name.str()}});
    types.push_back(member.type.str());
    parameters.push_back("class " + member.type.str());
  }
  Json view = json(functor.lambda);
  view.update({{"name", functor.name.str()},
               {"members", members},
               {"has_members", !members.empty()},
               {"types", llvm::join(types, ", ")},
               {"type_parameters", llvm::join(parameters, ", ")}});
  return view;
}

} // namespace ml2k::cpp
