//===- RollBags.cpp - bags of one length are a reduction ----------------------------------------------------------===//
//
// PyTorch's exporter writes EmbeddingBag as a Loop that appends, for each bag, the sum, mean or largest of rows
// [offset[i], offset[i + 1]) to a sequence, and joins that. Where all bags have one length, as for indices [bags,
// length], the rows are [bags, length, ...] and one reduction does it. Only that loop is taken, operator by operator.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace ml2k::frontend {

using pb::GraphProto;
using pb::NodeProto;

namespace {

constexpr int mostNodes = 64; ///< of the body
constexpr size_t mostText = 1 << 12;

bool is(NodeProto const *node, StringRef op, int inputs) {
  return node && node->op_type() == op && isOnnx(*node) && node->input_size() == inputs && node->output_size() == 1;
}

GraphProto const *graphOf(NodeProto const &node, StringRef name) {
  for (pb::AttributeProto const &attribute : node.attribute())
    if (attribute.name() == name && attribute.has_g())
      return &attribute.g();
  return nullptr;
}

/// A loop over bags, and what stands around it.
class BagLoop {
public:
  using Makers = std::unordered_map<std::string, NodeProto const *>;
  BagLoop(Makers const &graph, Scope const &scope, NodeProto const &loop) : graph(graph), scope(scope), loop(loop) {}

  bool match();

  std::string reduction, rows, bags; ///< `bags`: a scalar of the graph, if `count` is not known
  int64_t length = 0, count = 0;

private:
  bool collect(GraphProto const &body);
  bool matchOffsets(std::string const &name);
  bool matchRow(std::string const &name);
  std::string text(std::string const &name) const;
  std::string textOf(NodeProto const &node) const;
  std::optional<int64_t> number(std::string const &name) const;
  NodeProto const *makerIn(Makers const &makers, std::string name) const;
  NodeProto const *maker(std::string const &name) const { return makerIn(graph, name); }
  bool isFlat(NodeProto const *node) const { return is(node, "Reshape", 2) && number(node->input(1)) == -1; }
  std::string flatSource(std::string name) const;
  bool countsIndices(NodeProto const *node) const;

  bool isOutside(std::string const &name) const { return scope.count(name) || graph.count(name); }
  bool begins() const;

  Makers const &graph;
  Scope const &scope;
  NodeProto const &loop;
  GraphProto const *body = nullptr;
  Makers inside;
  mutable std::unordered_map<std::string, std::string> texts;
  std::string indices; ///< one row of the table for each
};

NodeProto const *BagLoop::makerIn(Makers const &makers, std::string name) const {
  for (int steps = 0; steps < mostNodes; ++steps) {
    auto const found = makers.find(name);
    if (found == makers.end() || !is(found->second, "Identity", 1))
      return found == makers.end() ? nullptr : found->second;
    name = found->second->input(0);
  }
  return nullptr;
}

/// The only element of an integer constant of the graph.
std::optional<int64_t> BagLoop::number(std::string const &name) const {
  auto const found = scope.find(name);
  if (found == scope.end() || !found->second.constant || found->second.constant.getNumElements() != 1 ||
      !found->second.constant.getElementType().isSignlessInteger(64))
    return std::nullopt;
  return integersOf(found->second.constant)[0];
}

/// Finds who makes what; false if a name has two meanings.
bool BagLoop::collect(GraphProto const &part) {
  for (auto const &input : part.input())
    if (isOutside(input.name()))
      return false;
  for (pb::TensorProto const &tensor : part.initializer())
    if (isOutside(tensor.name()))
      return false;
  for (NodeProto const &node : part.node()) {
    for (std::string const &name : node.output())
      if (isOutside(name) || !inside.try_emplace(name, &node).second || int(inside.size()) > mostNodes)
        return false;
    for (pb::AttributeProto const &attribute : node.attribute())
      if (attribute.has_g() && !collect(attribute.g()))
        return false;
  }
  return true;
}

/// What indices were before they were flattened twice. Sorted nodes have no circle.
std::string BagLoop::flatSource(std::string name) const {
  for (NodeProto const *node = maker(name); isFlat(node) && isFlat(maker(node->input(0))); node = maker(name))
    name = node->input(0);
  return name;
}

/// Whether a node gives the number of indices.
bool BagLoop::countsIndices(NodeProto const *node) const {
  if (!is(node, "Shape", 1) || indices.empty())
    return false;
  for (pb::AttributeProto const &attribute : node->attribute())
    if (!(attribute.name() == "start" && attribute.i() == 0) && !(attribute.name() == "end" && attribute.i() == 1))
      return false;
  return isFlat(maker(node->input(0))) && flatSource(node->input(0)) == flatSource(indices);
}

/// A value of the body as operators and operands; scalars and vectors of one element are the same, and so are types.
std::string BagLoop::text(std::string const &name) const {
  if (name == body->input(2).name())
    return "i";
  if (auto const node = inside.find(name); node != inside.end()) {
    auto const [known, isNew] = texts.try_emplace(name, "?"); // which one is that reads itself
    std::string const made = isNew ? textOf(*node->second) : known->second;
    return texts[name] = made;
  }
  if (auto const known = number(name))
    return std::to_string(*known);
  return countsIndices(maker(name)) ? "count" : "$" + name;
}

std::string BagLoop::textOf(NodeProto const &node) const {
  if (is(&node, "Identity", 1) || is(&node, "CastLike", 2) || isFlat(&node))
    return text(node.input(0));
  if (countsIndices(&node))
    return "count";
  std::string result = node.op_type();
  for (pb::AttributeProto const &attribute : node.attribute())
    if (!attribute.has_g())
      result += "<" + attribute.name() + "=" + std::to_string(attribute.i()) + ">";
  llvm::SmallVector<std::string> parts(node.input().begin(), node.input().end());
  for (StringRef branch : {"then_branch", "else_branch"})
    if (GraphProto const *part = graphOf(node, branch); part && part->output_size() == 1)
      parts.push_back(part->output(0).name());
  for (std::string &part : parts)
    if (part = text(part); part.size() > mostText)
      return "?";
  return result + "(" + llvm::join(parts, ",") + ")";
}

/// Offsets 0, length, 2 * length, ... and the number of indices: constants, or a Range with that behind it.
bool BagLoop::matchOffsets(std::string const &name) {
  if (auto const found = scope.find(name); found != scope.end() && found->second.constant) {
    auto const type = found->second.type();
    if (type.getRank() != 1 || type.getDimSize(0) < 2 || !type.getElementType().isSignlessInteger(64) ||
        found->second.hasUnknown)
      return false;
    SmallVector<int64_t> const values = integersOf(found->second.constant);
    length = values[1];
    count = int64_t(values.size()) - 1;
    for (auto [at, value] : llvm::enumerate(values))
      if (length < 1 || value != int64_t(at) * length)
        return false;
    return number(bags) == count;
  }
  NodeProto const *concat = maker(name);
  NodeProto const *range = is(concat, "Concat", 2) ? maker(concat->input(0)) : nullptr;
  NodeProto const *size = maker(bags);
  if (!is(range, "Range", 3) || number(range->input(0)) != 0 || !countsIndices(maker(concat->input(1))) ||
      !is(size, "Size", 1) || maker(size->input(0)) != range)
    return false;
  length = number(range->input(2)).value_or(0);
  return length > 0;
}

bool BagLoop::matchRow(std::string const &name) {
  auto const choice = inside.find(name);
  if (choice == inside.end() || !is(choice->second, "If", 1))
    return false;
  NodeProto const *isEmpty = makerIn(inside, choice->second->input(0));
  GraphProto const *full = graphOf(*choice->second, "else_branch");
  if (!is(isEmpty, "Equal", 2) || !full || full->output_size() != 1)
    return false;
  std::string const from = text(isEmpty->input(0)), end = text(isEmpty->input(1));
  NodeProto const *start = makerIn(inside, isEmpty->input(0));
  if (!is(start, "Slice", 3))
    return false;
  std::string const offsets = start->input(0);
  for (auto const &[output, node] : inside)
    if (is(node, "Slice", 3) && text(node->input(1)) == from && text(node->input(2)) == end) {
      if (!rows.empty() && rows != node->input(0))
        return false;
      rows = node->input(0);
    }
  // The rows come from a table, one for each index
  NodeProto const *gather = maker(rows);
  if (is(gather, "Mul", 2))
    gather = maker(gather->input(0));
  bool const isTable = is(gather, "Gather", 2) && gather->attribute_size() == 0;
  indices = isTable && isFlat(maker(gather->input(1))) ? gather->input(1) : "";
  texts.clear(); // the number of indices is known by name from here on
  std::string const table = "$" + offsets;
  if (rows.empty() || from != "Slice(" + table + ",i,Add(i,1))" || end != "Slice(" + table + ",Add(i,1),Add(i,2))" ||
      !matchOffsets(offsets))
    return false;
  std::string const all = count > 0 ? std::to_string(count * length) : "count";
  std::string const last = "Equal(i," + (count > 0 ? std::to_string(count - 1) : "Sub(" + text(bags) + ",1)") + ")";
  std::string const part = "Slice($" + rows + "," + from + "," + end + ")", sum = "ReduceSum(" + part + ",0)";
  std::string const rest = "Slice($" + rows + "," + from + "," + all + ")", left = "Sub(" + all + "," + from + ")";
  std::string const found = text(full->output(0).name());
  if (found == sum)
    reduction = "ReduceSum";
  else if (found == "ReduceMax(If(" + last + "," + rest + "," + part + "),0)")
    reduction = "ReduceMax";
  else if (found == "If(" + last + ",If(Greater(" + left + ",0),Div(" + sum + ",Cast<to=1>(" + left + "))," + sum +
                        "),ReduceMean(" + part + ",0))")
    reduction = "ReduceMean";
  return !reduction.empty();
}

bool BagLoop::match() {
  body = graphOf(loop, "body");
  if (!body || loop.input_size() != 4 || loop.output_size() != 2 || !loop.input(0).empty() ||
      number(loop.input(2)) != 0 || body->input_size() != 4 || body->output_size() != 3 || !collect(*body))
    return false;
  NodeProto const *append = makerIn(inside, body->output(2).name()), *goesOn = makerIn(inside, body->output(0).name());
  if (!is(append, "SequenceInsert", 2) || append->input(0) != body->input(3).name() || !is(goesOn, "Less", 2) ||
      text(body->output(1).name()) != "Add(i,1)" || text(goesOn->input(0)) != "Add(i,1)")
    return false;
  bags = goesOn->input(1);
  return isOutside(bags) && matchRow(append->input(1)) && begins();
}

/// Whether there is a first step where there is a bag.
bool BagLoop::begins() const {
  std::string const &name = loop.input(1);
  auto const found = scope.find(name);
  if (name.empty())
    return count > 0;
  if (found != scope.end() && found->second.constant) {
    DenseElementsAttr const holds = found->second.constant;
    bool const isCondition = isa<IntegerType>(holds.getElementType()) && holds.getNumElements() == 1;
    return count > 0 && isCondition && integersOf(holds)[0] != 0;
  }
  NodeProto const *first = maker(name);
  return is(first, "Less", 2) && number(first->input(0)) == 0 && first->input(1) == bags;
}

} // namespace

/// The same nodes, with a reduction in place of each loop over bags of one length.
Nodes Importer::withoutBags(Nodes nodes, Scope &scope) {
  auto const opset = modelOpsets.find("");
  bool const hasBags = llvm::any_of(nodes, [](NodeProto const *node) { return is(node, "ConcatFromSequence", 1); });
  if (!hasBags || opset == modelOpsets.end() || opset->second < 18)
    return nodes;
  BagLoop::Makers makers;
  std::unordered_map<std::string, int> readers;
  for (NodeProto const *node : nodes) {
    for (std::string const &name : node->output())
      makers.try_emplace(name, node);
    for (std::string const &name : node->input())
      ++readers[name];
  }
  std::unordered_set<std::string> captured;
  for (NodeProto const *node : nodes)
    for (pb::AttributeProto const &attribute : node->attribute())
      if (attribute.has_g())
        collectNames(attribute.g(), captured);
  for (auto const &output : model.graph().output())
    captured.insert(output.name());
  auto const isOwn = [&](std::string const &name, int most) { return readers[name] <= most && !captured.count(name); };
  std::unordered_set<NodeProto const *> gone;
  std::unordered_map<NodeProto const *, Nodes> made;
  for (NodeProto const *node : nodes) {
    auto const found = is(node, "ConcatFromSequence", 1) ? makers.find(node->input(0)) : makers.end();
    NodeProto const *loop = found == makers.end() ? nullptr : found->second;
    if (!loop || loop->op_type() != "Loop" || loop->output_size() != 2 || loop->output(1) != node->input(0) ||
        !isOwn(loop->output(0), 0) || !isOwn(loop->output(1), 1) || loop->input_size() != 4)
      continue;
    auto const empty = makers.find(loop->input(3));
    if (empty == makers.end() || !is(empty->second, "SequenceEmpty", 0) || !isOwn(loop->input(3), 1) ||
        node->attribute_size() != 1 || node->attribute(0).name() != "axis" || node->attribute(0).i() != 0)
      continue;
    BagLoop bags(makers, scope, *loop);
    if (!bags.match())
      continue;
    gone.insert({loop, empty->second, node});
    std::string stem = node->output(0) + ".";
    auto const isTaken = [&](StringRef role) {
      return scope.count(stem + role.str()) || makers.count(stem + role.str());
    };
    while (llvm::any_of(ArrayRef<StringRef>{"one", "length", "bags", "row", "shape", "rows"}, isTaken))
      stem += ".";
    made[node] = bagNodes(*node, *loop, bags.rows, bags.reduction, bags.bags, bags.length, stem, scope);
  }
  Nodes result;
  for (NodeProto const *node : nodes)
    if (auto const found = made.find(node); found != made.end())
      llvm::append_range(result, found->second);
    else if (!gone.count(node))
      result.push_back(node);
  return result;
}

/// rows as [bags, length, ...], reduced over `length`.
Nodes Importer::bagNodes(pb::NodeProto const &joined, pb::NodeProto const &loop, std::string const &rows,
                         std::string const &reduction, std::string const &bags, int64_t length, std::string const &stem,
                         Scope &scope) {
  Nodes nodes;
  auto const add = [&](StringRef op, std::vector<std::string> const &inputs, std::string const &output) {
    NodeProto &node = rolledNodes.emplace_back();
    node.set_op_type(op.str());
    node.set_name(loop.name());
    for (std::string const &input : inputs)
      node.add_input(input);
    node.add_output(output);
    nodes.push_back(&node);
    return &node;
  };
  auto const integer = [](NodeProto *node, StringRef name, int64_t value) {
    pb::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(name.str());
    attribute->set_type(pb::AttributeProto::INT);
    attribute->set_i(value);
  };
  auto const constant = [&](StringRef role, int64_t value) {
    std::string const name = stem + role.str();
    scope[name] = GraphValue{name, pb::TensorProto::INT64, {}, integersAttr(context, {value})};
    return name;
  };
  std::string const one = constant("one", 1), each = constant("length", length);
  add("Reshape", {bags, one}, stem + "bags");
  integer(add("Shape", {rows}, stem + "row"), "start", 1);
  integer(add("Concat", {stem + "bags", each, stem + "row"}, stem + "shape"), "axis", 0);
  add("Reshape", {rows, stem + "shape"}, stem + "rows");
  integer(add(reduction, {stem + "rows", one}, joined.output(0)), "keepdims", 0);
  return nodes;
}

} // namespace ml2k::frontend
