//===- TensorFlowNames.cpp - names of tf2onnx without what all of them share --------------------------------------===//
//
// tf2onnx and Keras name everything after its place in a graph of TensorFlow: `functional_1/dense_1/BiasAdd`,
// `StatefulPartitionedCall/model/dense/MatMul/ReadVariableOp:0`. A reader of the printed code needs `dense_1/BiasAdd`
// and `dense/weight`.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

using llvm::StringRef;

namespace ml2k::frontend {

static bool isCall(StringRef part) {
  return part.starts_with("StatefulPartitionedCall") || part.starts_with("PartitionedCall");
}

/// What nine of ten names begin with: calls, and the model itself.
void Importer::findRoot() {
  if (model.producer_name() != "tf2onnx")
    return;
  std::vector<StringRef> names;
  for (pb::NodeProto const &node : model.graph().node()) {
    StringRef name = node.name();
    name.consume_front("ConstantFolding/");
    if (name.contains('/'))
      names.push_back(name);
  }
  constexpr int mostParts = 4;
  for (int part = 0; part < mostParts; ++part) {
    llvm::StringMap<size_t> counts;
    StringRef next;
    for (StringRef name : names)
      if (name.consume_front(root) && name.contains('/'))
        if (StringRef const first = name.split('/').first; ++counts[first] * 10 > names.size() * 9)
          next = first;
    if (next.empty())
      return;
    root += next.str() + "/";
    if (!isCall(next))
      return;
  }
}

std::string Importer::shortName(StringRef name) const {
  if (model.producer_name() != "tf2onnx")
    return name.str();
  StringRef rest = name;
  rest.consume_front("ConstantFolding/");
  if (!root.empty())
    rest.consume_front(root);
  rest.consume_back(":0");
  bool const isVariable = rest.consume_back("/resource") | rest.consume_back("/ReadVariableOp");
  auto [layer, op] = rest.rsplit('/');
  if (!isVariable || op.empty())
    return rest.empty() ? name.str() : rest.str();
  auto const [kind, number] = op.split('_');
  bool const isNumber = !number.empty() && llvm::all_of(number, llvm::isDigit);
  return (layer + "/" + (kind == "BiasAdd" ? "bias" : "weight") + (isNumber ? "_" + number : "")).str();
}

} // namespace ml2k::frontend
