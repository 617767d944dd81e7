//===- Runner.cpp - a class without Kokkos in its interface -------------------------------------------------------===//
//
// One query at a time, plain C++17, weights compiled in. The members are those that LLVM's ReleaseModeModelRunner asks
// of a compiled model.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/forms/FormPrinter.h"
#include "translator/emit/render/Blocks.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

//===--- Weights --------------------------------------------------------------------------------------------------===//

static int64_t roundUp(int64_t value) { return (value + 15) / 16 * 16; }

static APFloat weightAt(ColumnWeights const &weights, ArrayRef<APFloat> values, int64_t k, int64_t o) {
  return values[weights.isInputMajor ? k * weights.outputs + o : o * weights.inputs + k];
}

static std::vector<APFloat> biasesOf(ColumnWeights const &weights, APFloat const &zero) {
  nest::WeightOp bias = weights.bias;
  std::vector<APFloat> all(roundUp(weights.outputs), zero);
  if (bias)
    llvm::copy(bias.getValue().getValues<APFloat>(), all.begin());
  return all;
}

/// The rows of a layer as Linear and Vector of the template lay them out, zeros where they are padded.
static std::vector<APFloat> packed(ColumnWeights const &weights, llvm::fltSemantics const &semantics) {
  nest::WeightOp weight = weights.weight, bias = weights.bias;
  SmallVector<APFloat> const values(weight.getValue().getValues<APFloat>());
  SmallVector<APFloat> added;
  if (bias)
    added.assign(bias.getValue().getValues<APFloat>().begin(), bias.getValue().getValues<APFloat>().end());
  APFloat const zero = APFloat::getZero(semantics);
  if (weights.inputs == 0) {
    std::vector<APFloat> all(values.begin(), values.end());
    all.resize(roundUp(weights.outputs), zero);
    return all;
  }
  bool const isNarrow = weights.outputs < 16;
  int64_t const pitch = roundUp(isNarrow ? weights.inputs : weights.outputs);
  std::vector<APFloat> all(isNarrow ? weights.outputs * pitch + 16 : (weights.inputs + 1) * pitch, zero);
  for (int64_t o = 0; o < weights.outputs; ++o)
    for (int64_t k = 0; k < weights.inputs; ++k)
      all[isNarrow ? o * pitch + k : k * pitch + o] = weightAt(weights, values, k, o);
  int64_t const biases = isNarrow ? weights.outputs * pitch : weights.inputs * pitch;
  std::copy(added.begin(), added.end(), all.begin() + biases);
  return all;
}

Json FormPrinter::viewWordTables() const {
  Json tables = Json::array();
  for (ColumnWeights const &weights : column.weights) {
    if (!isHalved(weights, forms))
      continue;
    nest::WeightOp weight = weights.weight;
    SmallVector<APFloat> const values(weight.getValue().getValues<APFloat>());
    auto const half = [&](int64_t k, int64_t o) -> uint64_t {
      bool const isThere = k < weights.inputs && o < weights.outputs;
      return isThere ? nearestBFloat(weightAt(weights, values, k, o)).bitcastToAPInt().getZExtValue() : 0;
    };
    std::vector<std::string> words;
    for (int64_t k = 0; k < weights.inputs; k += 2)
      for (int64_t o = 0; o < roundUp(weights.outputs); ++o)
        words.push_back("0x" + llvm::utohexstr(half(k, o) | half(k + 1, o) << 16, /*LowerCase=*/true));
    tables.push_back({{"label", weights.name}, {"values", llvm::join(words, ", ")}});
  }
  return tables;
}

Json FormPrinter::viewTables() const {
  Json tables = Json::array();
  llvm::fltSemantics const &semantics = cast<FloatType>(column.scalar).getFloatSemantics();
  for (ColumnWeights const &weights : column.weights) {
    std::vector<std::string> literals;
    for (APFloat const &value :
         isHalved(weights, forms) ? biasesOf(weights, APFloat::getZero(semantics)) : packed(weights, semantics))
      literals.push_back(value.isZero() ? "0" : cpp::Serializer::text(literal(FloatAttr::get(column.scalar, value))));
    tables.push_back({{"label", weights.name}, {"values", llvm::join(literals, ", ")}});
  }
  return tables;
}

//===--- Features and results -------------------------------------------------------------------------------------===//

void FormPrinter::addFeatures(Json &view) const {
  auto const arrayType = [](Json const &tensor) {
    return "std::array<" + tensor["scalar"].get<std::string>() + ", " + tensor["width"].get<std::string>() + ">";
  };
  for (auto const &[key, numbers] : {std::pair{"feature", &column.inputs}, {"result", &column.outputs}}) {
    Json list = Json::array();
    std::vector<std::string> names, data, labels, types;
    for (unsigned number : *numbers) {
      ColumnTensor const &tensor = column.tensors[number];
      Json item = viewTensor(tensor);
      item["label"] = literalText(tensor.modelName);
      names.push_back(tensor.name);
      data.push_back(tensor.name + ".data()");
      labels.push_back(quotedText(tensor.modelName));
      types.push_back("std::is_same_v<T, " + arrayType(item) + ">");
      list.push_back(std::move(item));
    }
    view[std::string(key) + "s"] = list;
    view[std::string(key) + "_names"] = llvm::join(names, ", ");
    view[std::string(key) + "_data"] = llvm::join(data, ", ");
    view[std::string(key) + "_labels"] = llvm::join(labels, ", ");
    view[std::string(key) + "_count"] = std::to_string(names.size());
    llvm::sort(types);
    types.erase(std::unique(types.begin(), types.end()), types.end());
    view[std::string("is_") + key + "_type"] = llvm::join(types, " || ");
  }
  // A result can be asked for by its type if no other has it; one of a single element by its scalar, too
  std::map<std::string, std::vector<std::string>> values;
  for (Json const &result : view["results"]) {
    std::string const name = result["name"];
    values[arrayType(result)].push_back(name);
    if (result["width"] == "1")
      values[result["scalar"]].push_back(name + "[0]");
  }
  std::vector<std::string> types;
  view["unique_results"] = Json::array();
  for (auto const &[type, known] : values)
    if (known.size() == 1) {
      view["unique_results"].push_back({{"type", type}, {"value", known.front()}});
      types.push_back("std::is_same_v<T, " + type + ">");
    }
  view["is_result_type"] = types.empty() ? "!std::is_same_v<T, T>" : llvm::join(types, " || ");
}

//===--- Files ----------------------------------------------------------------------------------------------------===//

/// The same blocks and expressions for compilers that know nothing of Kokkos: its functions are those of the standard
/// library under the same names.
static std::string withoutKokkos(std::string text) {
  std::pair<StringRef, StringRef> const words[] = {
      {"KOKKOS_INLINE_FUNCTION ", "inline "},
      {"KOKKOS_FUNCTION ", ""},
      {"Kokkos::Experimental::infinity_v<T>", "std::numeric_limits<T>::infinity()"},
      {"Kokkos::Experimental::finite_min_v<T>", "std::numeric_limits<T>::lowest()"},
      {"Kokkos::Experimental::finite_max_v<T>", "std::numeric_limits<T>::max()"},
      {"Kokkos::", "std::"}};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    auto const word =
        llvm::find_if(words, [&](auto const &pair) { return StringRef(text).substr(at).starts_with(pair.first); });
    out += word == std::end(words) ? text.substr(at, 1) : word->second.str();
    at += word == std::end(words) ? 1 : word->first.size();
  }
  return out;
}

FailureOr<EmittedFiles> FormPrinter::printRunner() {
  std::set<std::string> blocks;
  FailureOr<Json> view = viewModel(blocks);
  if (failed(view))
    return failure();
  for (Json &layer : (*view)["network"])
    layer["barrier"] = false; // one thread
  (*view)["tables"] = viewTables();
  (*view)["word_tables"] = viewWordTables();
  for (ColumnWeights const &weights : column.weights)
    if (isHalved(weights, forms))
      (*view)["words_end"] = weights.name + "::words_end";
  addFeatures(*view);
  (*view)["first_feature"] = column.tensors[column.inputs.front()].name;
  if (!sidecar.empty()) {
    (*view)["banner"].push_back(
        {{"text", forms.halved ? "Weights:    compiled in, as bfloat16" : "Weights:    compiled in"}});
    (*view)["banner"].push_back({{"text", "            sha256 " + sidecarDigest(sidecar)}});
  }
  view->update(viewBlocks(neededBlocks(blocks, true, *view), {}, *view));
  (*view)["c"] = forms.c;
  (*view)["from_file"] = false;
  if (forms.c)
    addInterfaces(*view);
  if (forms.server)
    addServer(*view);
  if (forms.test && failed(addTest(*view)))
    return failure();
  EmittedFiles files;
  files.json = view->dump(2, ' ', /*ensure_ascii=*/true) + "\n"; // terminals show it
  files.header = render("form/runner_header", *view);
  files.source = withoutKokkos(render("form/runner_source", *view));
  for (ExtraView const &extra : interfaceFiles())
    files.extras.push_back({extra.suffix, render(extra.name, *view), extra.isCpp});
  files.extras.push_back({".spec.json", specs(), false});
  return files;
}

} // namespace ml2k
