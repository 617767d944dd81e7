//===- Importer.cpp - from a model to a module: checks, inputs, weights, outputs ----------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

#include "translator/ir/Nest.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

Importer::Importer(MLIRContext &context, pb::ModelProto const &model, StringRef fileName, StringRef directory,
                   ImportOptions const &options)
    : context(context), model(model), fileName(fileName), directory(directory), options(options),
      build(UnknownLoc::get(&context), &context), nodeLocation(UnknownLoc::get(&context)) {
  build.multipliesIntegers = options.multipliesIntegers;
  build.loopsOverSteps = options.loopsOverSteps;
}

InFlightDiagnostic Importer::error() {
  hasFailed = true;
  return emitError(NameLoc::get(StringAttr::get(&context, fileName)));
}

OwningOpRef<ModuleOp> Importer::run() {
  checkModel();
  if (hasFailed)
    return nullptr;
  OwningOpRef<ModuleOp> module(ModuleOp::create(nodeLocation));
  build.setInsertionPointToEnd(module->getBody());
  StringRef const entry = options.entry.empty() ? "forward" : StringRef(options.entry);
  function = build.create<func::FuncOp>(entry, build.getFunctionType({}, {}));
  build.setInsertionPointToEnd(function.addEntryBlock());
  build.extents.setHome(&function.front());
  Scope scope;
  importInitializers(scope);
  findRoot();
  importInputs(scope);
  checkDims();
  checkOperands(scope);
  importNodes(rolled(withoutBags(sortedNodes(scope), scope), scope), scope, modelOpsets);
  if (!hasFailed)
    importOutputs(scope);
  if (hasFailed || failed(verify(*module)))
    return nullptr;
  return module;
}

//===--- The model as a whole -------------------------------------------------------------------------------------===//

template <class Graph>
static void visitNodes(Graph const &graph, llvm::function_ref<void(pb::NodeProto const &)> visit) {
  for (pb::NodeProto const &node : graph.node()) {
    visit(node);
    for (pb::AttributeProto const &attribute : node.attribute())
      if (attribute.has_g())
        visitNodes(attribute.g(), visit);
  }
}

void Importer::checkModel() {
  if (!model.has_graph() || model.opset_import().empty()) {
    error() << "not an ONNX model: it has no " << (model.has_graph() ? "opset" : "graph");
    return;
  }
  for (auto const &opset : model.opset_import()) {
    std::string const domain = opset.domain() == "ai.onnx" ? "" : opset.domain();
    modelOpsets[domain] = opset.version();
    if (domain.empty() && (opset.version() > newestOpset || opset.version() < 1))
      error() << "opset " << opset.version() << " is not supported, 1 to " << newestOpset << " are";
    if (domain == classicalDomain && (opset.version() > newestClassicalOpset || opset.version() < 1))
      error() << "opset " << opset.version() << " of " << classicalDomain << " is not supported, 1 to "
              << newestClassicalOpset << " are";
  }
  auto const checkOutputs = [&](pb::NodeProto const &node) {
    if (node.output().empty())
      report(node, modelOpsets[node.domain()], "it has no output");
  };
  visitNodes(model.graph(), checkOutputs);
  for (pb::FunctionProto const &function : model.functions())
    visitNodes(function, checkOutputs);
  std::unordered_set<std::string> names;
  for (pb::NodeProto const &node : model.graph().node())
    for (std::string const &name : node.output())
      if (!name.empty() && !names.insert(name).second)
        report(node, modelOpsets[node.domain()], "its output \"" + Twine(name) + "\" has the name of another output");
}

void Importer::checkDims() {
  for (auto const &[name, extent] : options.dims) {
    if (!usedDims.count(name))
      error() << "no input has a dimension \"" << name << "\"";
    else if (extent < 0)
      error() << "dimension \"" << name << "\" cannot be " << extent;
  }
}

//===--- Initializers and inputs ----------------------------------------------------------------------------------===//

/// PyTorch's exporter calls a constant of its own val_12: no parameter has such a name. One with several elements may
/// be a parameter that it transposed, and is a weight as ever.
static bool isNumbered(StringRef name) {
  return name.consume_front("val_") && !name.empty() && llvm::all_of(name, llvm::isDigit);
}

void Importer::importInitializers(Scope &scope) {
  for (pb::TensorProto const &tensor : model.graph().initializer()) {
    GraphValue value{tensor.name(), tensor.data_type(), {}, {}};
    try {
      value.constant = tensorValue(context, tensor, directory);
      value.isTrained = isa<FloatType>(value.constant.getElementType()) && value.constant.getType().getRank() > 0 &&
                        !isNumbered(tensor.name());
    } catch (Refusal const &refusal) {
      error() << "initializer \"" << tensor.name() << "\": " << refusal.message;
      value.isRefused = true;
    }
    if (!scope.emplace(tensor.name(), value).second)
      error() << "initializer \"" << tensor.name() << "\" is given twice";
  }
  for (pb::SparseTensorProto const &tensor : model.graph().sparse_initializer())
    error() << "initializer \"" << tensor.values().name() << "\": sparse tensors are not supported";
}

int64_t Importer::extentOf(pb::ValueInfoProto const &input, int dim) {
  auto const &dimension = input.type().tensor_type().shape().dim(dim);
  if (dimension.has_dim_value() && dimension.dim_value() != -1) // some exporters write -1 for what they do not know
    return dimension.dim_value();
  std::string const name = extentName(input, dim);
  usedDims.insert(name);
  auto const given = options.dims.find(name);
  return given == options.dims.end() ? ShapedType::kDynamic : given->second;
}

Type Importer::inputType(pb::ValueInfoProto const &input) {
  if (!input.type().has_tensor_type())
    throw Refusal("only tensors are supported");
  pb::TypeProto::Tensor const &type = input.type().tensor_type();
  Type const element = elementType(context, type.elem_type());
  if (!element)
    throw Refusal("elements of " + dataTypeName(type.elem_type()) + " are not supported");
  if (!type.has_shape())
    throw Refusal("its rank is not known");
  Ints shape;
  for (int dim = 0; dim < type.shape().dim_size(); ++dim) {
    shape.push_back(extentOf(input, dim));
    if (shape.back() < 0 && !ShapedType::isDynamic(shape.back()))
      throw Refusal("negative extent " + Twine(shape.back()));
  }
  return tensorType(shape, element);
}

//===--- Inputs that are made constants ---------------------------------------------------------------------------===//

/// A number as it is written; nothing if it is none of the type.
static std::optional<Attribute> elementOf(StringRef text, Type type, bool isUnsigned) {
  text = text.trim();
  if (text == "true" || text == "false")
    text = text == "true" ? "1" : "0";
  if (auto real = dyn_cast<FloatType>(type)) {
    double value = 0;
    return text.getAsDouble(value) ? std::nullopt : std::optional<Attribute>(FloatAttr::get(real, value));
  }
  unsigned const width = type.getIntOrFloatBitWidth();
  int64_t value = 0;
  uint64_t positive = 0;
  if (!text.getAsInteger(10, value))
    return width == 64 || llvm::isIntN(width + isUnsigned, value) || width == 1
               ? std::optional<Attribute>(IntegerAttr::get(type, APInt(width, static_cast<uint64_t>(value), true)))
               : std::nullopt;
  if (isUnsigned && width == 64 && !text.getAsInteger(10, positive))
    return IntegerAttr::get(type, APInt(width, positive));
  return std::nullopt;
}

DenseElementsAttr Importer::operandValue(std::string const &name, RankedTensorType type, bool isUnsigned) {
  llvm::SmallVector<StringRef> words;
  StringRef const text = options.operands.at(name);
  if (!text.trim().empty())
    text.split(words, ',');
  Ints shape(type.getShape());
  if (llvm::count(shape, ShapedType::kDynamic) == 1 && shape.size() == 1)
    shape[0] = words.size();
  if (llvm::is_contained(shape, ShapedType::kDynamic))
    throw Refusal("it has shape " + shapeText(shape) + "; give its symbolic dimensions by --dim");
  auto const known = tensorType(shape, type.getElementType());
  if (known.getNumElements() != static_cast<int64_t>(words.size()))
    throw Refusal("--operand gives " + Twine(words.size()) + " values, shape " + shapeText(shape) + " needs " +
                  Twine(known.getNumElements()));
  llvm::SmallVector<Attribute> elements;
  for (StringRef const word : words) {
    auto const element = elementOf(word, type.getElementType(), isUnsigned);
    if (!element)
      throw Refusal("--operand gives \"" + word + "\", which is no number of its type");
    elements.push_back(*element);
  }
  return DenseElementsAttr::get(known, elements);
}

void Importer::checkOperands(Scope const &scope) {
  for (auto const &[name, text] : options.operands) {
    auto const isInput = [&, &name = name](pb::ValueInfoProto const &input) { return input.name() == name; };
    if (!scope.count(name) || llvm::none_of(model.graph().input(), isInput))
      error() << "--operand: no input is called \"" << name << "\"";
  }
}

void Importer::importInputs(Scope &scope) {
  for (pb::ValueInfoProto const &input : model.graph().input()) {
    auto const [found, isNew] = scope.try_emplace(input.name());
    GraphValue &value = found->second;
    if (!isNew) { // before IR 4 every initializer is listed as an input, too
      if (!value.constant && !value.isRefused)
        error() << "input \"" << input.name() << "\" is given twice";
      continue;
    }
    value = GraphValue{input.name(), input.type().tensor_type().elem_type(), {}, {}};
    try {
      NamedAttrList attributes;
      attributes.append("nest.name", build.getStringAttr(input.name()));
      if (isUnsignedType(value.dataType) && value.dataType != pb::TensorProto::BOOL)
        attributes.append("nest.unsigned", build.getUnitAttr());
      Type const type = inputType(input);
      if (options.operands.count(input.name())) {
        value.constant = operandValue(input.name(), cast<RankedTensorType>(type),
                                      isUnsignedType(input.type().tensor_type().elem_type()));
        continue;
      }
      function.insertArgument(function.getNumArguments(), type, attributes.getDictionary(&context),
                              NameLoc::get(build.getStringAttr(input.name())));
      value.value = function.getArguments().back();
      nameExtents(input);
    } catch (Refusal const &refusal) {
      error() << "input \"" << input.name() << "\": " << refusal.message;
      value.isRefused = true;
    }
  }
}

//===--- Weights --------------------------------------------------------------------------------------------------===//

std::string Importer::weightName(std::string const &name, DenseElementsAttr value) {
  auto isFree = [&](std::string const &candidate) {
    auto const found = weights.find(candidate);
    return found == weights.end() || found->second.getDefiningOp<nest::WeightOp>().getValue() == value;
  };
  if (isFree(name))
    return name;
  // The same weight in another shape
  auto const extents = llvm::map_range(cast<RankedTensorType>(value.getType()).getShape(),
                                       [](int64_t extent) { return std::to_string(extent); });
  std::string unique = name + "." + llvm::join(extents, "x");
  while (!isFree(unique))
    unique += "'";
  return unique;
}

/// A weight is in the sidecar whatever its values are, so that training again changes no code. A single element is one
/// if it may have been trained; a number of rank 0, of a Constant node or of integers is part of the architecture.
Value Importer::materialize(GraphValue &value) {
  if (value.hasUnknown)
    return value.value = computeSizes(value);
  bool const isScalar = (value.constant.getNumElements() == 1 && !value.isTrained) || value.isFill;
  std::string const shown = shortName(value.name), name = isScalar ? shown : weightName(shown, value.constant);
  if (!isScalar && weights.count(name))
    return value.value = weights.lookup(name);
  OpBuilder::InsertionGuard const guard(build);
  if (lastWeight)
    build.setInsertionPointAfter(lastWeight);
  else
    build.setInsertionPointToStart(&function.front());
  Location const loc = NameLoc::get(build.getStringAttr(shown));
  if (isScalar)
    lastWeight = build.OpBuilder::create<arith::ConstantOp>(loc, value.constant);
  else
    lastWeight = build.OpBuilder::create<nest::WeightOp>(loc, value.constant.getType(), name, value.constant,
                                                         nest::PackingAttr());
  value.value = lastWeight->getResult(0);
  if (!isScalar)
    weights[name] = value.value;
  return value.value;
}

//===--- Outputs --------------------------------------------------------------------------------------------------===//

/// What the model declares about an output ought to be what its nodes make. Shapes are often declared wrong, as
/// exporters see them run on one example.
void Importer::checkDeclared(pb::ValueInfoProto const &output, GraphValue const &value) {
  pb::TypeProto::Tensor const &declared = output.type().tensor_type();
  if (declared.elem_type() != pb::TensorProto::UNDEFINED && declared.elem_type() != value.dataType)
    error() << "output \"" << output.name() << "\": it is declared to hold " << dataTypeName(declared.elem_type())
            << ", its node makes " << dataTypeName(value.dataType);
  if (!declared.has_shape())
    return;
  Ints shape;
  for (auto const &dimension : declared.shape().dim())
    shape.push_back(dimension.has_dim_value() && dimension.dim_value() >= 0 ? dimension.dim_value()
                                                                            : ShapedType::kDynamic);
  for (auto const &[axis, count] : value.counts)
    if (axis < static_cast<int64_t>(shape.size()))
      shape[axis] = ShapedType::kDynamic;
  if (failed(verifyCompatibleShape(shape, value.type().getShape())))
    emitWarning(NameLoc::get(StringAttr::get(&context, fileName)))
        << "output \"" << output.name() << "\": it is declared with shape " << shapeText(shape) << ", its node makes "
        << shapeText(value.type().getShape());
}

namespace {
/// What forward() writes, in order.
struct Results {
  llvm::SmallVector<Value> values;
  llvm::SmallVector<DictionaryAttr> attributes;
  llvm::MapVector<Value, std::string> counts; ///< and the names that they get

  void add(Value value, NamedAttrList named) {
    values.push_back(value);
    attributes.push_back(named.getDictionary(value.getContext()));
  }
};
} // namespace

/// The first output with this count names it.
static std::string const &countName(Results &results, Value count, std::string const &output,
                                    pb::GraphProto const &graph) {
  std::string &name = results.counts[count];
  if (!name.empty())
    return name;
  name = output + "_count";
  auto isTaken = [&](pb::ValueInfoProto const &value) { return value.name() == name; };
  auto isCount = [&](auto const &known) { return known.first != count && known.second == name; };
  while (llvm::any_of(graph.output(), isTaken) || llvm::any_of(graph.input(), isTaken) ||
         llvm::any_of(results.counts, isCount))
    name += "_of_axis";
  return name;
}

void Importer::importOutputs(Scope &scope) {
  Results results;
  for (pb::ValueInfoProto const &output : model.graph().output()) {
    auto const found = scope.find(output.name());
    if (found == scope.end()) {
      error() << "output \"" << output.name() << "\" is made by no node";
      continue;
    }
    GraphValue &value = found->second;
    checkDeclared(output, value);
    NamedAttrList named;
    named.append("nest.name", build.getStringAttr(output.name()));
    if (isUnsignedType(value.dataType) && value.dataType != pb::TensorProto::BOOL)
      named.append("nest.unsigned", build.getUnitAttr());
    llvm::SmallVector<Attribute> counts(value.type().getRank(), build.getStringAttr(""));
    for (auto const &[axis, count] : value.counts)
      counts[axis] = build.getStringAttr(countName(results, count, output.name(), model.graph()));
    if (!value.counts.empty())
      named.append("nest.counts", build.getArrayAttr(counts));
    Value const result = value.value ? value.value : materialize(value);
    describeExtents(result, output.name(), named);
    results.add(result, named);
  }
  for (auto const &[count, name] : results.counts) {
    NamedAttrList named;
    named.append("nest.name", build.getStringAttr(name));
    results.add(count, named);
  }
  build.setLoc(UnknownLoc::get(&context));
  build.create<func::ReturnOp>(results.values);
  function.setType(build.getFunctionType(function.getArgumentTypes(), ValueRange(results.values).getTypes()));
  function.setAllResultAttrs(results.attributes);
  if (!build.extents.names().empty())
    function->setAttr("nest.symbols", build.getStrArrayAttr(llvm::to_vector_of<StringRef>(build.extents.names())));
}

} // namespace ml2k::frontend
