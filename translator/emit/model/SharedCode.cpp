//===- SharedCode.cpp - what several layers do alike is printed once ----------------------------------------------===//

#include "translator/emit/model/SharedCode.h"
#include "translator/text/Text.h"

#include <unordered_map>

using namespace mlir;

namespace ml2k {

namespace {

using Layers = std::vector<cpp::Function>;

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
  Identifier fresh(std::vector<std::string> const &wanted) { return scope.fresh(wanted); }

private:
  Scope scope;
};

/// A local of a layer, or a parameter, that printed code uses: what it is called and what a call of shared code passes.
struct Capture {
  cpp::Type type;
  Identifier name;
  Expression value;
  bool operator==(Capture const &other) const { return type == other.type && name == other.name; }
};

} // namespace

/// What `used` names of the layer's locals and parameters; members are passed as such.
static std::vector<Capture> capturesOf(cpp::Function const &layer, cpp::Names const &used) {
  std::vector<Capture> captures;
  for (cpp::Statement const &local : layer.locals)
    if (Identifier const *name = declared(local); name && used.contains(*name)) {
      auto const *copy = local.as<cpp::Copy>();
      captures.push_back({*typeOf(local), *name, copy ? copy->value : cpp::name(*name)});
    }
  for (cpp::Binding const &binding : layer.bindings)
    if (used.contains(binding.name))
      captures.push_back({binding.type, binding.name, cpp::name(binding.name)});
  return captures;
}

static std::vector<Capture> lambdaCaptures(cpp::Function const &layer, ArrayRef<cpp::Lambda> lambdas) {
  cpp::Names used;
  for (cpp::Lambda const &lambda : lambdas)
    used.merge(usesOf(lambda));
  return capturesOf(layer, used);
}

static std::vector<Capture> bodyCaptures(cpp::Function const &layer) { return capturesOf(layer, usesOf(layer.call)); }

static std::vector<Expression> valuesOf(std::vector<Capture> const &captures) {
  std::vector<Expression> values;
  for (Capture const &capture : captures)
    values.push_back(capture.value);
  return values;
}

/// Takes the copies of members away that only the lambdas had used, which went.
static void dropUnusedLocals(cpp::Function &layer) {
  cpp::Names const used = usesOf(layer.call);
  std::erase_if(layer.locals, [&](cpp::Statement const &local) {
    auto const *copy = local.as<cpp::Copy>();
    return copy && !used.contains(copy->name);
  });
}

/// The layers that are alike, in order; those that cannot be shared belong nowhere.
static std::vector<std::vector<size_t>>
groupsOf(Layers const &layers, llvm::function_ref<bool(cpp::Function const &)> canShare,
         llvm::function_ref<bool(cpp::Function const &, cpp::Function const &)> areAlike) {
  std::vector<std::vector<size_t>> groups;
  std::unordered_map<size_t, std::vector<size_t>> byHash; // to groups
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!canShare(layers[i]))
      continue;
    std::vector<size_t> &candidates = byHash[hashOf(layers[i].call.lambdas)];
    auto const known =
        llvm::find_if(candidates, [&](size_t group) { return areAlike(layers[groups[group].front()], layers[i]); });
    if (known != candidates.end()) {
      groups[*known].push_back(i);
      continue;
    }
    candidates.push_back(groups.size());
    groups.push_back({i});
  }
  return groups;
}

//===--- Epilogues ------------------------------------------------------------------------------------------------===//

static cpp::Functor makeFunctor(Identifier const &name, cpp::Lambda const &lambda,
                                std::vector<Capture> const &captures) {
  cpp::Functor functor{name, {}, lambda};
  for (Capture const &capture : captures) {
    std::string const type = camelCase(capture.name.str());
    bool const isTaken = type == name.str() || namesType(lambda, Identifier(type));
    functor.members.push_back({Identifier(isTaken ? type + "Type" : type), capture.name});
  }
  return functor;
}

std::vector<cpp::Functor> shareEpilogues(Program &program, Layers &layers) {
  constexpr size_t least = 3;
  std::vector<cpp::Functor> functors;
  FileNames names(program);
  auto const namesOf = [](cpp::Function const &layer) {
    std::vector<Identifier> all;
    for (Capture const &capture : lambdaCaptures(layer, layer.call.lambdas))
      all.push_back(capture.name);
    return all;
  };
  auto const groups = groupsOf(
      layers, [](cpp::Function const &layer) { return layer.isEpilogue; },
      [&](cpp::Function const &a, cpp::Function const &b) {
        return a.call.lambdas == b.call.lambdas && namesOf(a) == namesOf(b);
      });
  for (std::vector<size_t> const &group : groups) {
    if (group.size() < least)
      continue;
    cpp::Function const &first = layers[group.front()];
    std::string const model = camelCase(first.name.str());
    std::vector<Identifier> types; // an epilogue may have another lambda in front: what it needs of a row
    if (first.call.lambdas.size() > 1)
      types.push_back(names.fresh({model + "Places"}));
    types.push_back(names.fresh({first.epilogue.empty() ? model + "Epilogue" : first.epilogue, model + "Epilogue"}));
    for (auto const &[type, lambda] : llvm::zip(types, first.call.lambdas))
      functors.push_back(makeFunctor(type, lambda, lambdaCaptures(first, lambda)));
    for (size_t i : group) {
      cpp::Function &layer = layers[i];
      for (auto const &[type, lambda] : llvm::zip(types, layer.call.lambdas))
        layer.call.arguments.push_back(cpp::braces(type, valuesOf(lambdaCaptures(layer, lambda))));
      layer.call.lambdas.clear();
      dropUnusedLocals(layer);
    }
  }
  return functors;
}

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

/// The statements that a call of the body spares, and its lambdas.
static size_t countLines(cpp::Function const &layer) {
  size_t lines = layer.call.lambdas.size();
  for (cpp::Lambda const &lambda : layer.call.lambdas)
    lines += countStatements(lambda.body);
  return lines;
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
static std::string nameOfAll(Layers const &layers, ArrayRef<size_t> group) {
  auto const wordsOf = [&](size_t layer) {
    SmallVector<StringRef> words;
    StringRef(layers[layer].modelName).split(words, '.');
    return std::vector<StringRef>(words.begin(), words.end());
  };
  std::vector<StringRef> common = wordsOf(group.front());
  for (size_t layer : group.drop_front())
    common = commonWords(common, wordsOf(layer));
  return common.empty() ? layers[group.front()].name.str() : snakeCase(llvm::join(common, "."), "layer");
}

/// A function of what `layer` works on.
static cpp::Function bodyOf(cpp::Function const &layer, Identifier const &name) {
  cpp::Function body{.name = name, .modelName = layer.modelName, .label = "label", .call = layer.call};
  body.comments = {"The kernel of " + commentText(layer.modelName, longestName) + " and of layers like it"};
  body.fixed = {{Raw("char"), Identifier(Raw("label")), " const *"},
                {Raw("ExecutionSpace"), Identifier(Raw("space")), " const &"}};
  for (Capture const &capture : bodyCaptures(layer))
    body.bindings.push_back({capture.name, capture.type});
  return body;
}

/// Whether a function of its own could run the layer: it gets neither the structs nor two labels.
static bool canShareBody(cpp::Function const &layer) {
  cpp::Names const used = usesOf(layer.call);
  return !layer.isEpilogue && !layer.call.lambdas.empty() && !used.contains(Raw("work")) &&
         !used.contains(Raw("weights")) && !used.contains(Raw("label"));
}

void shareBodies(Program &program, Layers &layers) {
  constexpr size_t leastLines = 4;
  FileNames names(program);
  auto const areAlike = [](cpp::Function const &a, cpp::Function const &b) {
    return a.call == b.call && bodyCaptures(a) == bodyCaptures(b);
  };
  std::map<size_t, cpp::Function> bodies; // by the first layer of each
  for (std::vector<size_t> const &group : groupsOf(layers, canShareBody, areAlike)) {
    cpp::Function const &first = layers[group.front()];
    if (group.size() < 2 || countLines(first) < leastLines)
      continue;
    std::string const ofFirst = first.name.str() + "_kernel";
    Identifier const name = names.fresh({nameOfAll(layers, group) + "_kernel", ofFirst, ofFirst + "_"});
    bodies.insert({group.front(), bodyOf(first, name)});
    for (size_t i : group) {
      std::vector<Expression> arguments = {cpp::name(Raw("space"))};
      llvm::append_range(arguments, valuesOf(bodyCaptures(layers[i])));
      layers[i].call = {Code(name), {}, std::move(arguments), {}};
      dropUnusedLocals(layers[i]);
    }
  }
  Layers all;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (auto const body = bodies.find(i); body != bodies.end())
      all.push_back(body->second);
    all.push_back(std::move(layers[i]));
  }
  layers = std::move(all);
}

} // namespace ml2k
