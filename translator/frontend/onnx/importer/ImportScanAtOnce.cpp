//===- ImportScanAtOnce.cpp - Scan whose steps do not need each other ---------------------------------------------===//
//
// Converters write loops over rows as Scan: the distances of every row to all others, say. Where the states stay as
// they are, all steps are one computation with one more dimension.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

static bool isReduction(StringRef op) { return op.starts_with("Reduce"); }

bool isElementwise(StringRef op) {
  static llvm::StringSet<> const names = {
      "Abs",      "Acos", "Add",         "And",  "Asin",       "Atan",  "Cast",    "Ceil",
      "Cos",      "Div",  "Equal",       "Erf",  "Exp",        "Floor", "Greater", "GreaterOrEqual",
      "Identity", "Less", "LessOrEqual", "Log",  "Max",        "Min",   "Mod",     "Mul",
      "Neg",      "Not",  "Or",          "Pow",  "Reciprocal", "Relu",  "Round",   "Sigmoid",
      "Sign",     "Sin",  "Softplus",    "Sqrt", "Sub",        "Sum",   "Tan",     "Tanh",
      "Where",    "Xor"};
  return names.contains(op);
}

/// Whether the states come out as they went in, by few Identity nodes each.
static bool keepsStates(pb::GraphProto const &body, size_t states) {
  constexpr int mostSteps = 4;
  std::unordered_map<std::string, std::string> same;
  for (pb::NodeProto const &node : body.node())
    if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1)
      same.try_emplace(node.output(0), node.input(0));
  for (size_t at = 0; at < states; ++at) {
    std::string name = body.output(at).name();
    for (int step = 0; step < mostSteps; ++step)
      if (auto const found = same.find(name); found != same.end())
        name = found->second;
    if (name != body.input(at).name())
      return false;
  }
  return true;
}

bool canScanAtOnce(pb::GraphProto const &body, size_t states) {
  if (static_cast<size_t>(body.input_size()) < states || static_cast<size_t>(body.output_size()) < states ||
      !keepsStates(body, states))
    return false;
  std::unordered_set<std::string> varying;
  for (int at = states; at < body.input_size(); ++at)
    varying.insert(body.input(at).name());
  for (pb::NodeProto const &node : body.node()) {
    if (llvm::none_of(node.input(), [&](std::string const &name) { return varying.count(name); }))
      continue;
    bool const isKnown = isOnnx(node) && (isElementwise(node.op_type()) || isReduction(node.op_type()));
    if (!isKnown || (isReduction(node.op_type()) && node.input_size() > 1 && varying.count(node.input(1))))
      return false;
    varying.insert(node.output().begin(), node.output().end());
  }
  return true;
}

std::string freshName(Scope const &scope, pb::NodeProto const &node, std::string const &operand) {
  std::string name = (node.output_size() > 0 ? node.output(0) : "") + "." + operand;
  while (scope.count(name))
    name += ".steps";
  return name;
}

/// Axes of one step as axes of all of them; `rank` is that of one step.
static Ints shiftedAxes(IntsRef axes, int64_t rank) {
  if (axes.empty())
    return llvm::to_vector(llvm::seq<int64_t>(1, rank + 1));
  return llvm::map_to_vector<6>(axes, [](int64_t axis) { return axis < 0 ? axis : axis + 1; });
}

/// Reduces other axes: an attribute, or an input in later versions.
static void shiftAxes(pb::NodeProto &node, Scope &scope, int64_t rank, int opset) {
  for (pb::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == "axes") {
      Ints const axes = shiftedAxes(Ints(attribute.ints().begin(), attribute.ints().end()), rank);
      attribute.mutable_ints()->Assign(axes.begin(), axes.end());
      return;
    }
  bool const hasInput = node.input_size() > 1 && !node.input(1).empty();
  bool const keepsAll = llvm::any_of(node.attribute(), [](pb::AttributeProto const &attribute) {
    return attribute.name() == "noop_with_empty_axes" && attribute.i() != 0;
  });
  Ints given;
  if (hasInput) {
    GraphValue const &axes = scope[node.input(1)];
    if (!axes.constant || !isa<IntegerType>(axes.type().getElementType()))
      throw Refusal("the axes of \"" + Twine(node.op_type()) + "\" in its body are not known");
    given.assign(integersOf(axes.constant));
  }
  if (given.empty() && keepsAll)
    return;
  Ints const axes = shiftedAxes(given, rank);
  if (opset < (node.op_type() == "ReduceSum" ? 13 : 18)) {
    pb::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name("axes");
    attribute.set_type(pb::AttributeProto::INTS);
    attribute.mutable_ints()->Assign(axes.begin(), axes.end());
    return;
  }
  std::string const name = freshName(scope, node, "axes");
  scope[name] =
      GraphValue{name, pb::TensorProto::INT64, {}, integersAttr(*scope[node.input(0)].type().getContext(), axes)};
  while (node.input_size() < 2)
    node.add_input();
  node.set_input(1, name);
}

/// Imports a node of the body for all steps: what varies has the steps in front, then extents of 1 up to the largest
/// rank of a step, so that it broadcasts as one step would.
void Importer::importForAllSteps(pb::NodeProto node, Scope &scope, std::unordered_set<std::string> &varying,
                                 Opsets const &opsets) {
  bool varies = false, isKnown = true;
  int64_t most = 0;
  for (std::string const &name : node.input()) {
    auto const found = scope.find(name);
    isKnown &= name.empty() || (found != scope.end() && !found->second.isRefused);
    varies |= varying.count(name) != 0;
    if (isKnown && !name.empty())
      most = std::max(most, found->second.type().getRank() - int64_t(varying.count(name)));
  }
  if (varies && isKnown && isReduction(node.op_type())) {
    auto const opset = opsets.find("");
    shiftAxes(node, scope, scope[node.input(0)].type().getRank() - 1, opset == opsets.end() ? 0 : opset->second);
  } else if (varies && isKnown) {
    for (std::string &name : *node.mutable_input()) {
      int64_t const missing = name.empty() || !varying.count(name) ? 0 : most + 1 - scope[name].type().getRank();
      if (missing == 0)
        continue;
      GraphValue aligned = scope[name];
      aligned.value = build.unsqueeze(valueOf(aligned), llvm::to_vector(llvm::seq<int64_t>(1, missing + 1)));
      aligned.constant = {};
      name = freshName(scope, node, name);
      scope[name] = aligned;
    }
  }
  if (varies)
    varying.insert(node.output().begin(), node.output().end());
  importNode(node, scope, opsets);
}

Value moved(Build &build, Value value, int64_t from, int64_t to) {
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, Build::rankOf(value)));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return from == to ? value : build.transpose(value, order);
}

Importer::Values Importer::importScanAtOnce(pb::GraphProto const &body, Values inputs, IntsRef axes, IntsRef outputAxes,
                                            Scope const &around, Opsets const &opsets) {
  size_t const states = inputs.size() - axes.size();
  for (auto [at, axis] : llvm::enumerate(axes)) {
    GraphValue &sequence = inputs[states + at];
    sequence.value = moved(build, valueOf(sequence), axis, 0);
    sequence.constant = {};
  }
  OpFoldResult const length = build.sizeOf(inputs[states].value, 0);
  Scope inner = scopeOf(body, inputs, around);
  std::unordered_set<std::string> varying;
  for (int at = states; at < body.input_size(); ++at)
    varying.insert(body.input(at).name());
  for (pb::NodeProto const &node : body.node())
    importForAllSteps(node, inner, varying, opsets);
  Values results(inputs.begin(), inputs.begin() + states);
  for (auto [at, axis] : llvm::enumerate(outputAxes)) {
    std::string const &name = body.output(states + at).name();
    auto const found = inner.find(name);
    if (found == inner.end())
      throw Refusal("output \"" + Twine(name) + "\" of its body is made by no node");
    GraphValue result = found->second;
    if (result.isRefused)
      throw Refusal("its body is not supported");
    Value value = valueOf(result);
    if (!varying.count(name)) {
      Sizes sizes = build.sizesOf(value);
      sizes.insert(sizes.begin(), length);
      value = build.broadcastTo(build.unsqueeze(value, {0}), sizes);
    }
    int64_t const rank = Build::rankOf(value), place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank)
      throw Refusal("axis " + Twine(axis) + " is out of range for rank " + Twine(rank));
    results.push_back(GraphValue{result.name, result.dataType, moved(build, value, 0, place), {}});
  }
  return results;
}

} // namespace ml2k::frontend
