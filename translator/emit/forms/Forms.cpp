//===- Forms.cpp - forms of a network to call inside kernels ------------------------------------------------------===//

#include "translator/emit/forms/Forms.h"

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/forms/ColumnBody.h"
#include "translator/emit/forms/ColumnNames.h"
#include "translator/emit/forms/FormPrinter.h"
#include "translator/emit/model/Names.h"
#include "translator/emit/render/Blocks.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {

static constexpr int64_t embeddedBytes = 1024;

//===--- The parts of the view ------------------------------------------------------------------------------------===//

std::string FormPrinter::layerType(ColumnWeights const &weights, std::string const &offset,
                                   std::string const &words) const {
  std::string const outputs = std::to_string(weights.outputs) + ", " + offset;
  if (weights.inputs == 0)
    return "Vector<" + outputs + ">";
  if (forms.runner && isHalved(weights, forms))
    return "Halved<" + std::to_string(weights.inputs) + ", " + outputs + ", " + words + ">";
  return "Linear<" + std::to_string(weights.inputs) + ", " + outputs + ">";
}

/// Layers of the buffer of weights, each behind the one before it, and the tensors of the sidecar in the same order.
Json FormPrinter::viewWeights() {
  Json view = Json::array();
  std::string offset = "0", words = "0";
  for (ColumnWeights const &weights : column.weights) {
    bool const isVector = weights.inputs == 0;
    std::string const type = layerType(weights, offset, words);
    nest::WeightOp weight = weights.weight, bias = weights.bias;
    sidecar.push_back({weight.getName().str(), weight.getValue()});
    if (bias)
      sidecar.push_back({bias.getName().str(), bias.getValue()});
    std::string const reader = isVector ? "read_vector" : weights.isInputMajor ? "read_rows" : "read_columns";
    view.push_back({{"name", weights.name},
                    {"type", type},
                    {"reader", reader + "<" + weights.name +
                                   (isVector ? ">"
                                    : bias   ? ", true>"
                                             : ", false>")}});
    offset = weights.name + "::end";
    if (forms.runner && isHalved(weights, forms))
      words = weights.name + "::words_end";
  }
  return view;
}

Json FormPrinter::viewTensor(ColumnTensor const &tensor) const {
  bool const isOutput = tensor.kind == ColumnTensor::Kind::Output;
  return {{"name", tensor.name},
          {"scalar", tensor.isUnsigned ? unsignedType(tensor.type) : cppType(tensor.type)},
          {"width", std::to_string(tensor.width)},
          {"is_output", isOutput}};
}

Json FormPrinter::viewBuffers() const {
  Json view = Json::array();
  for (ColumnTensor const &tensor : column.tensors) {
    if (tensor.kind != ColumnTensor::Kind::Buffer || tensor.buffer.empty())
      continue;
    auto const known = llvm::find_if(view, [&](Json const &buffer) { return buffer["name"] == tensor.name; });
    if (known != view.end()) {
      Json &shared = (*known)["shared"]; // nothing or one text
      std::string const name = snakeCase(tensor.modelName);
      std::string const before = shared.empty() ? "" : shared[0]["text"].get<std::string>() + ", ";
      shared = Json::array({{{"text", before + name}}});
      continue;
    }
    view.push_back({{"name", tensor.name},
                    {"scalar", cppType(tensor.type)},
                    {"width", std::to_string(tensor.width)},
                    {"level", std::to_string(tensor.level)},
                    {"shared", Json::array()}});
  }
  return view;
}

/// `, Qi const &qi, Ice const &ice` for `, $T const &$N`: the pattern for every argument.
std::string FormPrinter::list(StringRef pattern) const {
  std::string text;
  for (auto const *numbers : {&column.inputs, &column.outputs})
    for (unsigned number : *numbers)
      for (StringRef rest = pattern; !rest.empty();) {
        auto const [before, behind] = rest.split('$');
        text += before;
        if (!behind.empty())
          text += behind.front() == 'T' ? column.tensors[number].parameter : column.tensors[number].name;
        rest = behind.drop_front(behind.empty() ? 0 : 1);
      }
  return text;
}

/// The condition under which arguments have the sizes of the model.
std::string FormPrinter::viewChecks() const {
  std::vector<std::string> checks;
  for (auto const *numbers : {&column.inputs, &column.outputs})
    for (unsigned number : *numbers)
      checks.push_back("fits(" + column.tensors[number].name + ", " + std::to_string(column.tensors[number].width) +
                       ")");
  return llvm::join(checks, " && ");
}

Json FormPrinter::viewBanner() const {
  Json lines = Json::array();
  auto const add = [&](std::string text) { lines.push_back({{"text", commentText(text)}}); };
  add("Regenerate: " + options.regenerate);
  std::string in, out;
  for (unsigned number : column.inputs)
    in += (in.empty() ? "" : ", ") + column.tensors[number].name + "[" + std::to_string(column.tensors[number].width) +
          "]";
  for (unsigned number : column.outputs)
    out += (out.empty() ? "" : ", ") + column.tensors[number].name + "[" +
           std::to_string(column.tensors[number].width) + "]";
  add("Model:      " + in + " -> " + out + ", for each column");
  return lines;
}

void FormPrinter::addShared(Json &view) const {
  std::string const model = options.nameSpace.empty() ? namespaceName(options.stem) : options.nameSpace;
  view["model_file"] = commentText(options.modelFile);
  view["header_file"] = options.stem + ".hpp";
  view["guard"] = includeGuard(options.stem);
  view["namespace"] = model;
  view["macro"] = StringRef(snakeCase(model, "model")).upper();
  view["shared"] = Json::array();
  view["license"] = Json::array();
  if (!options.license.empty())
    view["license"].push_back({{"text", options.license}});
  view["scalar"] = scalar();
  view["halved"] = llvm::any_of(column.weights, [&](auto const &weights) { return isHalved(weights, forms); });
  view["scalar_bytes"] = std::to_string(sidecarBytes(column.scalar));
  for (auto const &[key, bytes] : {std::pair{"lanes_avx512", 64}, {"lanes_avx", 32}, {"lanes_sse", 16}})
    view[key] = std::to_string(bytes / sidecarBytes(column.scalar));
  view["launch"] = forms.launch;
  view["team"] = forms.team || forms.launch;
  view["runner"] = forms.runner;
  view["thread"] = forms.thread || forms.rows || forms.launch;
  view["by_rows"] = forms.rows;
  view["blocks_of_rows"] = forms.rows || forms.launch;
  view["packs_fit"] = packedBytes(column) <= stackLimit;
  view["pack_bytes"] = std::to_string(packedBytes(column));
  for (char const *flag : {"host", "device", "portable"})
    view[flag] = true;
  for (char const *flag : {"integers", "narrow", "apart", "pairs", "bfloat", "shorts", "launched", "single", "never",
                           "tuned", "sized", "of_several"})
    view[flag] = flag == StringRef("integers");
}

/// What all forms print: layers, weights, buffers, arguments.
FailureOr<Json> FormPrinter::viewModel(std::set<std::string> &blocks) {
  FailureOr<Json> layers = viewLayers(column, options, blocks);
  if (failed(layers))
    return failure();
  Json view;
  addShared(view);
  view["network"] = std::move(*layers);
  view["weights"] = viewWeights();
  view["weights_end"] = column.weights.empty() ? "0" : column.weights.back().name + "::end";
  view["has_weights"] = !column.weights.empty();
  auto const hasLayer = [&](ColumnLayer::Kind kind) {
    return llvm::any_of(column.layers, [&](ColumnLayer const &layer) { return layer.kind == kind; });
  };
  view["has_rows"] = hasLayer(ColumnLayer::Kind::Row);
  view["has_each"] = hasLayer(ColumnLayer::Kind::Each) || hasLayer(ColumnLayer::Kind::Copy);
  view["fixed_widths"] = view["halved"].get<bool>() || llvm::any_of(column.tensors, [](ColumnTensor const &tensor) {
                           return isa<IntegerType>(tensor.type);
                         });
  view["deep"] = llvm::any_of(column.tensors, [](ColumnTensor const &tensor) { return tensor.level > 0; });
  view["has_linear"] = hasLayer(ColumnLayer::Kind::Linear);
  view["has_vectors"] = llvm::any_of(column.weights, [](ColumnWeights const &w) { return w.inputs == 0; });
  view["buffers"] = viewBuffers();
  view["has_buffers"] = !view["buffers"].empty();
  view["first_input"] = column.tensors[column.inputs.front()].name;
  view["arguments"] = Json::array();
  for (auto const *numbers : {&column.inputs, &column.outputs})
    for (unsigned number : *numbers)
      view["arguments"].push_back(viewTensor(column.tensors[number]));
  for (auto [number, item] : llvm::enumerate(view["buffers"])) {
    bool const isLast = number + 1 == view["buffers"].size();
    item["comma"] = isLast ? "" : ", ";
    item["plus"] = isLast ? "" : " + ";
  }
  view["type_parameters"] = list(", class $T");
  view["first_type_parameters"] = list(", class $T").substr(2);
  view["parameters"] = list(", $T const &$N");
  view["operands"] = list(", $N");
  view["columns"] = list(", column($N)");
  view["packs"] = list(", pack($N)");
  view["pack_operands"] = list(", pack.$N");
  view["rows"] = list(", row($N)");
  view["first_dual_type_parameters"] = list(", class... $T").substr(2);
  view["dual_parameters"] = list(", Kokkos::DualView<$T...> $N");
  view["dual_operands"] = list(", $N.view_device()");
  view["fits"] = viewChecks();
  view["banner"] = viewBanner();
  return view;
}

/// Where the weights are read from, and what the loader checks.
void FormPrinter::addLoader(Json &view) {
  int64_t const bytes = sidecar.empty() ? 0 : sidecarSize(sidecar) - 8 - sidecarHeader(sidecar).size();
  bool const embedded =
      options.weights == WeightStorage::Embed || (options.weights == WeightStorage::Auto && bytes <= embeddedBytes);
  if (!sidecar.empty()) {
    std::string const place = std::string(embedded ? "in the source" : options.stem + ".safetensors") +
                              (view["halved"] ? ", rounded to bfloat16 when they are loaded" : "");
    view["banner"].push_back({{"text", "Weights:    " + place}});
    view["banner"].push_back({{"text", "            sha256 " + sidecarDigest(sidecar)}});
  }
  std::string const header = sidecarHeader(sidecar);
  char hash[24];
  snprintf(hash, sizeof(hash), "0x%016llxu", static_cast<unsigned long long>(fnv1a(header)));
  view["embedded"] = embedded;
  view["from_file"] = !embedded;
  view["header_size"] = std::to_string(header.size());
  view["header_hash"] = hash;
  view["data_size"] = std::to_string(bytes);
  view["data_values"] = std::to_string(bytes / sidecarBytes(column.scalar));
  view["values"] = Json::array();
  for (SidecarTensor const &tensor : sidecar) {
    std::vector<std::string> literals;
    if (embedded)
      for (Attribute element : tensor.value.getValues<Attribute>())
        literals.push_back(cpp::Serializer::text(literal(cast<TypedAttr>(element))));
    view["values"].push_back(
        {{"label", commentText(tensor.name, longestName)}, {"values", llvm::join(literals, ", ")}});
  }
}

FailureOr<ModelView> FormPrinter::view() {
  ModelView model;
  FailureOr<Json> view = viewModel(model.blocks);
  if (failed(view))
    return failure();
  addLoader(*view);
  (*view)["c"] = forms.c;
  if (forms.c) {
    addFeatures(*view);
    addInterfaces(*view);
  }
  if (forms.test && failed(addTest(*view)))
    return failure();
  model.embedded = (*view)["embedded"];
  view->update(viewBlocks(neededBlocks(model.blocks, model.embedded, *view), {}, *view));
  model.layout = "form";
  for (auto const &[name, value] : view->items())
    if (value.is_boolean())
      model.flags[name] = value;
  model.view = std::move(*view);
  model.extras = interfaceFiles();
  model.sidecar = std::move(sidecar);
  return model;
}

Json viewOfBlocks(Json const &view) {
  Json blocks;
  for (char const *name : {"scalar", "scalar_bytes", "lanes_avx512", "lanes_avx", "lanes_sse"})
    blocks[name] = view[name];
  blocks["of_several"] = true; // each with its own type of weights
  return blocks;
}

std::set<std::string> namesOfForms(Json const &flags) {
  std::set<std::string> names = {"Tensor", "lanes", "for_columns"};
  auto const add = [&](char const *flag, std::initializer_list<char const *> more) {
    if (flags[flag].get<bool>())
      names.insert(more.begin(), more.end());
  };
  add("has_linear",
      {"Linear", "Input", "input", "linear", "linear_part", "linear_parts", "register_tile", "splat", "strip"});
  add("has_vectors", {"Vector"});
  add("has_rows", {"Along", "rows"});
  add("has_each", {"each"});
  add("has_buffers", {"Buffer"});
  add("thread", {"Alone"});
  add("blocks_of_rows", {"transpose", "transpose_square", "interleave", "is_row_major", "pack_columns", "few_columns",
                         "read_pack", "write_pack"});
  return names;
}

FailureOr<EmittedFiles> emitForms(Column column, EmitOptions const &given, Forms const &forms) {
  EmitOptions options = given;
  if (forms.runner)
    options.math = MathLibrary::Std; // the printed functions need C++20 or Kokkos
  nameColumn(column);
  FormPrinter printer(column, options, forms);
  if (forms.runner)
    return printer.printRunner();
  FailureOr<ModelView> const model = printer.view();
  if (failed(model))
    return failure();
  return model->render();
}

FailureOr<ModelView> viewForms(Column column, EmitOptions const &options, Forms const &forms) {
  nameColumn(column);
  return FormPrinter(column, options, forms).view();
}

} // namespace ml2k
