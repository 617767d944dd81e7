//===- ImportNodes.cpp - the nodes of a graph in order ------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Evaluate.h"
#include "translator/frontend/onnx/importer/Importer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <onnx/defs/function.h>
#include <onnx/defs/schema.h>

#include <exception>
#include <new>

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

/// Constants with more elements than this are data, not shapes.
constexpr int64_t maxFoldedElements = 1024;
/// The same where none is trained: indices and masks of windows.
constexpr int64_t maxFoldedIndices = 1 << 14;

/// What a message and a comment call a node.
static std::string const &nameOf(pb::NodeProto const &node) {
  bool const isUnnamed = node.name().empty() && node.output_size() > 0;
  return isUnnamed ? node.output(0) : node.name();
}

static std::string quotedName(pb::NodeProto const &node) { return "\"" + nameOf(node) + "\""; }

static std::string domainOf(pb::NodeProto const &node) { return node.domain() == "ai.onnx" ? "" : node.domain(); }

void Importer::report(pb::NodeProto const &node, int opset, Twine const &message) {
  std::string const domain = domainOf(node);
  error() << "node " << quotedName(node) << " (" << (domain.empty() ? "" : domain + ".") << node.op_type() << ", opset "
          << opset << "): " << message;
}

//===--- Order ----------------------------------------------------------------------------------------------------===//

namespace {
/// A node on its way into an order: whom it waits for, and who waits for it.
struct Waiting {
  int round = 0; ///< of reading the file from its start in which its inputs are there
  int inputs = 0;
  std::vector<int> readers;
};
} // namespace

/// Who reads whose outputs. An input that nobody makes is reported with its node, later.
static std::vector<Waiting> readersOf(pb::GraphProto const &graph, Scope const &scope) {
  std::unordered_map<std::string, int> makers;
  for (int at = 0; at < graph.node_size(); ++at)
    for (std::string const &name : graph.node(at).output())
      if (!name.empty() && !scope.count(name))
        makers.try_emplace(name, at);
  std::vector<Waiting> nodes(graph.node_size());
  for (int at = 0; at < graph.node_size(); ++at)
    for (std::string const &name : graph.node(at).input())
      if (auto const maker = makers.find(name); maker != makers.end()) {
        nodes[maker->second].readers.push_back(at);
        ++nodes[at].inputs;
      }
  return nodes;
}

/// The file is read from its start again and again: each round takes the nodes whose inputs are there. A sorted graph
/// keeps its order.
Nodes Importer::sortedNodes(Scope const &scope) {
  pb::GraphProto const &graph = model.graph();
  std::vector<Waiting> nodes = readersOf(graph, scope);
  std::vector<int> ready;
  for (int at = 0; at < graph.node_size(); ++at)
    if (nodes[at].inputs == 0)
      ready.push_back(at);
  for (size_t next = 0; next < ready.size(); ++next)
    for (int reader : nodes[ready[next]].readers) {
      nodes[reader].round = std::max(nodes[reader].round, nodes[ready[next]].round + (ready[next] > reader));
      if (--nodes[reader].inputs == 0)
        ready.push_back(reader);
    }
  llvm::sort(ready, [&](int a, int b) { return std::pair(nodes[a].round, a) < std::pair(nodes[b].round, b); });
  Nodes sorted;
  for (int at : ready)
    sorted.push_back(&graph.node(at));
  auto const stuck = llvm::find_if(nodes, [](Waiting const &node) { return node.inputs != 0; });
  if (stuck != nodes.end()) {
    pb::NodeProto const &node = graph.node(stuck - nodes.begin());
    report(node, modelOpsets[domainOf(node)], "its inputs depend on its own output: the graph has a cycle");
  }
  return sorted;
}

//===--- Nodes ----------------------------------------------------------------------------------------------------===//

void Importer::importNodes(Nodes const &nodes, Scope &scope, Opsets const &opsets) {
  for (pb::NodeProto const *node : nodes)
    importNode(*node, scope, opsets);
}

void Importer::refuseOutputs(pb::NodeProto const &node, Scope &scope) {
  for (std::string const &name : node.output())
    scope[name].isRefused = true;
}

/// False if the node cannot be imported because of its inputs.
bool Importer::findInputs(pb::NodeProto const &node, int opset, Scope &scope, std::vector<GraphValue *> &inputs) {
  bool isUsable = true;
  for (std::string const &name : node.input()) {
    auto const found = scope.find(name);
    inputs.push_back(name.empty() || found == scope.end() ? nullptr : &found->second);
    if (!name.empty() && found == scope.end()) {
      report(node, opset, "its input \"" + Twine(name) + "\" is made by no node");
      isUsable = false;
    }
    isUsable &= !inputs.back() || !inputs.back()->isRefused;
  }
  return isUsable;
}

void Importer::define(pb::NodeProto const &node, int opset, Scope &scope, Node &done) {
  for (int at = 0; at < node.output_size(); ++at) {
    if (node.output(at).empty())
      continue;
    if (!done.outputs[at]) {
      report(node, opset, "output " + Twine(at) + " is not supported");
      scope[node.output(at)].isRefused = true;
      continue;
    }
    scope[node.output(at)] = *done.outputs[at];
  }
}

/// Inputs that the specification gives one type variable hold elements of one type.
static void checkTypes(pb::NodeProto const &node, int opset, ArrayRef<GraphValue *> inputs) {
  auto const *schema = domainOf(node).empty() ? pb::OpSchemaRegistry::Schema(node.op_type(), opset, "") : nullptr;
  if (!schema || schema->inputs().empty())
    return;
  if (int(inputs.size()) < schema->min_input())
    throw Refusal("takes at least " + Twine(schema->min_input()) + " inputs, has " + Twine(inputs.size()));
  std::map<std::string, size_t> first;
  for (auto [at, input] : llvm::enumerate(inputs)) {
    auto const &formal = schema->inputs()[std::min(at, schema->inputs().size() - 1)];
    bool const isVariadic = formal.GetOption() == pb::OpSchema::Variadic;
    if (!isVariadic && at >= schema->inputs().size())
      break; // a version that is newer than the library's
    if (!input || formal.GetTypeStr().empty() || (isVariadic && !formal.GetIsHomogeneous()))
      continue;
    auto const [known, isNew] = first.try_emplace(formal.GetTypeStr(), at);
    if (!isNew && inputs[known->second]->dataType != input->dataType)
      throw Refusal("input " + Twine(known->second) + " holds " + dataTypeName(inputs[known->second]->dataType) +
                    ", input " + Twine(at) + " holds " + dataTypeName(input->dataType));
  }
}

/// Operators that work on every element alone, or move axes: they may work on elements that do not count.
static bool keepsCounts(pb::NodeProto const &node) {
  static llvm::StringSet<> const names = {"Cast", "Identity", "Transpose"};
  return domainOf(node).empty() && names.contains(node.op_type());
}

static void refuseCounted(pb::NodeProto const &node, ArrayRef<GraphValue *> inputs) {
  for (auto [at, input] : llvm::enumerate(inputs))
    if (input && !input->counts.empty() && !keepsCounts(node))
      throw Refusal("run-time data decide how many elements input " + Twine(at) + " (\"" + input->name +
                    "\") has; only Cast, Identity and Transpose can use such a tensor, or the caller");
}

void Importer::passCounts(pb::NodeProto const &node, std::vector<GraphValue *> const &inputs, Scope &scope) {
  if (inputs.empty() || !inputs[0] || inputs[0]->counts.empty())
    return;
  GraphValue &result = scope[node.output(0)];
  result.counts = inputs[0]->counts;
  if (node.op_type() != "Transpose")
    return;
  int64_t const rank = result.type().getRank();
  for (auto &[axis, count] : result.counts) {
    Ints order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
    for (pb::AttributeProto const &attribute : node.attribute())
      if (attribute.name() == "perm")
        order.assign(attribute.ints().begin(), attribute.ints().end());
    axis = llvm::find(order, axis) - order.begin();
  }
}

/// Operators that ONNX has now, and the library of this build has not.
static bool isLater(StringRef name) {
  static llvm::StringSet<> const names = {"ImageDecoder", "LinearAttention", "RegexFullMatch", "StringConcat",
                                          "StringSplit"};
  return names.contains(name);
}

void Importer::importNode(pb::NodeProto const &node, Scope &scope, Opsets const &opsets) {
  std::string const domain = domainOf(node);
  auto const opsetOf = opsets.find(domain);
  int const opset = opsetOf == opsets.end() ? 0 : opsetOf->second;
  std::vector<GraphValue *> inputs;
  if (!findInputs(node, opset, scope, inputs))
    return refuseOutputs(node, scope);
  if (expansionDepth == 0)
    nodeLocation = NameLoc::get(build.getStringAttr(node.op_type() + " \"" + shortName(nameOf(node)) + "\""));
  build.setLoc(bodyPart.empty() ? nodeLocation : partOf(nodeLocation, bodyPart));
  ImportFunction const *import = Registry::instance().find(domain, node.op_type(), opset);
  try {
    refuseCounted(node, inputs);
    if (import && importControl(node, opset, inputs, scope, opsets))
      return;
    if (!import) {
      if (!expandFunction(node, opset, inputs, scope))
        throw Refusal(Registry::instance().knows(domain, node.op_type())
                          ? "this version of the operator is not supported"
                      : domain.empty() && !pb::OpSchemaRegistry::Schema(node.op_type()) && !isLater(node.op_type())
                          ? "ONNX has no such operator; the converter left one of its own framework in place"
                          : "the operator is not supported");
      return;
    }
    checkTypes(node, opset, inputs);
    if (foldNode(node, opset, *import, inputs, scope))
      return;
    Node view(node, opset, inputs, build, [&](GraphValue &value) { return materialize(value); }, directory);
    (*import)(view);
    define(node, opset, scope, view);
    passCounts(node, inputs, scope);
  } catch (Refusal const &refusal) {
    report(node, opset, refusal.message);
    refuseOutputs(node, scope);
  }
}

//===--- Nodes that run at import ---------------------------------------------------------------------------------===//

bool Importer::foldNode(pb::NodeProto const &node, int opset, ImportFunction const &import,
                        std::vector<GraphValue *> const &inputs, Scope &scope) {
  bool hasInput = false;
  bool const isTrained = llvm::any_of(inputs, [](GraphValue const *input) { return input && input->isTrained; });
  int64_t const most = isTrained ? maxFoldedElements : maxFoldedIndices;
  int64_t largest = 0;
  for (GraphValue const *input : inputs) {
    if (!input)
      continue;
    if (!input->constant || input->constant.getNumElements() > most)
      return false;
    largest = std::max(largest, input->constant.getNumElements());
    hasInput = true;
  }
  if (!hasInput || (largest > maxFoldedElements && !build.mayCompute(largest)))
    return false;
  OpBuilder::InsertionGuard const guard(build);
  Block scratch;
  build.setInsertionPointToEnd(&scratch);
  auto inScratch = [&](GraphValue &value) { return build.create<arith::ConstantOp>(value.constant).getResult(); };
  std::vector<GraphValue> copies;
  std::vector<GraphValue *> views;
  copies.reserve(inputs.size());
  for (GraphValue const *input : inputs) {
    copies.push_back(input ? *input : GraphValue());
    copies.back().value = nullptr;
    views.push_back(input ? &copies.back() : nullptr);
  }
  Node view(node, opset, views, build, inScratch, directory);
  import(view);
  llvm::SmallVector<Value> results;
  for (auto &output : view.outputs)
    if (output && !output->constant)
      results.push_back(output->value);
  bool const hasUnknown = llvm::any_of(inputs, [](GraphValue const *input) { return input && input->hasUnknown; });
  auto const values = evaluate(scratch, results, hasUnknown, build.extents);
  if (!values)
    return false;
  auto next = values->begin();
  for (auto &output : view.outputs)
    if (output && !output->constant) {
      output->constant = *next++;
      output->value = nullptr;
      output->isTrained = isTrained && isa<FloatType>(output->constant.getElementType());
      output->hasUnknown = hasUnknown && output->constant.getElementType().isInteger() &&
                           llvm::any_of(integersOf(output->constant), Extents::isCode);
    }
  define(node, opset, scope, view);
  return true;
}

//===--- Functions ------------------------------------------------------------------------------------------------===//

static pb::FunctionProto const *localFunction(pb::ModelProto const &model, pb::NodeProto const &node) {
  for (pb::FunctionProto const &function : model.functions())
    if (function.domain() == node.domain() && function.name() == node.op_type())
      return &function;
  return nullptr;
}

/// The node with the attributes that it leaves to their defaults: a body refers to them.
static pb::NodeProto withDefaults(pb::NodeProto node, pb::OpSchema const &schema) {
  auto isGiven = [&](std::string const &name) {
    return llvm::any_of(node.attribute(), [&](auto const &attribute) { return attribute.name() == name; });
  };
  for (auto const &[name, attribute] : schema.attributes())
    if (!isGiven(name) && attribute.default_value.type() != pb::AttributeProto::UNDEFINED)
      *node.add_attribute() = attribute.default_value;
  return node;
}

/// Operators that the specification defines by other operators need no row of their own.
bool Importer::expandFunction(pb::NodeProto const &node, int opset, std::vector<GraphValue *> const &inputs,
                              Scope &scope) {
  if (expansionDepth > 32)
    throw Refusal("functions call each other without end");
  if (pb::FunctionProto const *local = localFunction(model, node)) {
    Opsets opsets;
    for (auto const &import : local->opset_import())
      opsets[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
    expandBody(*local, node, opsets, inputs, scope);
    return true;
  }
  if (!domainOf(node).empty() || Registry::instance().knows("", node.op_type()))
    return false;
  auto const *schema = pb::OpSchemaRegistry::Schema(node.op_type(), opset, "");
  if (!schema)
    return false;
  pb::NodeProto const complete = withDefaults(node, *schema);
  pb::FunctionProto body;
  if (schema->HasFunction()) {
    body = *schema->GetFunction();
  } else if (schema->HasContextDependentFunction()) {
    std::vector<pb::TypeProto> types(inputs.size());
    for (auto [type, input] : llvm::zip(types, inputs))
      if (input)
        type.mutable_tensor_type()->set_elem_type(input->dataType);
    try {
      pb::FunctionBodyBuildContextImpl const buildContext(complete, types);
      if (!schema->BuildContextDependentFunction(buildContext, body))
        return false;
    } catch (std::bad_alloc const &) {
      throw;
    } catch (std::exception const &error) { // the library's word on inputs and attributes
      throw Refusal(error.what());
    }
  } else {
    return false;
  }
  expandBody(body, complete, {{"", opset}}, inputs, scope);
  return true;
}

/// Attributes of the body that refer to the node's.
static pb::NodeProto withAttributes(pb::NodeProto const &inner, pb::NodeProto const &node) {
  pb::NodeProto bound = inner;
  bound.clear_attribute();
  for (pb::AttributeProto const &attribute : inner.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *bound.add_attribute() = attribute;
      continue;
    }
    for (pb::AttributeProto const &given : node.attribute())
      if (given.name() == attribute.ref_attr_name()) {
        *bound.add_attribute() = given;
        bound.mutable_attribute()->rbegin()->set_name(attribute.name());
      }
  }
  return bound;
}

void Importer::expandBody(pb::FunctionProto const &body, pb::NodeProto const &node, Opsets const &opsets,
                          std::vector<GraphValue *> const &inputs, Scope &scope) {
  Scope inner;
  for (int at = 0; at < body.input_size(); ++at)
    if (at < static_cast<int>(inputs.size()) && inputs[at])
      inner[body.input(at)] = *inputs[at];
  ++expansionDepth;
  std::string const whole = bodyPart;
  for (pb::NodeProto const &bodyNode : body.node()) {
    pb::NodeProto bound = withAttributes(bodyNode, node);
    bool const isLast = llvm::any_of(bodyNode.output(),
                                     [&](std::string const &name) { return llvm::is_contained(body.output(), name); });
    bodyPart = isLast ? whole : whole.empty() ? bodyNode.op_type() : whole + "." + bodyNode.op_type();
    for (std::string &name : *bound.mutable_input())
      if (!inner.count(name) && llvm::is_contained(body.input(), name))
        name.clear(); // an omitted optional input
    importNode(bound, inner, opsets);
  }
  bodyPart = whole;
  --expansionDepth;
  for (int at = 0; at < std::min(node.output_size(), body.output_size()); ++at)
    if (auto const found = inner.find(body.output(at)); found != inner.end())
      scope[node.output(at)] = found->second;
}

} // namespace ml2k::frontend
