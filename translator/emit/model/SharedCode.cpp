//===- SharedCode.cpp - what several layers do alike is printed once ----------------------------------------------===//

#include "translator/emit/model/SharedCode.h"
#include "translator/emit/kernels/KernelParts.h"
#include "translator/text/Text.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Names of functions and types of the file.
class FileNames {
public:
  explicit FileNames(Program &program) : scope(&program.fileScope) {
    for (auto const &function : program.functions)
      scope.take(function.second);
    for (auto const *storages : {&program.arguments, &program.exchanged})
      for (Storage const &storage : *storages)
        scope.take(storage.alias);
  }
  std::string fresh(std::vector<std::string> const &wanted) { return scope.fresh(wanted); }

private:
  Scope scope;
};

/// A local of a layer, or a parameter, that printed code uses: what it is called and what a call of shared code passes.
struct Capture {
  std::string type, name, value;
};

} // namespace

static bool isMember(Json const &local) { return local["template"] == "statement/local"; }

/// What `code` of the layer uses of the layer's locals and parameters; members are passed as such.
static std::vector<Capture> capturesOf(Json const &layer, Json const &code) {
  std::vector<Capture> captures;
  for (Json const &local : layer["locals"])
    if (std::string const name = local["name"]; mentions(code, name))
      captures.push_back({local["type"], name, isMember(local) ? local["value"].get<std::string>() : name});
  for (Json const &parameter : layer["captures"])
    if (std::string const name = parameter["name"]; mentions(code, name))
      captures.push_back({parameter["type"], name, name});
  return captures;
}

/// Takes the copies of members away that only the lambdas had used, which went.
static void dropUnusedLocals(Json &layer) {
  Json &locals = layer["locals"];
  for (size_t i = locals.size(); i-- > 0;) {
    std::string const name = locals[i]["name"];
    if (isMember(locals[i]) && !mentions(layer["operands"], name))
      locals.erase(i);
  }
}

/// The layers whose keys are equal, in order; those with an empty key belong nowhere.
static std::vector<std::vector<size_t>> groupsOf(Json const &layers,
                                                 llvm::function_ref<std::string(Json const &)> keyOf) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> byKey;
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string const key = keyOf(layers[i]);
    if (key.empty())
      continue;
    auto const [found, isNew] = byKey.insert({key, groups.size()});
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

//===--- Epilogues ------------------------------------------------------------------------------------------------===//

static Json viewFunctor(std::string const &name, Json const &lambda, std::vector<Capture> const &captures) {
  Json members = Json::array();
  std::vector<std::string> types, parameters;
  for (Capture const &capture : captures) {
    std::string type = camelCase(capture.name);
    if (type == name || mentions(lambda, type))
      type += "Type";
    members.push_back({{"type", type}, {"name", capture.name}});
    types.push_back(type);
    parameters.push_back("class " + type);
  }
  Json functor = lambda;
  functor.update({{"name", name},
                  {"members", members},
                  {"has_members", !members.empty()},
                  {"types", llvm::join(types, ", ")},
                  {"type_parameters", llvm::join(parameters, ", ")}});
  return functor;
}

Json shareEpilogues(Program &program, Json &layers) {
  constexpr size_t least = 3;
  Json functors = Json::array();
  FileNames names(program);
  auto const keyOf = [](Json const &layer) {
    std::string key;
    if (!layer["is_epilogue"])
      return key;
    key = layer["lambdas"].dump();
    for (Capture const &capture : capturesOf(layer, layer["lambdas"]))
      key += "; " + capture.name;
    return key;
  };
  for (std::vector<size_t> const &group : groupsOf(layers, keyOf)) {
    if (group.size() < least)
      continue;
    Json const &first = layers[group.front()];
    std::string const ofFirst = camelCase(first["name"].get<std::string>()) + "Epilogue";
    std::string const wanted = first["epilogue"];
    std::string const name = names.fresh({wanted.empty() ? ofFirst : wanted, ofFirst});
    functors.push_back(viewFunctor(name, first["lambdas"][0], capturesOf(first, first["lambdas"])));
    for (size_t i : group) {
      Json &layer = layers[i];
      std::vector<std::string> values;
      for (Capture const &capture : capturesOf(layer, layer["lambdas"]))
        values.push_back(capture.value);
      layer["lambdas"] = Json::array();
      layer["operands"] = layer["operands"].get<std::string>() + ", " + name + "{" + llvm::join(values, ", ") + "}";
      dropUnusedLocals(layer);
    }
  }
  return functors;
}

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

static size_t countLines(Json const &part) {
  size_t lines = 0;
  if (part.is_object())
    lines += part.contains("template");
  if (part.is_structured())
    for (Json const &inner : part)
      lines += countLines(inner);
  return lines;
}

/// `type name` and `value` of each, separated by commas.
static std::pair<std::string, std::string> parametersOf(std::vector<Capture> const &captures) {
  std::string parameters, arguments;
  for (Capture const &capture : captures) {
    bool const isNumber = !StringRef(capture.type).contains('<') && !llvm::isUpper(capture.type.front());
    parameters += ", " + capture.type + (isNumber ? " " : " const &") + capture.name;
    arguments += ", " + capture.value;
  }
  return {parameters, arguments};
}

static std::vector<Capture> bodyCaptures(Json const &layer) {
  return capturesOf(layer, {layer["lambdas"], layer["operands"]});
}

/// The longest list of words that both have in this order.
static std::vector<StringRef> commonWords(ArrayRef<StringRef> a, ArrayRef<StringRef> b) {
  std::vector<std::vector<size_t>> length(a.size() + 1, std::vector<size_t>(b.size() + 1, 0)); // from here to the ends
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      length[i][j] = a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
  std::vector<StringRef> common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();)
    if (a[i] == b[j])
      common.push_back(a[i++]), ++j;
    else
      length[i + 1][j] >= length[i][j + 1] ? ++i : ++j;
  return common;
}

/// What the names of layers have in common: layer.attention.softmax of layer.0.attention.softmax and its likes. Names
/// that share nothing are called after the first.
static std::string nameOfAll(Json const &layers, ArrayRef<size_t> group) {
  auto const wordsOf = [&](size_t layer) {
    SmallVector<StringRef> words;
    StringRef(layers[layer]["model_name"].get_ref<std::string const &>()).split(words, '.');
    return std::vector<StringRef>(words.begin(), words.end());
  };
  std::vector<StringRef> common = wordsOf(group.front());
  for (size_t layer : group.drop_front())
    common = commonWords(common, wordsOf(layer));
  return common.empty() ? layers[group.front()]["name"].get<std::string>()
                        : snakeCase(llvm::join(common, "."), "layer");
}

void shareBodies(Program &program, Json &layers) {
  constexpr size_t leastLines = 4;
  FileNames names(program);
  auto const keyOf = [](Json const &layer) -> std::string {
    if (layer["is_epilogue"] || layer["lambdas"].empty() || mentions(layer["operands"], "work") ||
        mentions(layer["operands"], "weights") || mentions(layer["operands"], "label") ||
        mentions(layer["lambdas"], "label"))
      return "";
    return layer["function"].get<std::string>() + layer["operands"].get<std::string>() + layer["lambdas"].dump() +
           parametersOf(bodyCaptures(layer)).first;
  };
  std::map<size_t, Json> bodies; // by the first layer of each
  for (std::vector<size_t> const &group : groupsOf(layers, keyOf)) {
    Json body = layers[group.front()];
    if (group.size() < 2 || body["lambdas"].size() + countLines(body["lambdas"]) < leastLines)
      continue;
    std::string const ofFirst = body["name"].get<std::string>() + "_kernel";
    std::string const name = names.fresh({nameOfAll(layers, group) + "_kernel", ofFirst, ofFirst + "_"});
    std::string const text =
        "What " + commentText(body["model_name"].get<std::string>(), longestName) + " and layers like it run";
    body.update(
        {{"comments", Json::array({{{"text", text}}})},
         {"name", name},
         {"parameters", "char const *label, ExecutionSpace const &space" + parametersOf(bodyCaptures(body)).first},
         {"label", "label"},
         {"locals", Json::array()},
         {"closes", Json::array()}});
    bodies[group.front()] = body;
    for (size_t i : group) {
      Json &layer = layers[i];
      std::string const arguments = parametersOf(bodyCaptures(layer)).second;
      layer.update({{"function", name}, {"operands", ", space" + arguments}, {"lambdas", Json::array()}});
      dropUnusedLocals(layer);
    }
  }
  Json all = Json::array();
  for (size_t i = 0; i < layers.size(); ++i) {
    if (auto const body = bodies.find(i); body != bodies.end())
      all.push_back(body->second);
    all.push_back(layers[i]);
  }
  layers = std::move(all);
}

} // namespace ml2k
