//===- ImportControl.cpp - If, Loop and Scan ----------------------------------------------------------------------===//
//
// What is known at import decides at import: a branch is taken, a loop is written out. Of branches that run-time data
// choose, both are computed and the results chosen element by element.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

static pb::GraphProto const &bodyOf(Node const &node, llvm::StringRef name) {
  auto const *attribute = node.attribute(name);
  if (!attribute || !attribute->has_g())
    throw Refusal("attribute " + name + " is missing");
  return attribute->g();
}

static GraphValue scalarConstant(MLIRContext &context, std::string name, Type type, int64_t value, int32_t dataType) {
  auto const attr =
      DenseElementsAttr::get(RankedTensorType::get({}, type), Builder(&context).getIntegerAttr(type, value));
  return GraphValue{std::move(name), dataType, {}, attr};
}

void collectNames(pb::GraphProto const &body, std::unordered_set<std::string> &names) {
  for (pb::NodeProto const &node : body.node()) {
    names.insert(node.input().begin(), node.input().end());
    for (pb::AttributeProto const &attribute : node.attribute())
      if (attribute.has_g())
        collectNames(attribute.g(), names);
  }
  for (auto const &output : body.output())
    names.insert(output.name());
}

/// What the body sees of the names around it.
static Scope visibleIn(pb::GraphProto const &body, Scope const &around) {
  std::unordered_set<std::string> names;
  collectNames(body, names);
  Scope visible;
  for (std::string const &name : names)
    if (auto const found = around.find(name); found != around.end())
      visible.insert(*found);
  return visible;
}

Scope Importer::scopeOf(pb::GraphProto const &body, Values const &inputs, Scope const &around) {
  if (static_cast<size_t>(body.input_size()) != inputs.size())
    throw Refusal("its body has " + Twine(body.input_size()) + " inputs where " + Twine(inputs.size()) + " are given");
  Scope inner = visibleIn(body, around);
  for (pb::TensorProto const &tensor : body.initializer())
    inner[tensor.name()] = GraphValue{tensor.name(), tensor.data_type(), {}, tensorValue(context, tensor, directory)};
  for (int at = 0; at < body.input_size(); ++at)
    inner[body.input(at).name()] = inputs[at];
  return inner;
}

/// Imports a body with values for its inputs. The names around it are visible inside.
Importer::Values Importer::importBody(pb::GraphProto const &body, Values const &inputs, Scope const &around,
                                      Opsets const &opsets) {
  Scope inner = scopeOf(body, inputs, around);
  for (pb::NodeProto const &node : body.node())
    importNode(node, inner, opsets);
  Values outputs;
  for (auto const &output : body.output()) {
    auto const found = inner.find(output.name());
    if (found == inner.end())
      throw Refusal("output \"" + Twine(output.name()) + "\" of its body is made by no node");
    if (found->second.isRefused)
      throw Refusal("its body is not supported");
    if (!found->second.counts.empty())
      throw Refusal("run-time data decide how many elements \"" + Twine(output.name()) + "\" of its body has");
    outputs.push_back(found->second);
  }
  return outputs;
}

Value Importer::valueOf(GraphValue &value) { return value.value ? value.value : materialize(value); }

//===--- If -------------------------------------------------------------------------------------------------------===//

Importer::Values Importer::importIf(Node const &node, GraphValue &condition, Scope const &around,
                                    Opsets const &opsets) {
  if (condition.constant) {
    bool const holds = integersOf(condition.constant)[0] != 0;
    return importBody(bodyOf(node, holds ? "then_branch" : "else_branch"), {}, around, opsets);
  }
  Values results = importBody(bodyOf(node, "then_branch"), {}, around, opsets);
  Values others = importBody(bodyOf(node, "else_branch"), {}, around, opsets);
  if (results.size() != others.size())
    throw Refusal("its branches have different numbers of outputs");
  Value const holds = build.reshape(condition.value, {});
  for (auto [result, other] : llvm::zip(results, others)) {
    if (result.dataType != other.dataType || result.type().getShape() != other.type().getShape())
      throw Refusal("its branches give " + shapeText(result.type().getShape()) + " and " +
                    shapeText(other.type().getShape()) + "; run-time data may choose values, not shapes" +
                    (build.extents.names().empty() ? "" : "; if a symbolic dimension decides, give it by --dim"));
    Value const chosen = build.elementwise({holds, valueOf(result), valueOf(other)}, result.type().getElementType(),
                                           [](Scalars &s, ValueRange v) { return s.select(v[0], v[1], v[2]); });
    result = GraphValue{result.name, result.dataType, chosen, {}};
  }
  return results;
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

/// The steps of a scan output side by side along a new axis.
GraphValue Importer::stacked(Values &steps, int64_t axis) {
  if (steps.empty())
    throw Refusal("a loop of no steps has outputs of unknown shape");
  GraphValue result{steps[0].name, steps[0].dataType, {}, {}};
  for (GraphValue const &step : steps)
    if (step.type() != steps[0].type())
      throw Refusal("the steps of an output have different shapes");
  RankedTensorType const type = steps[0].type();
  if (axis == 0 && llvm::all_of(steps, [](GraphValue const &step) { return step.constant && !step.hasUnknown; })) {
    llvm::SmallVector<Attribute> elements;
    for (GraphValue const &step : steps)
      llvm::append_range(elements, step.constant.getValues<Attribute>());
    Ints shape(type.getShape());
    shape.insert(shape.begin(), steps.size());
    result.constant = DenseElementsAttr::get(tensorType(shape, type.getElementType()), elements);
    return result;
  }
  llvm::SmallVector<Value> parts;
  for (GraphValue &step : steps)
    parts.push_back(build.unsqueeze(valueOf(step), {axis}));
  result.value = build.concat(parts, axis);
  return result;
}

static bool knownCondition(GraphValue const &condition) {
  if (!condition.constant)
    throw Refusal("run-time data decide when it ends; only loops whose steps are known are supported");
  return integersOf(condition.constant)[0] != 0;
}

/// Body: step, condition, states -> condition, states, scan outputs.
Importer::Values Importer::importLoop(Node const &node, Values states, Scope const &around, Opsets const &opsets) {
  pb::GraphProto const &body = bodyOf(node, "body");
  int64_t const last = node.has(0) ? node.wideInts(0, "the number of steps")[0] : std::numeric_limits<int64_t>::max();
  bool goesOn = !node.has(1) || node.ints(1, "the condition")[0] != 0;
  int64_t const scans = static_cast<int64_t>(body.output_size()) - 1 - static_cast<int64_t>(states.size());
  if (scans < 0)
    throw Refusal("its body has fewer outputs than states");
  if (goesOn && last > 0)
    if (auto const results = importSteps({body, 2, 1, states, {}, {}, Ints(scans, 0), last, true}, around, opsets))
      return *results;
  std::vector<Values> steps(scans);
  for (int64_t step = 0; goesOn && step < last; ++step) {
    countUnrolled(body.node_size() + 1);
    if (step * body.node_size() > maxUnrolledNodes)
      throw Refusal("it has too many steps to be written out");
    Values inputs{scalarConstant(context, "step", build.getI64Type(), step, pb::TensorProto::INT64),
                  scalarConstant(context, "condition", build.getI1Type(), 1, pb::TensorProto::BOOL)};
    llvm::append_range(inputs, states);
    Values const outputs = importBody(body, inputs, around, opsets);
    goesOn = knownCondition(outputs[0]);
    for (size_t at = 0; at < states.size(); ++at)
      states[at] = outputs[1 + at];
    for (int64_t at = 0; at < scans; ++at)
      steps[at].push_back(outputs[1 + states.size() + at]);
  }
  for (Values &scan : steps)
    states.push_back(stacked(scan, 0));
  return states;
}

/// The part of a scan input for one step.
GraphValue Importer::stepOf(GraphValue &sequence, int64_t axis, int64_t step) {
  Value const part = build.squeeze(build.slice(valueOf(sequence), axis, step, 1), {axis});
  return GraphValue{sequence.name, sequence.dataType, part, {}};
}

/// The same as a loop of the module, whose steps are in front.
std::optional<Importer::Values> Importer::importScanSteps(pb::GraphProto const &body, Values const &inputs,
                                                          size_t states, ScanAxes const &axes, Scope const &around,
                                                          Opsets const &opsets) {
  StepLoop loop{body, 0,    0, Values(inputs.begin(), inputs.begin() + states), {}, axes.reversed, axes.reversedOut,
                0,    false};
  for (auto [at, axis] : llvm::enumerate(axes.in)) {
    GraphValue sequence = inputs[states + at];
    sequence.value = moved(build, valueOf(sequence), axis, 0);
    sequence.constant = {};
    loop.count = build.extents.of(sequence.value, 0);
    loop.sequences.push_back(sequence);
  }
  std::optional<Values> results = importSteps(loop, around, opsets);
  for (size_t at = 0; results && at < axes.out.size(); ++at) {
    GraphValue &scan = (*results)[states + at];
    int64_t const rank = scan.type().getRank(), place = axes.out[at] < 0 ? axes.out[at] + rank : axes.out[at];
    if (place < 0 || place >= rank)
      throw Refusal("axis " + Twine(axes.out[at]) + " is out of range for rank " + Twine(rank));
    scan.value = moved(build, scan.value, 0, place);
  }
  return results;
}

void Importer::countUnrolled(int64_t nodes) {
  unrolledNodes += nodes;
  if (unrolledNodes > maxUnrolledInAll)
    throw Refusal("with it, loops have too many steps to be written out");
}

/// Body: states, one step of each scan input -> states, one step of each scan output.
Importer::Values Importer::importScan(Node const &node, Values inputs, Scope const &around, Opsets const &opsets) {
  pb::GraphProto const &body = bodyOf(node, "body");
  size_t const sequences = node.intAttr("num_scan_inputs"), states = inputs.size() - sequences;
  if (sequences < 1 || sequences > inputs.size() || static_cast<size_t>(body.output_size()) < states)
    throw Refusal("num_scan_inputs does not fit its inputs");
  size_t const scans = body.output_size() - states;
  auto listed = [&](llvm::StringRef name, size_t count) {
    Ints const values = node.intsAttr(name).value_or(Ints(count, 0));
    if (values.size() != count)
      throw Refusal("attribute " + name + " has " + Twine(values.size()) + " values, " + Twine(count) + " are needed");
    return values;
  };
  Ints axes = listed("scan_input_axes", sequences), outputAxes = listed("scan_output_axes", scans);
  Ints const reversed = listed(node.opset < 9 ? "directions" : "scan_input_directions", sequences),
             reversedOut = listed("scan_output_directions", scans);
  std::optional<Extent> count;
  for (size_t i = 0; i < sequences; ++i) {
    axes[i] = node.axis(axes[i], inputs[states + i].type().getRank());
    Extent const extent = build.extents.of(valueOf(inputs[states + i]), axes[i]);
    if (!count)
      count = extent;
    if (count->number() && extent.number() && count->number() != extent.number())
      throw Refusal("its sequences have " + Twine(*count->number()) + " steps and " + Twine(*extent.number()));
    build.extents.requireEqual(*count, extent);
  }
  int64_t const length = count->number().value_or(-1);
  bool const isReversed = llvm::is_contained(reversed, 1) || llvm::is_contained(reversedOut, 1);
  if (!isReversed && canScanAtOnce(body, states))
    return importScanAtOnce(body, std::move(inputs), axes, outputAxes, around, opsets);
  if (auto const results =
          importScanSteps(body, inputs, states, {axes, outputAxes, reversed, reversedOut}, around, opsets))
    return *results;
  if (length < 0)
    throw Refusal("its steps cannot be a loop: their number has to be known; give symbolic dimensions by --dim");
  if (length * body.node_size() > maxUnrolledNodes)
    throw Refusal("it has too many steps to be written out");
  std::vector<Values> steps(scans);
  Values carried(inputs.begin(), inputs.begin() + states);
  for (int64_t step = 0; step < length; ++step) {
    countUnrolled(body.node_size() + 1);
    Values given = carried;
    for (size_t i = 0; i < sequences; ++i)
      given.push_back(stepOf(inputs[states + i], axes[i], reversed[i] ? length - 1 - step : step));
    Values const outputs = importBody(body, given, around, opsets);
    carried.assign(outputs.begin(), outputs.begin() + states);
    for (size_t at = 0; at < scans; ++at)
      steps[at].insert(reversedOut[at] ? steps[at].begin() : steps[at].end(), outputs[states + at]);
  }
  for (size_t at = 0; at < scans; ++at) {
    int64_t const rank = steps[at].empty() ? 1 : steps[at][0].type().getRank() + 1;
    carried.push_back(stacked(steps[at], node.axis(outputAxes[at], rank)));
  }
  return carried;
}

/// Version 8: input 0 would be the lengths of sequences, all others and all outputs have a batch in front.
Importer::Values Importer::importBatchedScan(Node const &node, Values inputs, Scope const &around,
                                             Opsets const &opsets) {
  int64_t const batch = inputs.empty() || inputs[0].type().getRank() == 0 ? -1 : inputs[0].type().getDimSize(0);
  for (GraphValue const &input : inputs)
    if (batch < 1 || input.type().getRank() == 0 || input.type().getDimSize(0) != batch)
      throw Refusal("its inputs need one known batch in front; give symbolic dimensions by --dim");
  std::vector<Values> outputs;
  for (int64_t item = 0; item < batch; ++item) {
    Values own;
    for (GraphValue &input : inputs)
      own.push_back(stepOf(input, 0, item));
    Values const results = importScan(node, own, around, opsets);
    outputs.resize(results.size());
    for (auto [all, result] : llvm::zip(outputs, results))
      all.push_back(result);
  }
  Values results;
  for (Values &all : outputs)
    results.push_back(stacked(all, 0));
  return results;
}

//===--- Nodes ----------------------------------------------------------------------------------------------------===//

bool Importer::importControl(pb::NodeProto const &proto, int opset, std::vector<GraphValue *> const &inputs,
                             Scope &scope, Opsets const &opsets) {
  std::string const &name = proto.op_type();
  if (!(name == "If" || name == "Loop" || name == "Scan") || !isOnnx(proto))
    return false;
  Node const node(proto, opset, inputs, build, [&](GraphValue &value) { return materialize(value); }, directory);
  Values given;
  bool const isBatched = name == "Scan" && opset < 9;
  if (isBatched && inputs[0])
    throw Refusal("sequences of different lengths (input 0) are not supported");
  for (size_t at = name == "Loop" ? 2 : isBatched ? 1 : 0; at < inputs.size(); ++at) {
    if (!inputs[at])
      throw Refusal("input " + Twine(at) + " is missing");
    given.push_back(*inputs[at]);
  }
  if (name == "If" && (given.size() != 1 || !given[0].type().hasStaticShape() || given[0].type().getNumElements() != 1))
    throw Refusal("one condition is needed");
  Values const results = name == "If"     ? importIf(node, given[0], scope, opsets)
                         : name == "Loop" ? importLoop(node, given, scope, opsets)
                         : isBatched      ? importBatchedScan(node, given, scope, opsets)
                                          : importScan(node, given, scope, opsets);
  for (int at = 0; at < proto.output_size(); ++at) {
    if (static_cast<size_t>(at) >= results.size())
      throw Refusal("it has more outputs than its body gives");
    if (!proto.output(at).empty())
      scope[proto.output(at)] = results[at];
  }
  return true;
}

/// Rows for the versions; the importer does the work.
void registerControl(Registry &table) {
  auto const byImporter = [](Node &node) { node.refuse("it is no operator of its own here"); };
  table.add("If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, byImporter);
  table.add("Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, byImporter);
  table.add("Scan", {8, 9, 11, 16, 19, 21, 23, 24, 25}, byImporter);
}

} // namespace ml2k::frontend
