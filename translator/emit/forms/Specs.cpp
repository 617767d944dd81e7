//===- Specs.cpp - a runner's tensors for LLVM: their list as JSON, and for the server ----------------------------===//

#include "translator/emit/forms/FormPrinter.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// The name that LLVM's TensorSpec gives a type of elements; it has none for 16-bit floats, and a byte for a boolean.
static std::string specType(ColumnTensor const &tensor) {
  Type const type = tensor.type;
  if (type.isF32() || type.isF64())
    return type.isF32() ? "float" : "double";
  if (isa<FloatType>(type))
    return type.isBF16() ? "bfloat16" : "float16";
  if (type.isInteger(1))
    return "uint8_t";
  return std::string(tensor.isUnsigned ? "uint" : "int") +
         std::to_string(type.isIndex() ? 64 : type.getIntOrFloatBitWidth()) + "_t";
}

/// The members in LLVM's order, one tensor a line.
std::string FormPrinter::specs() const {
  std::string text = "{\n  \"generator\": \"ml2kokkos\"";
  for (auto const &[key, numbers] : {std::pair{"features", &column.inputs}, {"results", &column.outputs}}) {
    text += std::string(",\n  \"") + key + "\": [";
    for (auto [position, number] : llvm::enumerate(*numbers)) {
      ColumnTensor const &tensor = column.tensors[number];
      // As the runner knows it
      std::string const name = Json(terminalText(tensor.modelName)).dump(-1, ' ', /*ensure_ascii=*/true);
      text += std::string(position ? "," : "") + "\n    {\"name\": " + name + ", \"port\": 0, \"type\": \"" +
              specType(tensor) + "\", \"shape\": [1" + (tensor.width == 1 ? "" : ", " + std::to_string(tensor.width)) +
              "]}";
    }
    text += "\n  ]";
  }
  return text + "\n}\n";
}

void FormPrinter::addServer(Json &view) const {
  view["server"] = options.stem + "_server";
  for (auto const &[key, numbers] : {std::pair{"features", &column.inputs}, {"results", &column.outputs}})
    for (auto [position, number] : llvm::enumerate(*numbers))
      view[key][position]["spec_type"] = specType(column.tensors[number]);
}

} // namespace ml2k
