//===- Node.cpp - one node of the graph, as its import function sees it -------------------------------------------===//

#include "translator/frontend/onnx/importer/Node.h"

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

Node::Node(pb::NodeProto const &proto, int opset, std::vector<GraphValue *> inputs, Build &build,
           std::function<Value(GraphValue &)> materialize, std::string directory)
    : proto(proto), opset(opset), b(build), outputs(proto.output_size()), inputs(std::move(inputs)),
      materialize(std::move(materialize)), directory(std::move(directory)) {}

//===--- Inputs ---------------------------------------------------------------------------------------------------===//

GraphValue &Node::given(size_t at) const {
  if (!has(at))
    refuse("input " + Twine(at) + " is missing");
  return *inputs[at];
}

Value Node::in(size_t at) {
  GraphValue &value = given(at);
  return value.value ? value.value : materialize(value);
}

llvm::SmallVector<Value> Node::allInputs() {
  llvm::SmallVector<Value> values;
  for (size_t at = 0; at < inputCount(); ++at)
    values.push_back(in(at));
  return values;
}

/// Sizes, axes, pads: 32 bits hold them. MLIR marks unknown sizes by larger numbers, and sums of those overflow.
static void checkWidth(Node const &node, IntsRef values, Twine const &what) {
  for (int64_t value : values)
    if (value != int32_t(value))
      node.refuse(what + " holds " + Twine(value) + "; only 32 bits are supported");
}

Ints Node::ints(size_t at, StringRef what) const {
  Ints values = wideInts(at, what);
  checkWidth(*this, values, what + " (input " + Twine(at) + ")");
  return values;
}

Ints Node::wideInts(size_t at, StringRef what) const {
  GraphValue const &value = given(at);
  if (value.hasUnknown)
    refuse(what + " (input " + Twine(at) + ") depends on a symbolic dimension; give it by --dim");
  return knownInput(at, what);
}

std::vector<Extent> Node::shapeInput(size_t at, StringRef what) const {
  std::vector<Extent> extents;
  for (int64_t number : knownInput(at, what))
    extents.push_back(given(at).hasUnknown ? b.extents.decode(number) : Extent(number));
  return extents;
}

Ints Node::knownInput(size_t at, StringRef what) const {
  GraphValue const &value = given(at);
  if (!isa<IntegerType>(value.type().getElementType()))
    refuse(what + " (input " + Twine(at) + ") holds " + dataTypeName(value.dataType) + " where integers are needed");
  if (!value.constant)
    refuse(what + " (input " + Twine(at) + ", \"" + value.name +
           "\") depends on run-time data; make the input that decides it a constant by --operand");
  return integersOf(value.constant);
}

std::vector<Extent> Node::extents(size_t at) const {
  GraphValue const &value = given(at);
  if (value.value)
    return b.extentsOf(value.value);
  return {value.type().getShape().begin(), value.type().getShape().end()};
}

double Node::scalar(size_t at, StringRef what) const {
  GraphValue const &value = given(at);
  if (value.hasUnknown)
    refuse(what + " (input " + Twine(at) + ") depends on a symbolic dimension; give it by --dim");
  if (!value.constant || value.constant.getNumElements() != 1)
    refuse(what + " (input " + Twine(at) + ", \"" + value.name +
           "\") is not a constant scalar; make the input that decides it one by --operand");
  if (isa<IntegerType>(value.type().getElementType()))
    return static_cast<double>(integersOf(value.constant)[0]);
  return (*value.constant.getValues<FloatAttr>().begin()).getValueAsDouble();
}

std::optional<Extent> Node::sizeInput(size_t at) const {
  GraphValue const &value = given(at);
  if (value.size)
    return value.size;
  if (!value.constant || value.constant.getNumElements() != 1)
    return std::nullopt;
  if (isa<IntegerType>(value.type().getElementType()))
    return shapeInput(at, "a size")[0];
  double const number = scalar(at, "a size");
  auto const whole = static_cast<int64_t>(std::abs(number) < double(maxElements) ? number : 0.5);
  return static_cast<double>(whole) == number ? std::optional(Extent(whole)) : std::nullopt;
}

void Node::needRank(size_t at, int64_t low, int64_t high) const {
  if (rank(at) < low || rank(at) > high)
    refuse("input " + Twine(at) + " has shape " + shapeText(shape(at)) + ", rank " + Twine(low) +
           (low == high ? Twine() : " to " + Twine(high)) + " is needed");
}

void Node::needFloat(size_t at) const {
  if (!isa<FloatType>(element(at)))
    refuse("input " + Twine(at) + " holds " + dataTypeName(dataType(at)) + " where floats are needed");
}

Value Node::table(StringRef name, DenseElementsAttr value) const {
  std::string const &owner = proto.name().empty() ? proto.output(0) : proto.name();
  return weight(owner + "." + name.str(), value);
}

Value Node::weight(StringRef name, DenseElementsAttr value) const {
  GraphValue constant{name.str(), dataTypeOf(value.getElementType()), {}, value};
  return materialize(constant);
}

void Node::needStatic(size_t at) const {
  if (!type(at).hasStaticShape())
    refuse("input " + Twine(at) + " has shape " + shapeText(shape(at)) + "; give its symbolic dimensions by --dim");
}

//===--- Attributes -----------------------------------------------------------------------------------------------===//

pb::AttributeProto const *Node::attribute(StringRef name) const {
  for (pb::AttributeProto const &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

pb::AttributeProto const *Node::attribute(StringRef name, pb::AttributeProto::AttributeType type) const {
  pb::AttributeProto const *found = attribute(name);
  // Models from before IR 2 leave the type out
  if (found && found->type() != type && found->type() != pb::AttributeProto::UNDEFINED)
    refuse("attribute " + name + " is of type " + pb::AttributeProto::AttributeType_Name(found->type()) + ", " +
           pb::AttributeProto::AttributeType_Name(type) + " is needed");
  return found;
}

template <typename T> static T valueOr(Node const &node, StringRef name, std::optional<T> const &otherwise) {
  if (!otherwise)
    node.refuse("attribute " + name + " is missing");
  return *otherwise;
}

int64_t Node::intAttr(StringRef name, std::optional<int64_t> otherwise) const {
  auto const *found = attribute(name, pb::AttributeProto::INT);
  if (found)
    checkWidth(*this, found->i(), "attribute " + name);
  return found ? found->i() : valueOr(*this, name, otherwise);
}

double Node::floatAttr(StringRef name, std::optional<double> otherwise) const {
  auto const *found = attribute(name, pb::AttributeProto::FLOAT);
  return found ? found->f() : valueOr(*this, name, otherwise);
}

std::string Node::stringAttr(StringRef name, std::optional<std::string> otherwise) const {
  auto const *found = attribute(name, pb::AttributeProto::STRING);
  return found ? found->s() : valueOr(*this, name, otherwise);
}

std::optional<Ints> Node::intsAttr(StringRef name) const {
  auto found = wideIntsAttr(name);
  if (found)
    checkWidth(*this, *found, "attribute " + name);
  return found;
}

std::optional<Ints> Node::wideIntsAttr(StringRef name) const {
  auto const *found = attribute(name, pb::AttributeProto::INTS);
  if (!found)
    return std::nullopt;
  return Ints(found->ints().begin(), found->ints().end());
}

std::optional<Ints> Node::intsAttrOrInput(StringRef name, size_t at) const {
  if (auto found = intsAttr(name))
    return found;
  return has(at) ? std::optional(ints(at, name)) : std::nullopt;
}

std::optional<std::vector<double>> Node::numbersAttr(StringRef name) const {
  if (auto const *found = attribute(name, pb::AttributeProto::FLOATS))
    return std::vector<double>(found->floats().begin(), found->floats().end());
  auto const *tensor = attribute((name + "_as_tensor").str(), pb::AttributeProto::TENSOR);
  return tensor ? std::optional(tensorNumbers(tensor->t())) : std::nullopt;
}

std::vector<double> Node::tensorNumbers(pb::TensorProto const &tensor) const {
  DenseElementsAttr const value = tensorAttr(tensor);
  if (!isa<FloatType>(value.getElementType()))
    refuse("a tensor of " + dataTypeName(dataTypeOf(value.getElementType())) + " where floats are needed");
  std::vector<double> numbers;
  for (APFloat const &number : value.getValues<APFloat>())
    numbers.push_back(FloatAttr::getValueAsDouble(number));
  return numbers;
}

std::vector<std::string> Node::stringsAttr(StringRef name) const {
  auto const *found = attribute(name, pb::AttributeProto::STRINGS);
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
               : std::vector<std::string>();
}

DenseElementsAttr Node::tensorAttr(pb::TensorProto const &tensor) const {
  return tensorValue(*b.getContext(), tensor, directory);
}

int64_t Node::axis(int64_t value, int64_t rank) const {
  if (value < -rank || value >= rank)
    refuse("axis " + Twine(value) + " is out of range for rank " + Twine(rank));
  return value < 0 ? value + rank : value;
}

Ints Node::axes(IntsRef values, int64_t rank) const {
  Ints axes;
  for (int64_t value : values)
    axes.push_back(axis(value, rank));
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    refuse("an axis is given twice");
  return axes;
}

//===--- Outputs --------------------------------------------------------------------------------------------------===//

void Node::out(size_t at, Value value) {
  bool const likeInput = has(0) && element(0) == Build::elementOf(value);
  out(at, value, likeInput ? dataType(0) : dataTypeOf(Build::elementOf(value)));
}

void Node::out(size_t at, Value value, int32_t dataType) {
  auto const type = tensorType(Build::shapeOf(value), Build::elementOf(value)); // refuses what is too large
  if (type.hasStaticShape() && type.getNumElements() == 0)
    value = b.empty(b.sizes(type.getShape()), type.getElementType()); // nothing is computed
  if (wants(at))
    outputs[at] = GraphValue{proto.output(at), dataType, value, {}};
}

void Node::outConstant(size_t at, DenseElementsAttr value, int32_t dataType) {
  if (wants(at))
    outputs[at] = GraphValue{proto.output(at), dataType, {}, value};
}

void Node::outWeight(size_t at, DenseElementsAttr value, int32_t dataType, StringRef name) {
  outConstant(at, value, dataType);
  if (outputs[at]) {
    outputs[at]->name = name;
    outputs[at]->isTrained = value.getType().getRank() > 0;
  }
}

void Node::keepAsNumber(size_t at) {
  if (has(at))
    given(at).isTrained = false;
}

void Node::outFill(size_t at, RankedTensorType type, Attribute number, int32_t dataType) {
  outConstant(at, DenseElementsAttr::get(type, number), dataType);
  if (outputs[at])
    outputs[at]->isFill = true;
}

void Node::outCounted(size_t at, Value value, int32_t dataType, int64_t axis, Value count) {
  out(at, value, dataType);
  if (wants(at))
    outputs[at]->counts.emplace_back(axis, count);
}

void Node::outShape(size_t at, ArrayRef<Extent> extents) {
  Ints const numbers = llvm::map_to_vector<6>(extents, [&](Extent const &extent) { return b.extents.encode(extent); });
  outConstant(at, integersAttr(*b.getContext(), numbers), pb::TensorProto::INT64);
  if (outputs[at])
    outputs[at]->hasUnknown = llvm::any_of(extents, [](Extent const &extent) { return !extent.number(); });
}

void Node::outReshapedTo(size_t at, ArrayRef<Extent> shape) {
  Ints numbers;
  for (Extent const &extent : shape) {
    if (!extent.number() || given(0).value)
      return out(at, b.reshapeTo(in(0), shape));
    numbers.push_back(*extent.number());
  }
  outReshaped(at, numbers);
}

void Node::outReshaped(size_t at, IntsRef shape) {
  GraphValue &input = given(0);
  if (!input.constant)
    return out(at, b.reshape(in(0), shape));
  RankedTensorType const type = tensorType(shape, input.type().getElementType());
  if (type.getNumElements() != input.type().getNumElements())
    refuse("a tensor of shape " + shapeText(input.type().getShape()) + " cannot be reshaped to " + shapeText(shape));
  outConstant(at, input.constant.reshape(type), input.dataType);
  if (outputs[at]) {
    outputs[at]->name = input.name;
    outputs[at]->hasUnknown = input.hasUnknown;
    outputs[at]->isFill = input.isFill;
    outputs[at]->isTrained = input.isTrained;
  }
}

} // namespace ml2k::frontend
