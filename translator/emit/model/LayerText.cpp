//===- LayerText.cpp - the view model of a layer function ---------------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/emit/model/Layer.h"
#include "translator/emit/model/SharedCode.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

#include <set>
#include <tuple>

using namespace mlir;

namespace ml2k {

void Layer::setCall(std::string function, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"", "space"});
  call = {{"function", std::move(function)}, {"label", label()}, {"operands", llvm::join(arguments, ", ")}};
}

void Layer::setPolicyCall(std::string function, std::string const &policy) {
  call = {{"function", std::move(function)}, {"label", label()}, {"operands", ", " + policy}};
}

/// A statement that stands in one line with its lambda.
static bool isShort(Json const &statement) {
  return statement["template"] == "statement/return" || statement["template"] == "statement/assign";
}

/// A position among one element is not used, but checked all the same.
static void dropUnusedNames(Json &statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    Json &statement = statements[i];
    if (statement.contains("statements"))
      dropUnusedNames(statement["statements"]);
    if (statement.at("template") != "statement/let" ||
        !StringRef(statement["value"].get_ref<std::string const &>()).starts_with("checked_index("))
      continue;
    Json const rest(Json::array_t(statements.begin() + i + 1, statements.end()));
    if (!mentions(rest, statement["name"].get<std::string>()))
      statement = {{"template", "statement/call"}, {"text", statement["value"]}};
  }
}

void Layer::addLambda(std::string parameters, Json statements, std::string const &result) {
  dropUnusedNames(statements);
  Json none = Json::array();
  bool const single = statements.size() == 1 && isShort(statements[0]);
  lambdas.push_back({{"parameters", std::move(parameters)},
                     {"result", result.empty() ? "" : " -> " + result},
                     {"is_block", !single},
                     {"single", single ? statements : none},
                     {"statements", single ? none : statements}});
}

void Layer::nameEpilogue(Block &block) {
  isEpilogue = true;
  epilogue = epilogueName(block, program.biasedSum(kernel));
}

void Layer::nameUnchanged(std::vector<std::string> &arguments) {
  Json const &epilogue = lambdas.back();
  if (epilogue["is_block"] || epilogue["single"][0]["template"] != "statement/return")
    return;
  StringRef const value = epilogue["single"][0]["value"].get_ref<std::string const &>();
  StringRef const sum = StringRef(epilogue["parameters"].get_ref<std::string const &>()).split(',').first;
  if (!sum.ends_with((" " + value).str()))
    return;
  arguments.push_back("Unchanged{}");
  program.useBlock("unchanged");
  lambdas.erase(lambdas.size() - 1);
  isEpilogue = false;
}

std::string Layer::described(Value memref) {
  auto const usedInCode = std::pair(hostNames, used); // a comment needs no parameter
  Storage const *storage = program.storageOf(memref);
  std::string name = storage->name;
  if (storage->kind == StorageKind::Weight) { // as the code of the layer calls it
    auto const known = localOf.find(storage->value);
    name = known == localOf.end() ? localNames(*storage).front() : known->second;
  }
  std::string text = name + "[";
  auto const type = cast<MemRefType>(memref.getType());
  for (unsigned d = 0; d < unsigned(type.getRank()); ++d)
    text += (d ? "," : "") + extent(memref, d).text;
  std::tie(hostNames, used) = usedInCode;
  return text + "]";
}

void Layer::addSplit(std::vector<std::string> &arguments, Type scalar) {
  if (program.options.target == Target::Host)
    return;
  usesWork = true;
  program.useBlock("split_sums");
  program.splits[computeType(scalar)] = scalar.isF64() ? "split_double"
                                        : isa<FloatType>(scalar)
                                            ? "split"
                                            : "split_int" + std::to_string(scalar.getIntOrFloatBitWidth());
  arguments.push_back("work." + program.splits[computeType(scalar)]);
}

std::string Layer::winograd(int64_t share) {
  usesWork = true;
  program.winogradShare = std::max(program.winogradShare, share);
  return "work.winograd";
}

/// The nodes of the model that this kernel computes, in their order.
static void collectNodes(Location location, SmallVectorImpl<StringRef> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (!llvm::is_contained(nodes, name.getName().getValue()))
      nodes.push_back(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectNodes(part, nodes);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectNodes(call.getCallee(), nodes);
  }
}

constexpr size_t widestComment = 117; // of 120 columns

/// Breaks text at spaces: a comment that clang-format had to break would run into the line behind it.
static void addLines(Json &comments, StringRef text) {
  std::string line;
  while (!text.empty()) {
    auto const [word, rest] = text.split(' ');
    if (!line.empty() && line.size() + 1 + word.size() > widestComment) {
      comments.push_back({{"text", line}});
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word.str();
    text = rest;
  }
  comments.push_back({{"text", line}});
}

/// What the kernel computes: its name and the nodes of the model.
Json Layer::provenance() const {
  StringRef const label = nest::labelOf(kernel);
  SmallVector<StringRef> nodes;
  if (program.options.locations != LocationStyle::None)
    collectNodes(kernel->getLoc(), nodes);
  llvm::erase(nodes, label);
  std::string text = "--- " + commentText(label, longestName);
  StringRef separator = ": ";
  for (StringRef node : nodes) {
    StringRef const shown = program.options.locations == LocationStyle::Plain ? node.split(' ').first : node;
    text += separator.str() + commentText(shown, longestName);
    separator = " + ";
  }
  Json lines = Json::array();
  addLines(lines, text);
  return lines;
}

bool Layer::uses(StorageKind kind) const {
  return llvm::any_of(used, [&](Storage const *storage) { return storage->kind == kind; });
}

std::string Layer::functionName() const { return program.functions.lookup(nest::labelOf(kernel)); }

/// The model's arguments and host values that the layer uses.
Json Layer::parameters() const {
  Json list = Json::array();
  for (auto const *storages : {&program.arguments, &program.exchanged})
    for (Storage const &storage : *storages)
      if (llvm::is_contained(used, &storage))
        list.push_back({{"type", storage.alias}, {"by", " const &"}, {"name", storage.name}});
  for (std::string const &name : hostNames)
    list.push_back({{"type", program.scalarType(name)}, {"by", " "}, {"name", name}});
  return list;
}

/// Parameters and, for the call, arguments: space, the structs in use, what parameters() lists.
std::string Layer::signature(bool declare) const {
  std::string text = declare ? "ExecutionSpace const &space" : "space";
  auto const add = [&](StringRef type, StringRef name) { text += ", " + (declare ? type + name : name).str(); };
  if (uses(StorageKind::Weight))
    add("Weights const &", "weights");
  if (uses(StorageKind::Buffer) || usesWork)
    add("Workspace const &", "work");
  for (Json const &parameter : parameters())
    add(parameter["type"].get<std::string>() + parameter["by"].get<std::string>(),
        parameter["name"].get_ref<std::string const &>());
  return text;
}

std::string Layer::invocation() const { return functionName() + "(" + signature(false) + ")"; }

/// Kernels behind this one that close the borders of its images.
Json Layer::borders() {
  Json closes = Json::array();
  auto outputs = dyn_cast<DestinationStyleOpInterface>(kernel);
  if (!outputs || closesBorders)
    return closes;
  std::set<Storage const *> closed;
  for (Value output : outputs.getDpsInits()) {
    Storage const *storage = program.storageOf(output);
    if (!storage || !storage->isImage || !(storage->border[0] || storage->border[1]) || !closed.insert(storage).second)
      continue;
    program.useBlock("close_border");
    std::string const name = StringRef(label()).drop_back().str() + ".border\"";
    closes.push_back({{"label", name}, {"image", member(*storage)}});
  }
  return closes;
}

/// Not every block asks for the sizes of all loops.
void Layer::dropUnusedSizes() {
  Json behind = {call, lambdas};
  for (size_t i = locals.size(); i-- > 0;)
    if (locals[i]["template"] == "statement/let" && !mentions(behind, locals[i]["name"].get_ref<std::string const &>()))
      locals.erase(i);
    else
      behind.push_back(locals[i]);
}

Json Layer::finish(StringRef shapes) {
  Json comments = provenance();
  addLines(comments, shapes);
  dropUnusedSizes();
  Json layer = {{"locals", locals}, {"lambdas", lambdas}, {"closes", borders()}};
  layer.update(call);
  // What was read and folded away since, as the only position along an axis, is no parameter
  llvm::erase_if(used, [&](Storage const *storage) {
    return storage->kind == StorageKind::Argument && !mentions(layer, storage->name);
  });
  layer.update({{"template", "kernel/block"},
                {"comments", comments},
                {"name", functionName()},
                {"model_name", validUtf8(nest::labelOf(kernel))},
                {"parameters", signature(true)},
                {"captures", parameters()},
                {"is_epilogue", isEpilogue},
                {"epilogue", epilogue}});
  return layer;
}

} // namespace ml2k
