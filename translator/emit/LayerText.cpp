//===- LayerText.cpp - the view model of a layer function ---------------------------------------------------*- C++ -*-===//

#include "translator/emit/Layer.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

#include <tuple>

using namespace mlir;

namespace ml2k {

void Layer::setCall(std::string function, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {label(), "space"});
  call = {{"function", std::move(function)}, {"arguments", llvm::join(arguments, ", ")}};
}

void Layer::setPolicyCall(std::string function, std::string const &policy) {
  call = {{"function", std::move(function)}, {"arguments", label() + ", " + policy}};
}

/// A statement that stands in one line with its lambda.
static bool isShort(Json const &statement) {
  return statement["template"] == "statement/return" || statement["template"] == "statement/assign";
}

void Layer::addLambda(std::string parameters, Json statements) {
  Json none = Json::array();
  bool const single = statements.size() == 1 && isShort(statements[0]);
  lambdas.push_back({{"parameters", std::move(parameters)},
                     {"is_block", !single},
                     {"single", single ? statements : none},
                     {"statements", single ? none : statements}});
}

std::string Layer::described(Value memref) {
  auto const usedInCode = std::pair(hostNames, used); // a comment needs no parameter
  Storage const *storage = program.storageOf(memref);
  std::string text = storage->name + "[";
  auto const type = cast<MemRefType>(memref.getType());
  for (unsigned d = 0; d < unsigned(type.getRank()); ++d)
    text += (d ? "," : "") + extent(memref, d).text;
  std::tie(hostNames, used) = usedInCode;
  return text + "]";
}

std::string Layer::split(Type scalar) {
  usesWork = true;
  program.useBlock("split_sums");
  program.splits[computeType(scalar)] = scalar.isF64() ? "split_double" : "split";
  return "work." + program.splits[computeType(scalar)];
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

std::string Layer::provenance() const {
  std::string text = kernel->getAttrOfType<StringAttr>("label").str();
  if (program.options.locations == LocationStyle::None)
    return text;
  SmallVector<StringRef> nodes;
  collectNodes(kernel->getLoc(), nodes);
  StringRef separator = ": ";
  for (StringRef node : nodes) {
    bool const plain = program.options.locations == LocationStyle::Plain;
    text += separator.str() + (plain ? node.split(' ').first : node).str();
    separator = " + ";
  }
  return text;
}

bool Layer::uses(StorageKind kind) const {
  return llvm::any_of(used, [&](Storage const *storage) { return storage->kind == kind; });
}

std::string Layer::functionName() const {
  return program.functions.lookup(kernel->getAttrOfType<StringAttr>("label"));
}

/// Parameters and, for the call, arguments: space, the structs in use, the model's arguments, host values.
std::string Layer::signature(bool declare) const {
  std::string text = declare ? "ExecutionSpace const &space" : "space";
  auto const add = [&](StringRef type, StringRef name) { text += ", " + (declare ? (type + " " + name).str() : name.str()); };
  if (uses(StorageKind::Weight))
    add("Weights const &", "weights");
  if (uses(StorageKind::Buffer) || usesWork)
    add("Workspace const &", "work");
  for (Storage const &argument : program.arguments)
    if (llvm::is_contained(used, &argument))
      add(argument.alias + " const &", argument.name);
  for (std::string const &name : hostNames)
    add(program.scalarType(name), name);
  return text;
}

std::string Layer::invocation() const { return functionName() + "(" + signature(false) + ")"; }

Json Layer::finish(StringRef shapes) {
  Json layer = {{"template", "kernel/block"},
                {"comments", Json::array({{{"text", "--- " + provenance()}}, {{"text", shapes.str()}}})},
                {"name", functionName()},
                {"parameters", signature(true)},
                {"locals", locals},
                {"lambdas", lambdas}};
  layer.update(call);
  return layer;
}

} // namespace ml2k
