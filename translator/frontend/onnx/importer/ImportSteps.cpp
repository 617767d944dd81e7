//===- ImportSteps.cpp - which loops have steps that are alike, and how many -------------------------------------===//

#include "translator/frontend/onnx/importer/StepImport.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k::frontend {

//===--- Names ----------------------------------------------------------------------------------------------------===//

std::unordered_set<std::string> namesRead(pb::NodeProto const &node) {
  std::unordered_set<std::string> names(node.input().begin(), node.input().end());
  for (pb::AttributeProto const &attribute : node.attribute())
    if (attribute.has_g())
      collectNames(attribute.g(), names);
  names.erase("");
  return names;
}

std::string const &StepImport::resolved(std::string const &name) const {
  auto const found = same.find(name);
  return found == same.end() ? name : found->second;
}

Origin StepImport::originOf(std::string const &name) const {
  auto const found = origins.find(name);
  return found == origins.end() ? Origin::fixed : found->second;
}

std::optional<int64_t> StepImport::constantOf(std::string const &name) const {
  auto const found = scope.find(resolved(name));
  if (found == scope.end() || originOf(found->first) != Origin::fixed || found->second.isRefused ||
      !found->second.constant || found->second.hasUnknown || found->second.constant.getNumElements() != 1 ||
      !isa<IntegerType>(found->second.type().getElementType()))
    return std::nullopt;
  int64_t const number = integersOf(found->second.constant)[0];
  constexpr int64_t most = int64_t(1) << 32; // sums of few of them do not overflow
  return std::abs(number) <= most ? std::optional(number) : std::nullopt;
}

/// Initializers, constants, and the states as they are before the first step.
void StepImport::begin() {
  Values inputs;
  for (size_t at = 0; at < loop.firstIn; ++at) // the step and the condition: nobody reads these values
    inputs.push_back(GraphValue{"step",
                                pb::TensorProto::INT64,
                                {},
                                DenseElementsAttr::get(RankedTensorType::get({}, build.getI64Type()), int64_t(0))});
  llvm::append_range(inputs, loop.states);
  llvm::append_range(inputs, loop.sequences);
  scope = importer.scopeOf(body, inputs, around);
  for (pb::NodeProto const &node : body.node()) {
    if (node.op_type() == "Constant" && isOnnx(node))
      importer.importNode(node, scope, opsets);
    if (node.op_type() == "Identity" && isOnnx(node) && node.input_size() == 1 && node.output_size() == 1)
      same.try_emplace(node.output(0), resolved(node.input(0)));
    for (std::string const &name : node.output())
      makers.try_emplace(name, &node);
  }
  if (loop.firstIn > 0) {
    origins[body.input(0).name()] = Origin::step;
    numbers[body.input(0).name()] = {};
  }
  for (size_t at = 0; at < loop.sequences.size(); ++at) {
    std::string const &name = body.input(loop.firstIn + loop.states.size() + at).name();
    origins[name] = Origin::sequence;
    varying.insert(name);
    if (loop.reversed[at])
      backwards.insert(name);
  }
}

/// A whole number that a step adds 1 to.
bool StepImport::isCounter(size_t at) const {
  GraphValue const &state = loop.states[at];
  if (!state.constant || state.hasUnknown || state.type().getRank() != 0 || !constantOf(stateIn(at)))
    return false;
  auto const maker = makers.find(resolved(stateOut(at)));
  if (maker == makers.end() || maker->second->op_type() != "Add" || !isOnnx(*maker->second) ||
      maker->second->input_size() != 2)
    return false;
  std::string const &a = maker->second->input(0), &b = maker->second->input(1);
  return (resolved(a) == stateIn(at) && constantOf(b) == 1) || (resolved(b) == stateIn(at) && constantOf(a) == 1);
}

/// Whether the data decide what a state becomes, by the place of a largest or smallest element: the symbol that a
/// decoder chose. Other whole numbers may be sizes and places, which have to be known when tensors are made.
bool StepImport::isChosen(size_t at) const {
  static llvm::StringSet<> const choices = {"ArgMax", "ArgMin", "TopK"};
  std::vector<std::string> open{resolved(stateOut(at))};
  std::unordered_set<std::string> seen;
  while (!open.empty()) {
    auto const maker = makers.find(open.back());
    open.pop_back();
    if (maker == makers.end() || !isOnnx(*maker->second))
      continue;
    if (choices.contains(maker->second->op_type()))
      return true;
    for (std::string const &name : namesRead(*maker->second))
      if (seen.insert(resolved(name)).second)
        open.push_back(resolved(name));
  }
  return false;
}

/// False if a state is neither fixed, nor a counter, nor floats or chosen.
bool StepImport::classifyStates() {
  std::vector<Origin> known;
  for (auto [at, state] : llvm::enumerate(loop.states)) {
    bool const isFixed = resolved(stateOut(at)) == stateIn(at);
    known.push_back(isFixed ? Origin::fixed : isCounter(at) ? Origin::step : Origin::state);
    if (state.isRefused || !state.counts.empty() || (known.back() == Origin::step && !loop.count.number()) ||
        (known.back() == Origin::state && !isa<FloatType>(state.type().getElementType()) && !isChosen(at)))
      return false;
    if (known.back() == Origin::state)
      carried.push_back(at);
    if (known.back() == Origin::step)
      numbers[stateIn(at)] = {1, *constantOf(stateIn(at))};
  }
  for (auto [at, origin] : llvm::enumerate(known))
    origins[stateIn(at)] = origin;
  return true;
}

/// What the states and outputs of the loop need: not what only counts steps, or ends the loop.
void StepImport::findNeeded() {
  std::unordered_set<std::string> names;
  for (size_t at : carried)
    names.insert(stateOut(at));
  for (size_t at = 0; at < scanCount(); ++at)
    names.insert(scanOut(at));
  for (pb::NodeProto const &node : llvm::reverse(body.node()))
    if (llvm::any_of(node.output(), [&](std::string const &name) { return names.count(name) != 0; })) {
      needed.insert(&node);
      names.merge(namesRead(node));
    }
}

/// Few steps without a product become few kernels one after the other, and less text than a loop.
bool StepImport::isWorthLoop() const {
  static llvm::StringSet<> const products = {"MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum"};
  constexpr int64_t few = 8;
  std::optional<int64_t> const steps = loop.count.number();
  return !steps || (build.loopsOverSteps && !carried.empty() && *steps >= few) ||
         llvm::any_of(needed, [](pb::NodeProto const *node) { return products.contains(node->op_type()); });
}

//===--- How many steps -------------------------------------------------------------------------------------------===//

/// The condition may depend on what is known at import and on counters: it is asked step by step.
bool StepImport::countSteps() {
  count = loop.count;
  if (!loop.hasCondition)
    return true;
  std::string const &condition = body.output(0).name(), &before = body.input(1).name();
  int64_t const most = *loop.count.number();
  if (resolved(condition) == before)
    return most < std::numeric_limits<int32_t>::max();
  pb::GraphProto part;
  part.mutable_input()->CopyFrom(body.input());
  part.mutable_initializer()->CopyFrom(body.initializer());
  *part.add_output() = body.output(0);
  std::vector<size_t> counters;
  for (size_t at = 0; at < loop.states.size(); ++at)
    if (originOf(stateIn(at)) == Origin::step) {
      counters.push_back(at);
      *part.add_output() = body.output(loop.firstOut + at);
    }
  std::unordered_set<std::string> names;
  for (auto const &output : part.output())
    names.insert(output.name());
  std::vector<pb::NodeProto const *> nodes;
  for (pb::NodeProto const &node : llvm::reverse(body.node()))
    if (llvm::any_of(node.output(), [&](std::string const &name) { return names.count(name) != 0; })) {
      nodes.push_back(&node);
      names.merge(namesRead(node));
    }
  if (llvm::any_of(carried, [&](size_t at) { return names.count(stateIn(at)) != 0; }))
    return false;
  for (pb::NodeProto const *node : llvm::reverse(nodes))
    *part.add_node() = *node;
  Values states = loop.states;
  for (int64_t step = 0; step < most; ++step) {
    if ((step + 1) * (part.node_size() + 1) > maxUnrolledNodes)
      return false;
    importer.countUnrolled(part.node_size() + 1);
    auto const number = [&](Type type, int64_t value, int32_t dataType) {
      auto const attribute = DenseElementsAttr::get(RankedTensorType::get({}, type), build.getIntegerAttr(type, value));
      return GraphValue{"step", dataType, {}, attribute};
    };
    Values inputs{number(build.getI64Type(), step, pb::TensorProto::INT64),
                  number(build.getI1Type(), 1, pb::TensorProto::BOOL)};
    llvm::append_range(inputs, states);
    Values const outputs = importer.importBody(part, inputs, around, opsets);
    if (!outputs[0].constant || outputs[0].hasUnknown)
      return false;
    for (auto [place, at] : llvm::enumerate(counters))
      states[at] = outputs[1 + place];
    if (integersOf(outputs[0].constant)[0] == 0) {
      count = step + 1;
      return true;
    }
  }
  return true;
}

std::optional<StepImport::Values> StepImport::run() {
  begin();
  if (!classifyStates())
    return std::nullopt;
  findNeeded();
  bool const isLong = body.node_size() > 0 && loop.count.number().value_or(0) > maxUnrolledNodes / body.node_size();
  if (!(isWorthLoop() || isLong) || !countSteps())
    return std::nullopt;
  if (count.number() && *count.number() < 2)
    return std::nullopt;
  for (pb::NodeProto const &node : body.node())
    if (needed.count(&node))
      visit(node);
  auto const isUnclear = [&](std::string const &name) {
    Origin const origin = originOf(name);
    return origin == Origin::unclear || origin == Origin::step;
  };
  for (size_t at : carried)
    if (isUnclear(stateOut(at)))
      return std::nullopt;
  for (size_t at = 0; at < scanCount(); ++at)
    if (isUnclear(scanOut(at)))
      return std::nullopt;
  if (carried.empty() && !perStep.empty() && !isLong && count.number())
    return std::nullopt; // steps that do not need each other
  return makeLoop();
}

std::optional<Importer::Values> Importer::importSteps(StepLoop const &loop, Scope const &around, Opsets const &opsets) {
  return StepImport(*this, loop, around, opsets).run();
}

} // namespace ml2k::frontend
