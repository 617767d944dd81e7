//===- ImportStepsAhead.cpp - what is known for all steps before the loop ----------------------------------------===//

#include "translator/frontend/onnx/importer/StepImport.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::StringRef;

namespace ml2k::frontend {

void StepImport::define(pb::NodeProto const &node, Origin origin) {
  for (std::string const &name : node.output())
    origins[name] = origin;
}

/// Sums of the step and constants.
std::optional<StepNumber> StepImport::stepOf(pb::NodeProto const &node) const {
  if (!isOnnx(node) || node.output_size() != 1)
    return std::nullopt;
  auto const number = [&](int at) -> std::optional<StepNumber> {
    if (auto const found = numbers.find(node.input(at)); found != numbers.end())
      return found->second;
    auto const constant = constantOf(node.input(at));
    return constant ? std::optional(StepNumber{0, *constant}) : std::nullopt;
  };
  if (node.op_type() == "Identity" && node.input_size() == 1)
    return number(0);
  bool const isSum = node.op_type() == "Add";
  if (!(isSum || node.op_type() == "Sub") || node.input_size() != 2)
    return std::nullopt;
  auto const a = number(0), b = number(1);
  if (!a || !b)
    return std::nullopt;
  StepNumber const sum{isSum ? a->sign + b->sign : a->sign - b->sign,
                       isSum ? a->offset + b->offset : a->offset - b->offset};
  constexpr int64_t most = int64_t(1) << 40;
  return std::abs(sum.sign) == 1 && std::abs(sum.offset) <= most ? std::optional(sum) : std::nullopt;
}

/// Gather of the row of this step: all rows are a sequence.
bool StepImport::readRow(pb::NodeProto const &node) {
  if (node.op_type() != "Gather" || !isOnnx(node) || node.input_size() != 2 || node.output_size() != 1 ||
      originOf(node.input(0)) != Origin::fixed)
    return false;
  for (pb::AttributeProto const &attribute : node.attribute())
    if (attribute.name() == "axis" && attribute.i() != 0)
      return false;
  auto const number = numbers.find(node.input(1));
  auto const data = scope.find(node.input(0));
  if (number == numbers.end() || data == scope.end() || data->second.isRefused || !data->second.counts.empty() ||
      data->second.type().getRank() == 0 || data->second.type().isDynamicDim(0) || !count.number())
    return false;
  if (data->second.constant && !isa<FloatType>(data->second.type().getElementType()))
    return false; // a table that may decide about shapes
  int64_t const steps = *count.number(), extent = data->second.type().getDimSize(0);
  bool const isReversed = number->second.sign < 0;
  int64_t const first = number->second.offset - (isReversed ? steps - 1 : 0);
  if (first < 0 || first > extent - steps)
    return false;
  GraphValue rows = data->second;
  Value const all = importer.valueOf(rows);
  rows.value = steps == extent ? all : build.slice(all, 0, first, steps);
  rows.constant = {};
  std::string const &name = node.output(0);
  scope[name] = rows;
  origins[name] = Origin::sequence;
  varying.insert(name);
  if (isReversed)
    backwards.insert(name);
  return true;
}

/// False if its sequences go different ways.
bool StepImport::hasOneDirection(pb::NodeProto const &node, bool &isReversed) const {
  std::optional<bool> first;
  for (std::string const &name : node.input()) {
    if (originOf(name) != Origin::sequence)
      continue;
    bool const isBackwards = backwards.count(name) != 0;
    if (first && *first != isBackwards)
      return false;
    first = isBackwards;
  }
  isReversed = first.value_or(false);
  return first.has_value();
}

/// The product is computed for all steps, whatever is added to it. False if it is of another kind.
bool StepImport::visitGemm(pb::NodeProto const &node) {
  bool const hasAddend = node.input_size() > 2 && !node.input(2).empty();
  bool isTransposed = false, isScaled = false;
  for (pb::AttributeProto const &attribute : node.attribute()) {
    isScaled |= (attribute.name() == "alpha" || (attribute.name() == "beta" && hasAddend)) && attribute.f() != 1;
    isScaled |= attribute.name() == "transA" && attribute.i() != 0;
    isTransposed |= attribute.name() == "transB" && attribute.i() != 0;
  }
  if (isScaled || node.input_size() < 2 || originOf(node.input(0)) != Origin::sequence ||
      originOf(node.input(1)) != Origin::fixed)
    return false;
  auto const made = [&](StringRef type, std::string const &output) {
    pb::NodeProto part;
    part.set_op_type(type.str());
    part.set_name(node.name());
    part.add_output(output);
    return part;
  };
  std::string weight = node.input(1);
  if (isTransposed) {
    pb::NodeProto transpose = made("Transpose", freshName(scope, node, "weight"));
    transpose.add_input(weight);
    visit(transpose);
    weight = transpose.output(0);
  }
  pb::NodeProto product = made("MatMul", hasAddend ? freshName(scope, node, "product") : node.output(0));
  product.add_input(node.input(0));
  product.add_input(weight);
  visit(product);
  if (!hasAddend)
    return true;
  pb::NodeProto sum = made("Add", node.output(0));
  sum.add_input(product.output(0));
  sum.add_input(node.input(2));
  visit(sum);
  return true;
}

/// The only sequence is input 0.
bool StepImport::readsOneSequence(pb::NodeProto const &node) const {
  for (int at = 0; at < node.input_size(); ++at)
    if (originOf(node.input(at)) != (at == 0 ? Origin::sequence : Origin::fixed))
      return false;
  if (node.input_size() == 0 || node.output_size() != 1 || !isOnnx(node))
    return false;
  auto const whole = scope.find(node.input(0));
  return whole != scope.end() && !whole->second.isRefused && whole->second.type().getRank() > 1;
}

/// A product with a constant matrix, or an operator along the last axis: more dimensions in front make no difference.
bool StepImport::keepsFront(pb::NodeProto const &node) const {
  static llvm::StringSet<> const names = {"Softmax", "LogSoftmax", "LayerNormalization"};
  if (node.op_type() == "MatMul" && node.input_size() == 2) {
    auto const weight = scope.find(node.input(1));
    return weight != scope.end() && !weight->second.isRefused && weight->second.type().getRank() == 2;
  }
  auto const opset = opsets.find("");
  return names.contains(node.op_type()) && opset != opsets.end() && opset->second >= 13 &&
         llvm::all_of(node.attribute(), [](auto const &it) { return it.name() != "axis" || it.i() == -1; });
}

/// Matrices of as many dimensions on both sides, which change from step to step.
bool StepImport::isProductOfSteps(pb::NodeProto const &node) const {
  if (node.op_type() != "MatMul" || node.input_size() != 2 || node.output_size() != 1)
    return false;
  std::optional<int64_t> rank;
  for (std::string const &name : node.input()) {
    auto const whole = scope.find(name);
    if (originOf(name) != Origin::sequence || whole == scope.end() || whole->second.isRefused ||
        whole->second.type().getRank() < 3 ||
        rank.value_or(whole->second.type().getRank()) != whole->second.type().getRank())
      return false;
    rank = whole->second.type().getRank();
  }
  return true;
}

/// Operators whose first axis is the batch: that of all steps.
bool StepImport::visitBatched(pb::NodeProto const &node) {
  static llvm::StringSet<> const names = {
      "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "BatchNormalization"};
  GraphValue whole = scope[node.input(0)];
  if (!names.contains(node.op_type()) || whole.isRefused || whole.type().getRank() < 4)
    return false;
  std::vector<Extent> extents = build.extentsOf(importer.valueOf(whole));
  Extent const batch = extents[1];
  extents[1] = count * batch;
  extents.erase(extents.begin());
  whole.value = build.reshapeTo(whole.value, extents);
  std::string const name = freshName(scope, node, "batch"), &result = node.output(0);
  scope[name] = whole;
  pb::NodeProto all = node;
  all.set_input(0, name);
  importer.importNode(all, scope, opsets);
  if (GraphValue &made = scope[result]; !made.isRefused) {
    extents = build.extentsOf(importer.valueOf(made));
    extents[0] = count;
    extents.insert(extents.begin() + 1, batch);
    made.value = build.reshapeTo(made.value, extents);
    made.constant = {};
  }
  varying.insert(result);
  return true;
}

/// The steps stay in front.
bool StepImport::visitTranspose(pb::NodeProto const &node) {
  if (node.op_type() != "Transpose")
    return false;
  pb::NodeProto all = node;
  for (pb::AttributeProto &attribute : *all.mutable_attribute())
    if (attribute.name() == "perm") {
      Ints const order(attribute.ints().begin(), attribute.ints().end());
      attribute.clear_ints();
      attribute.add_ints(0);
      for (int64_t axis : order)
        attribute.add_ints(axis + 1);
      importer.importNode(all, scope, opsets);
      varying.insert(node.output(0));
      return true;
    }
  return false;
}

/// A node that depends on sequences: for all steps at once if it can be.
void StepImport::visitSequence(pb::NodeProto const &node) {
  bool isReversed = false;
  bool const isOne = readsOneSequence(node), fits = isOnnx(node) && hasOneDirection(node, isReversed);
  if (fits && ((isOne && keepsFront(node)) || isProductOfSteps(node))) {
    importer.importNode(node, scope, opsets);
    varying.insert(node.output(0));
  } else if (fits && isElementwise(node.op_type())) {
    importer.importForAllSteps(node, scope, varying, opsets);
  } else if (!fits || !isOne || !(visitTranspose(node) || visitBatched(node))) {
    perStep.push_back(node);
    return define(node, Origin::state);
  }
  define(node, Origin::sequence);
  if (isReversed)
    backwards.insert(node.output().begin(), node.output().end());
}

void StepImport::visit(pb::NodeProto const &node) {
  if (node.op_type() == "Constant" && isOnnx(node))
    return;
  bool needsStep = false, needsSequence = false, needsState = false, isUnclear = false;
  for (std::string const &name : namesRead(node)) {
    Origin const origin = originOf(name);
    needsStep |= origin == Origin::step;
    needsSequence |= origin == Origin::sequence;
    needsState |= origin == Origin::state;
    isUnclear |= origin == Origin::unclear;
  }
  if (needsStep && !isUnclear && !needsSequence && !needsState) {
    if (auto const number = stepOf(node)) {
      numbers[node.output(0)] = *number;
      return define(node, Origin::step);
    }
    if (readRow(node))
      return;
  }
  if (isUnclear || needsStep)
    return define(node, Origin::unclear);
  if (needsSequence && node.op_type() == "Gemm" && isOnnx(node) && visitGemm(node))
    return;
  if (needsState) {
    perStep.push_back(node);
    return define(node, Origin::state);
  }
  if (needsSequence)
    return visitSequence(node);
  importer.importNode(node, scope, opsets);
}

} // namespace ml2k::frontend
