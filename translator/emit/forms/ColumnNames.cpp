//===- ColumnNames.cpp - what a column's tensors and weights are called -------------------------------------------===//

#include "translator/emit/forms/ColumnNames.h"

#include "translator/emit/model/Names.h"
#include "translator/emit/render/Blocks.h"
#include "translator/ir/UniqueNames.h"

using namespace mlir;

namespace ml2k {

/// What the printed file declares or calls its own parameters.
static llvm::StringSet<> takenNames() {
  llvm::StringSet<> taken = blockNames();
  for (char const *word :
       {"team",   "weights", "scratch", "space",  "batch",  "first",  "count", "n",         "c",       "k",
        "o",      "i",       "sum",     "along",  "block",  "row",    "rows",  "policy",    "level",   "pack",
        "alone",  "lanes",   "strip",   "input",  "column", "linear", "each",  "forward",   "network", "Linear",
        "Vector", "Weights", "Scratch", "Tensor", "Input",  "Alone",  "Along", "TeamAlong", "Joining", "ExecutionSpace",
        "Member", "Team",    "Policy",  "Pack",   "Shared"})
    taken.insert(word);
  for (char const *function : {"fits", "pack_columns", "read_pack", "write_pack", "forward_block", "forward_pack",
                               "block_columns", "pack_count", "few_columns", "blocks", "Buffer", "Buffers", "buffers"})
    taken.insert(function);
  return taken;
}

/// `name` in CamelCase, unless it is taken.
static std::string typeName(std::string const &name, llvm::StringSet<> &taken, StringRef prefix) {
  std::string const plain = camelCase(name, prefix), type = taken.contains(plain) ? plain + nameHash(name) : plain;
  taken.insert(type);
  return type;
}

void nameColumn(Column &column) {
  llvm::StringSet<> const taken = takenNames();
  llvm::StringSet<> types = taken;
  std::vector<std::string> arguments, buffers;
  for (auto const &[number, tensor] : llvm::enumerate(column.tensors))
    if (tensor.kind != ColumnTensor::Kind::Buffer)
      arguments.push_back(tensor.modelName);
    else if (tensor.buffer == std::to_string(number))
      buffers.push_back(tensor.modelName);
  auto const argumentNames = nameTable(arguments, "tensor", taken), bufferNames = nameTable(buffers, "buffer");
  for (ColumnTensor &tensor : column.tensors)
    if (tensor.kind != ColumnTensor::Kind::Buffer) {
      tensor.name = argumentNames.lookup(tensor.modelName);
      tensor.parameter = typeName(tensor.name, types, "Tensor");
    }
  for (ColumnTensor &tensor : column.tensors)
    if (tensor.kind == ColumnTensor::Kind::Buffer && !tensor.buffer.empty())
      tensor.name = bufferNames.lookup(column.tensors[std::stoul(tensor.buffer)].modelName);
  for (ColumnTensor &tensor : column.tensors)
    if (tensor.kind == ColumnTensor::Kind::Buffer && !tensor.buffer.empty()) {
      tensor.buffer = tensor.name;
      tensor.isScratch = true;
    }
  for (ColumnWeights &weights : column.weights)
    weights.name = typeName(weights.modelName, types, "Layer");
}

} // namespace ml2k
