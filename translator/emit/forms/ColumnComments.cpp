//===- ColumnComments.cpp - what the comment of a column's layer says ---------------------------------------------===//

#include "translator/emit/forms/ColumnBody.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace ml2k {

static void collectNodes(Location location, SmallVectorImpl<StringRef> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (!llvm::is_contained(nodes, name.getName().getValue()))
      nodes.push_back(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectNodes(part, nodes);
  }
}

static std::string provenance(ColumnLayer const &layer, EmitOptions const &options) {
  SmallVector<StringRef> nodes;
  if (options.locations != LocationStyle::None)
    collectNodes(layer.location, nodes);
  llvm::erase(nodes, StringRef(layer.label));
  std::string text = "--- " + layer.label;
  StringRef separator = ": ";
  for (StringRef node : nodes) {
    text += separator.str() + (options.locations == LocationStyle::Plain ? node.split(' ').first : node).str();
    separator = " + ";
  }
  return text;
}

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
  std::string text;
  for (auto const &[number, operand] : llvm::enumerate(layer.operands))
    if (!operand.empty() && (layer.kind != ColumnLayer::Kind::Copy || number == 0))
      text += (text.empty()                              ? ""
               : layer.kind == ColumnLayer::Kind::Linear ? " + "
                                                         : ", ") +
              parts(operand) +
              (number == 0 && layer.kind == ColumnLayer::Kind::Linear
                   ? " * weight[" + std::to_string(column.weights[layer.weights].inputs) + "," +
                         std::to_string(column.weights[layer.weights].outputs) + "]" +
                         (layer.biased ? " + bias[" + std::to_string(column.weights[layer.weights].outputs) + "]" : "")
                   : "");
  text += text.empty() ? "->" : " ->";
  for (auto const &tensors : layer.results)
    for (unsigned tensor : tensors)
      text += " " + column.tensors[tensor].name + "[" + std::to_string(column.tensors[tensor].width) + "]" +
              (tensor == tensors.back() && &tensors == &layer.results.back() ? "" : ",");
  return text;
}

Json viewComments(Column const &column, ColumnLayer const &layer, EmitOptions const &options) {
  return Json::array({{{"text", commentText(provenance(layer, options))}}, {{"text", shapes(column, layer)}}});
}

} // namespace ml2k
