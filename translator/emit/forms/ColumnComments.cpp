//===- ColumnComments.cpp - what the comment of a column's layer says ---------------------------------------------===//

#include "translator/emit/forms/ColumnBody.h"
#include "translator/emit/model/Provenance.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

/// `qi[72] * weight[72,64] + bias[64] -> hidden[64]`
static std::string shapes(Column const &column, ColumnLayer const &layer) {
  auto const parts = [&](ColumnParts const &parts) {
    std::string text;
    for (ColumnPart const &part : parts) {
      std::string const first = part.first ? std::to_string(part.first) + ":" + std::to_string(part.first + part.width)
                                           : std::to_string(part.width);
      text += (text.empty() ? "" : ", ") + column.tensors[part.tensor].name + "[" + first + "]";
    }
    return parts.size() > 1 ? "(" + text + ")" : text;
  };
  bool const isLinear = layer.kind == ColumnLayer::Kind::Linear;
  SmallVector<std::string> terms;
  for (auto const &[number, operand] : llvm::enumerate(layer.operands)) {
    if (operand.empty() || (layer.kind == ColumnLayer::Kind::Copy && number != 0))
      continue;
    std::string term = parts(operand);
    if (number == 0 && isLinear) {
      ColumnWeights const &weights = column.weights[layer.weights];
      std::string const outputs = std::to_string(weights.outputs);
      term += " * weight[" + std::to_string(weights.inputs) + "," + outputs + "]" +
              (layer.biased ? " + bias[" + outputs + "]" : "");
    }
    if (isLinear || !llvm::is_contained(terms, term))
      terms.push_back(term);
  }
  std::string text = llvm::join(terms, isLinear ? " + " : ", ");
  text += text.empty() ? "->" : " ->";
  for (auto const &tensors : layer.results)
    for (unsigned tensor : tensors)
      text += " " + column.tensors[tensor].name + "[" + std::to_string(column.tensors[tensor].width) + "]" +
              (tensor == tensors.back() && &tensors == &layer.results.back() ? "" : ",");
  return text;
}

Json viewComments(Column const &column, ColumnLayer const &layer, EmitOptions const &options) {
  Json lines = Json::array();
  for (std::string const &line : provenanceLines(layer.label, layer.location, shapes(column, layer), options.locations))
    lines.push_back({{"text", line}});
  return lines;
}

} // namespace ml2k
