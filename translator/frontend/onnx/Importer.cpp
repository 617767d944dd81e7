//===- Importer.cpp - from a model to a module: checks, inputs, weights, outputs ----------------------------------===//

#include "translator/frontend/onnx/Importer.h"

#include "translator/ir/Nest.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

Importer::Importer(MLIRContext &context, pb::ModelProto const &model, StringRef fileName, StringRef directory,
                   ImportOptions const &options)
    : context(context), model(model), fileName(fileName), directory(directory), options(options),
      build(UnknownLoc::get(&context), &context), nodeLocation(UnknownLoc::get(&context)) {}

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
  function->setAttr("nest.model", build.getStringAttr(llvm::sys::path::stem(fileName)));
  build.setInsertionPointToEnd(function.addEntryBlock());
  Scope scope;
  importInitializers(scope);
  importInputs(scope);
  checkDims();
  importNodes(sortedNodes(scope), scope, modelOpsets);
  if (!hasFailed)
    importOutputs(scope);
  if (hasFailed || failed(verify(*module)))
    return nullptr;
  return module;
}

//===--- The model as a whole
//---------------------------------------------------------------------------------------===//

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
  }
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

//===--- Initializers and inputs
//------------------------------------------------------------------------------------===//

void Importer::importInitializers(Scope &scope) {
  for (pb::TensorProto const &tensor : model.graph().initializer()) {
    GraphValue value{tensor.name(), tensor.data_type(), {}, {}};
    try {
      value.constant = tensorValue(context, tensor, directory);
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

int64_t Importer::extentOf(pb::TensorShapeProto::Dimension const &dimension) {
  if (dimension.has_dim_value())
    return dimension.dim_value();
  usedDims.insert(dimension.dim_param());
  auto const given = options.dims.find(dimension.dim_param());
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
  for (auto const &dimension : type.shape().dim()) {
    shape.push_back(extentOf(dimension));
    if (shape.back() < 0 && !ShapedType::isDynamic(shape.back()))
      throw Refusal("negative extent " + Twine(shape.back()));
  }
  return tensorType(shape, element);
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
      function.insertArgument(function.getNumArguments(), type, attributes.getDictionary(&context),
                              NameLoc::get(build.getStringAttr(input.name())));
      value.value = function.getArguments().back();
    } catch (Refusal const &refusal) {
      error() << "input \"" << input.name() << "\": " << refusal.message;
      value.isRefused = true;
    }
  }
}

//===--- Weights
//----------------------------------------------------------------------------------------------------===//

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

Value Importer::materialize(GraphValue &value) {
  if (value.hasUnknown)
    throw Refusal("\"" + Twine(value.name) + "\" depends on a symbolic dimension; give it by --dim");
  bool const isScalar = value.constant.getNumElements() == 1;
  std::string const name = isScalar ? value.name : weightName(value.name, value.constant);
  if (!isScalar && weights.count(name))
    return value.value = weights.lookup(name);
  OpBuilder::InsertionGuard const guard(build);
  if (lastWeight)
    build.setInsertionPointAfter(lastWeight);
  else
    build.setInsertionPointToStart(&function.front());
  Location const loc = NameLoc::get(build.getStringAttr(value.name));
  if (isScalar)
    lastWeight = build.OpBuilder::create<arith::ConstantOp>(loc, value.constant);
  else
    lastWeight =
        build.OpBuilder::create<nest::WeightOp>(loc, value.constant.getType(), name, value.constant, DictionaryAttr());
  value.value = lastWeight->getResult(0);
  if (!isScalar)
    weights[name] = value.value;
  return value.value;
}

//===--- Outputs
//----------------------------------------------------------------------------------------------------===//

/// What the model declares about an output has to be what its nodes make; else what is wrong.
static std::string againstDeclared(pb::ValueInfoProto const &output, GraphValue const &value) {
  pb::TypeProto::Tensor const &declared = output.type().tensor_type();
  if (declared.elem_type() != pb::TensorProto::UNDEFINED && declared.elem_type() != value.dataType)
    return "it is declared to hold " + dataTypeName(declared.elem_type()).str() + ", its node makes " +
           dataTypeName(value.dataType).str();
  if (!declared.has_shape())
    return "";
  Ints shape;
  for (auto const &dimension : declared.shape().dim())
    shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : ShapedType::kDynamic);
  if (succeeded(verifyCompatibleShape(shape, value.type().getShape())))
    return "";
  return "it is declared with shape " + shapeText(shape) + ", its node makes " + shapeText(value.type().getShape());
}

void Importer::importOutputs(Scope &scope) {
  llvm::SmallVector<Value> results;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<DictionaryAttr> attributes;
  for (pb::ValueInfoProto const &output : model.graph().output()) {
    auto const found = scope.find(output.name());
    if (found == scope.end()) {
      error() << "output \"" << output.name() << "\" is made by no node";
      continue;
    }
    GraphValue &value = found->second;
    if (value.hasUnknown) {
      error() << "output \"" << output.name() << "\" depends on a symbolic dimension; give it by --dim";
      continue;
    }
    if (std::string const problem = againstDeclared(output, value); !problem.empty())
      error() << "output \"" << output.name() << "\": " << problem;
    results.push_back(value.value ? value.value : materialize(value));
    types.push_back(results.back().getType());
    NamedAttrList named;
    named.append("nest.name", build.getStringAttr(output.name()));
    if (isUnsignedType(value.dataType) && value.dataType != pb::TensorProto::BOOL)
      named.append("nest.unsigned", build.getUnitAttr());
    attributes.push_back(named.getDictionary(&context));
  }
  build.setLoc(UnknownLoc::get(&context));
  build.create<func::ReturnOp>(results);
  function.setType(build.getFunctionType(function.getArgumentTypes(), types));
  function.setAllResultAttrs(attributes);
}

} // namespace ml2k::frontend
