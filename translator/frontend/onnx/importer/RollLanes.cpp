//===- RollLanes.cpp - one chain of nodes instead of one for each slice -------------------------------------------===//
//
// Exporters write a layer that is applied to every step of a sequence (TimeDistributed of Keras, a loop over x[:, t] in
// PyTorch) as often as there are steps: a slice, the operators of the layer, and in the end a Concat of all results.
// Such lanes become a Scan, whose steps are imported at once. Every node is looked at by one Concat only: linear time.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

using namespace mlir;
using llvm::StringRef;

namespace ml2k::frontend {

namespace {

using NodeProto = pb::NodeProto;
using Lanes = std::vector<std::string>; ///< a name per lane

constexpr int fewestLanes = 4;

class Roller {
public:
  Roller(MLIRContext &context, Nodes const &nodes, pb::GraphProto const &graph, Scope &scope, int opset);

  /// Slices and a Scan in place of the Concat; nothing if its inputs are no lanes.
  std::vector<NodeProto> roll(NodeProto const &concat);
  /// Nodes that the Scan replaces.
  std::unordered_set<NodeProto const *> replaced;

private:
  struct Sequence {
    std::string data, step; ///< all steps, and what one is called in the body
    int64_t axis, first, count;
    bool isReversed;
  };

  NodeProto const *maker(std::string const &name) const;
  std::optional<llvm::SmallVector<int64_t>> constant(std::string const &name) const;
  std::optional<llvm::SmallVector<int64_t>> axesOf(NodeProto const &node) const;
  bool isSameConstant(Lanes const &names) const;
  bool visit(NodeProto const *node);
  bool matchLeaf(Lanes const &names);
  bool matchNodes(Lanes const &names);
  bool match(Lanes first);
  bool isClosed() const;
  NodeProto sliceOf(NodeProto const &concat, Sequence &sequence);
  NodeProto scanOf(NodeProto const &concat, std::string const &result, int64_t axis) const;

  MLIRContext &context;
  Scope &scope;
  int opset;
  std::unordered_map<NodeProto const *, size_t> places; ///< in the order of the graph
  std::unordered_map<std::string, NodeProto const *> makers;
  std::unordered_map<std::string, int> readers;
  std::unordered_set<NodeProto const *> seen;
  // Of the Concat that is looked at
  std::vector<NodeProto const *> inLanes;
  std::unordered_set<NodeProto const *> chain; ///< of lane 0
  std::unordered_map<std::string, Lanes> known;
  std::vector<Lanes> open;
  std::vector<Sequence> sequences;
};

} // namespace

static bool hasBody(NodeProto const &node) {
  return llvm::any_of(node.attribute(),
                      [](auto const &attribute) { return attribute.has_g() || attribute.graphs_size(); });
}

static int64_t intAttribute(NodeProto const &node, StringRef name, int64_t usual) {
  for (auto const &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return usual;
}

Roller::Roller(MLIRContext &context, Nodes const &nodes, pb::GraphProto const &graph, Scope &scope, int opset)
    : context(context), scope(scope), opset(opset) {
  for (auto const &output : graph.output())
    ++readers[output.name()];
  for (NodeProto const *node : nodes) {
    places.try_emplace(node, places.size());
    for (std::string const &name : node->output())
      makers.try_emplace(name, node);
    std::unordered_set<std::string> inBodies;
    for (auto const &attribute : node->attribute())
      if (attribute.has_g())
        collectNames(attribute.g(), inBodies);
    for (std::string const &name : inBodies)
      ++readers[name];
    for (std::string const &name : node->input())
      ++readers[name];
  }
}

NodeProto const *Roller::maker(std::string const &name) const {
  auto const found = makers.find(name);
  return found == makers.end() ? nullptr : found->second;
}

std::optional<llvm::SmallVector<int64_t>> Roller::constant(std::string const &name) const {
  auto const found = scope.find(name);
  constexpr int64_t most = 8;
  if (found == scope.end() || !found->second.constant || found->second.hasUnknown ||
      !isa<IntegerType>(found->second.type().getElementType()) || found->second.constant.getNumElements() > most)
    return std::nullopt;
  return integersOf(found->second.constant);
}

/// Of Squeeze and Unsqueeze: an attribute, or an input in later versions.
std::optional<llvm::SmallVector<int64_t>> Roller::axesOf(NodeProto const &node) const {
  if (node.input_size() > 1)
    return constant(node.input(1));
  for (auto const &attribute : node.attribute())
    if (attribute.name() == "axes")
      return llvm::SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end());
  return std::nullopt;
}

bool Roller::isSameConstant(Lanes const &names) const {
  auto const first = scope.find(names[0]);
  return first != scope.end() && first->second.constant && llvm::all_of(names, [&](std::string const &name) {
           auto const found = scope.find(name);
           return found != scope.end() && found->second.constant == first->second.constant &&
                  found->second.dataType == first->second.dataType;
         });
}

bool Roller::visit(NodeProto const *node) {
  inLanes.push_back(node);
  return seen.insert(node).second;
}

/// Slices of one tensor side by side, without the dimension that they lie along. Others may read them, too.
bool Roller::matchLeaf(Lanes const &names) {
  Sequence sequence{"", names[0], 0, 0, int64_t(names.size()), false};
  llvm::SmallVector<int64_t> places;
  for (std::string const &name : names) {
    NodeProto const *node = maker(name);
    if (!node || !isOnnx(*node))
      return false;
    int64_t axis = 0, place = 0;
    if (node->op_type() == "Gather" && node->input_size() == 2) {
      auto const index = constant(node->input(1));
      if (!index || index->size() != 1 || scope.at(node->input(1)).type().getRank() != 0)
        return false;
      axis = intAttribute(*node, "axis", 0);
      place = (*index)[0];
    } else if (node->op_type() == "Squeeze" && node->input_size() > 0) {
      auto const axes = axesOf(*node);
      node = maker(node->input(0));
      if (!axes || axes->size() != 1 || !node || node->op_type() != "Slice" || !isOnnx(*node) || node->input_size() < 4)
        return false;
      auto const starts = constant(node->input(1)), ends = constant(node->input(2)), along = constant(node->input(3));
      auto const steps = node->input_size() > 4 ? constant(node->input(4)) : llvm::SmallVector<int64_t>{1};
      if (!starts || !ends || !along || starts->size() != 1 || ends->size() != 1 || *along != *axes ||
          steps != llvm::SmallVector<int64_t>{1} || (*ends)[0] < 1 || (*starts)[0] != (*ends)[0] - 1)
        return false;
      axis = (*axes)[0];
      place = (*starts)[0];
    } else {
      return false;
    }
    if (axis < 0 || place < 0 || place > INT32_MAX ||
        (!places.empty() && (axis != sequence.axis || node->input(0) != sequence.data)))
      return false;
    sequence.axis = axis;
    sequence.data = node->input(0);
    places.push_back(place);
  }
  sequence.isReversed = places[1] < places[0];
  sequence.first = sequence.isReversed ? places.back() : places[0];
  for (auto [lane, place] : llvm::enumerate(places))
    if (place != places[0] + (sequence.isReversed ? -int64_t(lane) : int64_t(lane)))
      return false;
  sequences.push_back(sequence);
  return true;
}

/// The same operator in all lanes: its operands are to be looked at.
bool Roller::matchNodes(Lanes const &names) {
  NodeProto const *first = maker(names[0]);
  if (!first || hasBody(*first) || first->output_size() != 1)
    return false;
  for (std::string const &name : names) {
    NodeProto const *node = maker(name);
    if (!node || node->op_type() != first->op_type() || node->domain() != first->domain() ||
        node->input_size() != first->input_size() || node->output_size() != 1 ||
        node->attribute_size() != first->attribute_size() || !visit(node))
      return false;
    for (auto const &[a, b] : llvm::zip(first->attribute(), node->attribute()))
      if (node != first && a.SerializeAsString() != b.SerializeAsString())
        return false;
  }
  chain.insert(first);
  for (int at = 0; at < first->input_size(); ++at) {
    Lanes inputs;
    for (std::string const &name : names)
      inputs.push_back(maker(name)->input(at));
    open.push_back(std::move(inputs));
  }
  return true;
}

bool Roller::match(Lanes first) {
  open = {std::move(first)};
  while (!open.empty()) {
    Lanes const names = std::move(open.back());
    open.pop_back();
    if (llvm::all_equal(names) || isSameConstant(names))
      continue;
    auto const [found, isNew] = known.try_emplace(names[0], names);
    if (!isNew && found->second != names)
      return false;
    if (isNew && !matchLeaf(names) && !matchNodes(names))
      return false;
  }
  return !sequences.empty() && !chain.empty();
}

/// Nobody else reads what is made in the lanes.
bool Roller::isClosed() const {
  std::unordered_map<std::string, int> within;
  for (NodeProto const *node : inLanes)
    for (std::string const &name : node->input())
      ++within[name];
  return llvm::all_of(inLanes, [&](NodeProto const *node) {
    std::string const &name = node->output(0);
    auto const all = readers.find(name);
    return all == readers.end() || all->second == (within.count(name) ? within.at(name) : 0);
  });
}

/// The slices of all lanes together.
NodeProto Roller::sliceOf(NodeProto const &concat, Sequence &sequence) {
  std::string const stem = concat.output(0) + "." + sequence.step;
  auto const fresh = [&](StringRef role) {
    std::string name = stem + "." + role.str();
    while (scope.count(name) || makers.count(name))
      name += ".lanes";
    return name;
  };
  NodeProto slice;
  slice.set_op_type("Slice");
  slice.set_name(concat.name());
  slice.add_input(sequence.data);
  for (auto [role, number] : {std::pair<StringRef, int64_t>{"first", sequence.first},
                              {"end", sequence.first + sequence.count},
                              {"axis", sequence.axis}}) {
    std::string const name = fresh(role);
    scope[name] = GraphValue{name, pb::TensorProto::INT64, {}, integersAttr(context, {number})};
    slice.add_input(name);
  }
  sequence.data = fresh("steps");
  slice.add_output(sequence.data);
  makers[sequence.data] = nullptr;
  return slice;
}

NodeProto Roller::scanOf(NodeProto const &concat, std::string const &result, int64_t axis) const {
  NodeProto scan;
  scan.set_op_type("Scan");
  scan.set_name(concat.name());
  scan.add_output(concat.output(0));
  auto const attribute = [&](StringRef name) {
    pb::AttributeProto *added = scan.add_attribute();
    added->set_name(name.str());
    return added;
  };
  auto const integers = [&](StringRef name) {
    pb::AttributeProto *added = attribute(name);
    added->set_type(pb::AttributeProto::INTS);
    return added;
  };
  pb::AttributeProto *count = attribute("num_scan_inputs");
  count->set_type(pb::AttributeProto::INT);
  count->set_i(sequences.size());
  auto *axes = integers("scan_input_axes"), *directions = integers("scan_input_directions");
  pb::AttributeProto *body = attribute("body");
  body->set_type(pb::AttributeProto::GRAPH);
  for (Sequence const &sequence : sequences) {
    scan.add_input(sequence.data);
    axes->add_ints(sequence.axis);
    directions->add_ints(sequence.isReversed);
    body->mutable_g()->add_input()->set_name(sequence.step);
  }
  integers("scan_output_axes")->add_ints(axis);
  std::vector<NodeProto const *> ordered(chain.begin(), chain.end());
  llvm::sort(ordered, [&](NodeProto const *a, NodeProto const *b) { return places.at(a) < places.at(b); });
  for (NodeProto const *node : ordered)
    *body->mutable_g()->add_node() = *node;
  body->mutable_g()->add_output()->set_name(result);
  return scan;
}

std::vector<NodeProto> Roller::roll(NodeProto const &concat) {
  if (concat.op_type() != "Concat" || !isOnnx(concat) || concat.input_size() < fewestLanes ||
      concat.output_size() != 1 || opset < 11)
    return {};
  int64_t const axis = intAttribute(concat, "axis", -1);
  inLanes = {}, chain = {}, known = {}, sequences = {}; // clear() would keep the room of the largest
  Lanes results;
  for (std::string const &name : concat.input()) {
    NodeProto const *node = maker(name);
    if (!node || node->op_type() != "Unsqueeze" || !isOnnx(*node) || node->input_size() == 0 || axis < 0 ||
        axesOf(*node) != llvm::SmallVector<int64_t>{axis} || !visit(node))
      return {};
    results.push_back(node->input(0));
  }
  std::string const result = results[0];
  inLanes.push_back(&concat);
  if (!match(std::move(results)))
    return {};
  inLanes.erase(llvm::find(inLanes, &concat));
  // What the Concat itself reads counts as a read within the lanes
  for (std::string const &name : concat.input())
    --readers[name];
  bool const isWhole = isClosed() && llvm::all_of(sequences, [&](Sequence const &sequence) {
                         auto const data = scope.find(sequence.data);
                         return data == scope.end() || !data->second.constant;
                       });
  for (std::string const &name : concat.input())
    ++readers[name];
  if (!isWhole)
    return {};
  replaced.insert(inLanes.begin(), inLanes.end());
  replaced.insert(&concat);
  std::vector<NodeProto> made;
  for (Sequence &sequence : sequences)
    made.push_back(sliceOf(concat, sequence));
  made.push_back(scanOf(concat, result, axis));
  return made;
}

Nodes Importer::rolled(Nodes nodes, Scope &scope) {
  auto const opset = modelOpsets.find("");
  Roller roller(context, nodes, model.graph(), scope, opset == modelOpsets.end() ? 0 : opset->second);
  std::unordered_map<pb::NodeProto const *, Nodes> made;
  for (pb::NodeProto const *node : nodes)
    for (pb::NodeProto &part : roller.roll(*node))
      made[node].push_back(&rolledNodes.emplace_back(std::move(part)));
  if (made.empty())
    return nodes;
  Nodes result;
  for (pb::NodeProto const *node : nodes)
    if (auto const found = made.find(node); found != made.end())
      llvm::append_range(result, found->second);
    else if (!roller.replaced.count(node))
      result.push_back(node);
  return result;
}

} // namespace ml2k::frontend
