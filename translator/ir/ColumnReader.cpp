//===- ColumnReader.cpp - a scheduled network as layers of a column -----------------------------------------------===//

#include "translator/ir/ColumnReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k {

std::optional<int64_t> widthOf(Type type) {
  auto const tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() < 1 || tensor.getRank() > 2)
    return std::nullopt;
  int64_t const width = tensor.getRank() == 1 ? 1 : tensor.getDimSize(1);
  return ShapedType::isDynamic(width) || width == 0 ? std::nullopt : std::optional(width);
}

LogicalResult ColumnReader::checkBatch(Location where, RankedTensorType type, StringRef what) {
  if (!batch)
    batch = type.getDimSize(0);
  if (*batch == type.getDimSize(0))
    return success();
  return emitError(where) << what << " " << notColumns << "its first dimension is not the batch that the others have";
}

LogicalResult ColumnReader::readArgument(BlockArgument argument) {
  auto const name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name");
  std::string const modelName = name ? name.str() : "in" + std::to_string(argument.getArgNumber());
  std::optional<int64_t> const width = widthOf(argument.getType());
  if (!width)
    return emitError(argument.getLoc()) << "input '" << modelName << "' " << notColumns << "it is "
                                        << argument.getType() << ", not [batch] or [batch, width]";
  auto const type = cast<RankedTensorType>(argument.getType());
  bool const isUnsigned = bool(entry.getArgAttr(argument.getArgNumber(), "nest.unsigned"));
  column.inputs.push_back(column.tensors.size());
  parts[argument] = {{unsigned(column.tensors.size()), 0, *width}};
  column.tensors.push_back({ColumnTensor::Kind::Input, modelName, *width, type.getElementType(), isUnsigned});
  return checkBatch(argument.getLoc(), type, "input '" + modelName + "'");
}

ColumnLayer &ColumnReader::addLayer(ColumnLayer::Kind kind, Operation *op) {
  column.layers.push_back({kind, op, op->getLoc(), nest::labelOf(op).str()});
  ColumnLayer &layer = column.layers.back();
  for (Value result : op->getResults()) {
    unsigned const buffer = addBuffer(layer.label, widthOf(result.getType()).value_or(1),
                                      cast<ShapedType>(result.getType()).getElementType());
    parts[result] = {{buffer, 0, column.tensors[buffer].width}};
    writer[result] = column.layers.size() - 1;
    layer.results.push_back({buffer});
  }
  return layer;
}

unsigned ColumnReader::addBuffer(std::string name, int64_t width, Type type) {
  column.tensors.push_back({ColumnTensor::Kind::Buffer, std::move(name), width, type});
  return column.tensors.size() - 1;
}

void ColumnReader::copyParts(ColumnParts const &from, unsigned to, Location location, std::string const &label) {
  int64_t first = 0;
  for (ColumnPart const &part : from) {
    ColumnLayer layer{ColumnLayer::Kind::Copy, nullptr, location, label};
    layer.operands = {{part}, {{to, first, part.width}}};
    layer.results = {{to}};
    column.layers.push_back(std::move(layer));
    first += part.width;
  }
}

/// A value that is read element by element is one part: a concatenation is made first.
FailureOr<ColumnParts> ColumnReader::onePart(Operation *reader, Value value) {
  auto const found = parts.find(value);
  if (found == parts.end())
    return reader->emitError(notColumns) << "an operand is neither a column nor a weight";
  if (found->second.size() == 1)
    return found->second;
  std::string const label = nest::labelOf(reader).str() + ".in";
  unsigned const buffer =
      addBuffer(label, *widthOf(value.getType()), cast<ShapedType>(value.getType()).getElementType());
  copyParts(found->second, buffer, value.getLoc(), label);
  return parts[value] = {{buffer, 0, column.tensors[buffer].width}};
}

//===--- Parts ----------------------------------------------------------------------------------------------------===//

LogicalResult ColumnReader::readConcat(tensor::ConcatOp op) {
  if (op.getDim() != 1)
    return op.emitError(notColumns) << "it joins entries of the batch";
  ColumnParts all;
  for (Value value : op.getInputs()) {
    auto const found = parts.find(value);
    if (found == parts.end())
      return op.emitError(notColumns) << "it joins something that is not a column";
    all.append(found->second.begin(), found->second.end());
  }
  parts[op.getResult()] = std::move(all);
  return success();
}

LogicalResult ColumnReader::readSlice(tensor::ExtractSliceOp op) {
  auto const found = parts.find(op.getSource());
  bool const known = op.getMixedOffsets().size() == 2 && !ShapedType::isDynamic(op.getStaticOffset(1)) &&
                     !ShapedType::isDynamic(op.getStaticSize(1)) && op.hasUnitStride() && op.getStaticOffset(0) == 0;
  if (found == parts.end() || !known || op.getType().getRank() != 2)
    return op.emitError(notColumns) << "only a slice of constant positions along a row acts on one column";
  ColumnParts taken;
  int64_t const begin = op.getStaticOffset(1), end = begin + op.getStaticSize(1);
  int64_t at = 0;
  for (ColumnPart const &part : found->second) {
    int64_t const from = std::max(begin, at), to = std::min(end, at + part.width);
    if (from < to)
      taken.push_back({part.tensor, part.first + from - at, to - from});
    at += part.width;
  }
  parts[op.getResult()] = std::move(taken);
  return success();
}

/// [batch, width] to [batch, 1, width] and the like change nothing of a row.
LogicalResult ColumnReader::readReshape(Operation *op) {
  auto const found = parts.find(op->getOperand(0));
  auto const from = dyn_cast<RankedTensorType>(op->getOperand(0).getType()),
             to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (found == parts.end() || !from || !to || from.getRank() < 1 || to.getRank() < 1 ||
      from.getDimSize(0) != to.getDimSize(0))
    return op->emitError(notColumns) << "it changes the shape of more than a row";
  parts[op->getResult(0)] = ColumnParts(found->second);
  return success();
}

//===--- Results --------------------------------------------------------------------------------------------------===//

LogicalResult ColumnReader::readReturn(func::ReturnOp op) {
  for (auto [number, value] : llvm::enumerate(op.getOperands())) {
    auto const name = entry.getResultAttrOfType<StringAttr>(number, "nest.name");
    std::string const modelName = name ? name.str() : "out" + std::to_string(number);
    std::optional<int64_t> const width = widthOf(value.getType());
    auto const found = parts.find(value);
    if (!width || found == parts.end())
      return op.emitError() << "output '" << modelName << "' " << notColumns << "it is " << value.getType()
                            << ", not [batch] or [batch, width]";
    auto const type = cast<RankedTensorType>(value.getType());
    if (failed(checkBatch(op.getLoc(), type, "output '" + modelName + "'")))
      return failure();
    unsigned const output = column.tensors.size();
    bool const isUnsigned = bool(entry.getResultAttr(number, "nest.unsigned"));
    column.tensors.push_back({ColumnTensor::Kind::Output, modelName, *width, type.getElementType(), isUnsigned});
    column.outputs.push_back(output);
    ColumnParts const from = found->second;
    Value whole = value;
    while (Operation *reshape = whole.getDefiningOp())
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(reshape))
        whole = reshape->getOperand(0);
      else
        break;
    if (auto const made = writer.find(whole); made != writer.end())
      column.layers[made->second].results[cast<OpResult>(whole).getResultNumber()].push_back(output);
    else
      copyParts(from, output, op.getLoc(), modelName);
  }
  return success();
}

/// Whether a row kernel reads what it wrote as this result. The caller's memory may be of another type: a buffer keeps
/// it.
static bool readsBack(ColumnLayer const &layer, unsigned result) {
  if (layer.kind != ColumnLayer::Kind::Row)
    return false;
  Block &block = layer.op->getRegion(0).front();
  Value const row = block.getArgument(block.getNumArguments() - layer.results.size() + result);
  return llvm::any_of(row.getUsers(), [](Operation *user) { return isa<nest::GetOp>(user); });
}

/// Results that nobody reads but the caller need no buffer.
void ColumnReader::dropUnread() {
  llvm::DenseSet<unsigned> read;
  for (ColumnLayer const &layer : column.layers)
    for (auto const &[number, operand] : llvm::enumerate(layer.operands))
      if (layer.kind != ColumnLayer::Kind::Copy || number == 0)
        for (ColumnPart const &part : operand)
          read.insert(part.tensor);
  for (ColumnLayer &layer : column.layers)
    for (auto [number, tensors] : llvm::enumerate(layer.results))
      if (tensors.size() > 1 && !read.contains(tensors.front()) && !readsBack(layer, number))
        tensors.erase(tensors.begin());
}

LogicalResult ColumnReader::readOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ConstantOp, tensor::EmptyOp, tensor::DimOp, nest::WeightOp>([](auto) { return success(); })
      .Case<nest::ContractOp>([&](auto contract) { return readContract(contract); })
      .Case<nest::MapOp>([&](auto map) { return readElementwise(map, ColumnLayer::Kind::Each); })
      .Case<nest::RowOp>([&](auto row) { return readElementwise(row, ColumnLayer::Kind::Row); })
      .Case<tensor::ConcatOp>([&](auto concat) { return readConcat(concat); })
      .Case<tensor::ExtractSliceOp>([&](auto slice) { return readSlice(slice); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto reshape) { return readReshape(reshape); })
      .Case<func::ReturnOp>([&](auto end) { return readReturn(end); })
      .Default([&](Operation *other) {
        if (llvm::all_of(other->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }) &&
            isMemoryEffectFree(other))
          return success(); // arithmetic of sizes
        return LogicalResult(other->emitError(notColumns)
                             << "'" << other->getName() << "' is not a layer of a dense network; use --form=launch");
      });
}

FailureOr<Column> ColumnReader::read() {
  if (!entry.getBody().hasOneBlock())
    return entry.emitError(notColumns) << "it has control flow";
  bool refused = false;
  for (BlockArgument argument : entry.getArguments())
    refused |= failed(readArgument(argument));
  if (refused)
    return failure();
  if (!batch)
    return entry.emitError(notColumns) << "it has no input";
  for (Operation &op : entry.getBody().front())
    if (failed(readOperation(&op)))
      return failure();
  if (!column.scalar)
    column.scalar = Float32Type::get(entry.getContext());
  dropUnread();
  return std::move(column);
}

FailureOr<Column> readColumn(ModuleOp module, Forms const &forms) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entry = function;
  if (!entry)
    return module.emitError("the module has no entry function");
  FailureOr<Column> column = ColumnReader(entry).read();
  if (failed(column))
    return failure();
  planBuffers(*column);
  return failed(checkForms(*column, forms, entry)) ? FailureOr<Column>() : column;
}

} // namespace ml2k
