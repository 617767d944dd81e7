//===- Column.cpp - a network as it acts on one column
//--------------------------------------------------------------===//

#include "translator/emit/forms/Column.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k {

unsigned Column::vectorOf(nest::WeightOp op) {
  for (auto [number, known] : llvm::enumerate(weights))
    if (known.weight == op && known.inputs == 0)
      return number;
  weights.push_back({op, {}, op.getName().str(), 0, cast<ShapedType>(op.getResult().getType()).getNumElements()});
  return weights.size() - 1;
}

namespace {

constexpr char const notColumns[] = "has no team, thread or runner form: ";

/// Rows of a tensor whose first dimension is the batch; nothing if it has another shape.
std::optional<int64_t> widthOf(Type type) {
  auto const tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() < 1 || tensor.getRank() > 2)
    return std::nullopt;
  int64_t const width = tensor.getRank() == 1 ? 1 : tensor.getDimSize(1);
  return ShapedType::isDynamic(width) || width == 0 ? std::nullopt : std::optional(width);
}

class Reader {
public:
  explicit Reader(func::FuncOp entry) : entry(entry) {}
  FailureOr<Column> read();

private:
  LogicalResult readArgument(BlockArgument argument);
  LogicalResult readOperation(Operation *op);
  LogicalResult readContract(nest::ContractOp op);
  LogicalResult readElementwise(Operation *op, ColumnLayer::Kind kind);
  LogicalResult readConcat(tensor::ConcatOp op);
  LogicalResult readSlice(tensor::ExtractSliceOp op);
  LogicalResult readReshape(Operation *op);
  LogicalResult readReturn(func::ReturnOp op);

  LogicalResult checkBatch(Location where, RankedTensorType type, StringRef what);
  LogicalResult checkScalar(Operation *op, Type type);
  LogicalResult isColumnMap(Operation *op, AffineMap map, unsigned along);
  ColumnLayer &addLayer(ColumnLayer::Kind kind, Operation *op);
  FailureOr<ColumnParts> onePart(Operation *reader, Value value);
  unsigned addBuffer(std::string name, int64_t width, Type type);
  void copyParts(ColumnParts const &parts, unsigned to, Location location, std::string const &label);
  void dropUnread();

  func::FuncOp entry;
  Column column;
  std::optional<int64_t> batch;
  llvm::DenseMap<Value, ColumnParts> parts;
  llvm::DenseMap<Value, unsigned> writer; ///< layer of a kernel's result
};

LogicalResult Reader::checkBatch(Location where, RankedTensorType type, StringRef what) {
  if (!batch)
    batch = type.getDimSize(0);
  if (*batch == type.getDimSize(0))
    return success();
  return emitError(where) << what << " " << notColumns << "its first dimension is not the batch that the others have";
}

/// Weights, buffers and sums share one type.
LogicalResult Reader::checkScalar(Operation *op, Type type) {
  if (!type.isF32() && !type.isF64())
    return op->emitError(notColumns) << "weights of type " << type;
  if (!column.scalar)
    column.scalar = type;
  return column.scalar == type ? success() : op->emitError(notColumns) << "weights of several types";
}

LogicalResult Reader::readArgument(BlockArgument argument) {
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

ColumnLayer &Reader::addLayer(ColumnLayer::Kind kind, Operation *op) {
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

unsigned Reader::addBuffer(std::string name, int64_t width, Type type) {
  column.tensors.push_back({ColumnTensor::Kind::Buffer, std::move(name), width, type});
  return column.tensors.size() - 1;
}

void Reader::copyParts(ColumnParts const &from, unsigned to, Location location, std::string const &label) {
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
FailureOr<ColumnParts> Reader::onePart(Operation *reader, Value value) {
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

//===--- Kernels --------------------------------------------------------------------------------------------------===//

/// The addition of a vector along the outputs that comes before everything else: the sum with it, and the vector's
/// number among the extras.
static std::pair<Value, unsigned> biasOf(nest::ContractOp op, unsigned n) {
  Block &block = op.getEpilogue().front();
  if (!block.getArgument(0).hasOneUse())
    return {};
  auto add = dyn_cast<arith::AddFOp>(*block.getArgument(0).getUsers().begin());
  if (!add || add->getBlock() != &block)
    return {};
  auto const other = dyn_cast<BlockArgument>(add.getLhs() == block.getArgument(0) ? add.getRhs() : add.getLhs());
  if (!other || other.getOwner() != &block || other.getArgNumber() == 0 || !other.hasOneUse())
    return {};
  unsigned const extra = other.getArgNumber() - 1;
  auto const map = cast<AffineMapAttr>(op.getIndexingMaps()[2 + extra]).getValue();
  bool const isAlong = map.getNumResults() == 1 && map.getResult(0) == getAffineDimExpr(n, map.getContext());
  bool const isWeight = op.getExtras()[extra].getDefiningOp<nest::WeightOp>() != nullptr;
  return isAlong && isWeight ? std::pair(Value(add), extra) : std::pair<Value, unsigned>();
}

LogicalResult Reader::readContract(nest::ContractOp op) {
  SmallVector<unsigned> m, n, k;
  for (auto [loop, role] : llvm::enumerate(op.getRoles()))
    (role == nest::Role::M ? m : role == nest::Role::N ? n : k).push_back(loop);
  auto weight = op.getInputs()[1].getDefiningOp<nest::WeightOp>();
  auto const maps = op.getIndexingMaps().getAsValueRange<AffineMapAttr>();
  SmallVector<AffineMap> const all(maps.begin(), maps.end());
  MLIRContext *context = op.getContext();
  auto const is = [&](AffineMap map, unsigned a, unsigned b) {
    return map.getNumResults() == 2 && map.getResult(0) == getAffineDimExpr(a, context) &&
           map.getResult(1) == getAffineDimExpr(b, context);
  };
  bool const plain =
      m.size() == 1 && n.size() == 1 && k.size() == 1 && is(all[0], m[0], k[0]) && is(all.back(), m[0], n[0]);
  if (!weight || !plain || !(is(all[1], n[0], k[0]) || is(all[1], k[0], n[0])))
    return op.emitError(notColumns) << "only a product of rows [batch, k] with a constant matrix acts on one column";
  auto const type = cast<ShapedType>(weight.getResult().getType());
  if (failed(checkScalar(op, type.getElementType())) ||
      failed(checkBatch(op.getLoc(), cast<RankedTensorType>(op.getInputs()[0].getType()), "its operand")))
    return failure();
  auto const found = parts.find(op.getInputs()[0]);
  if (found == parts.end())
    return op.emitError(notColumns) << "its left operand is not a column";
  ColumnParts const operand = found->second;
  std::vector<ColumnParts> operands = {operand, {}};
  auto const [biased, extra] = biasOf(op, n[0]);
  for (auto [number, value] : llvm::enumerate(op.getExtras())) {
    auto const vector = value.getDefiningOp<nest::WeightOp>();
    bool const isWeight = vector != nullptr;
    if (isWeight && !(biased && number == extra)) {
      if (failed(checkScalar(op, cast<ShapedType>(value.getType()).getElementType())))
        return failure();
      column.vectorOf(vector);
    }
    if (!isWeight && failed(isColumnMap(op, all[2 + number], n[0])))
      return failure();
    auto part = isWeight ? FailureOr<ColumnParts>(ColumnParts()) : onePart(op, value);
    if (failed(part))
      return failure();
    operands.push_back(*part);
  }
  bool const inputMajor = is(all[1], k[0], n[0]);
  ColumnWeights weights{
      weight,    {}, op.getLabel().str(), type.getDimSize(inputMajor ? 0 : 1), type.getDimSize(inputMajor ? 1 : 0),
      inputMajor};
  if (biased)
    weights.bias = op.getExtras()[extra].getDefiningOp<nest::WeightOp>();
  column.weights.push_back(weights);
  ColumnLayer &layer = addLayer(ColumnLayer::Kind::Linear, op);
  layer.operands = std::move(operands);
  layer.weights = column.weights.size() - 1;
  layer.biased = biased;
  return success();
}

/// Whether a map over the loops of a kernel stays in its entry of the batch: no position but the first depends on a
/// loop other than `along`, and the first one is such a loop alone.
LogicalResult Reader::isColumnMap(Operation *op, AffineMap map, unsigned along) {
  auto const refuse = [&] {
    return op->emitError(notColumns) << "it reads or writes entries of the batch other than its own";
  };
  if (map.getNumResults() < 1 || map.getNumResults() > 2)
    return refuse();
  AffineExpr const row = map.getResult(0);
  auto const dim = dyn_cast<AffineDimExpr>(row);
  bool const isBatch = dim ? dim.getPosition() != along || map.getNumDims() == 1 : (*batch == 1 && row == 0);
  bool const stays = map.getNumResults() == 1 || map.getNumDims() == 0 ||
                     llvm::all_of(llvm::seq(0u, map.getNumDims()),
                                  [&](unsigned d) { return d == along || !map.getResult(1).isFunctionOfDim(d); });
  return isBatch && stays ? success() : refuse();
}

LogicalResult Reader::readElementwise(Operation *op, ColumnLayer::Kind kind) {
  auto const maps = op->getAttrOfType<ArrayAttr>("indexing_maps").getAsValueRange<AffineMapAttr>();
  SmallVector<AffineMap> const all(maps.begin(), maps.end());
  unsigned const loops = all.front().getNumDims();
  if (loops > 2)
    return op->emitError(notColumns) << "it has " << loops << " loops, not the batch and a row";
  std::vector<ColumnParts> operands;
  auto outputs = cast<DestinationStyleOpInterface>(op);
  for (auto [number, value] : llvm::enumerate(op->getOperands())) {
    bool const isOutput = int64_t(number) >= op->getNumOperands() - outputs.getNumDpsInits();
    if (auto vector = value.getDefiningOp<nest::WeightOp>(); vector && !isOutput) {
      if (failed(checkScalar(op, cast<ShapedType>(value.getType()).getElementType())))
        return failure();
      column.vectorOf(vector);
      operands.emplace_back();
      continue;
    }
    unsigned const along = loops == 0 ? 0 : loops - 1;
    bool const batchOnly = all[number].getNumResults() == 1 && loops == 1 && *batch != 1;
    if (!batchOnly && failed(isColumnMap(op, all[number], along)))
      return failure();
    if (isOutput)
      continue;
    auto part = onePart(op, value);
    if (failed(part))
      return failure();
    operands.push_back(*part);
  }
  for (Value result : op->getResults())
    if (!widthOf(result.getType()))
      return op->emitError(notColumns) << "its result is " << result.getType() << ", not [batch] or [batch, width]";
  addLayer(kind, op).operands = std::move(operands);
  return success();
}

//===--- Parts ----------------------------------------------------------------------------------------------------===//

LogicalResult Reader::readConcat(tensor::ConcatOp op) {
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

LogicalResult Reader::readSlice(tensor::ExtractSliceOp op) {
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
LogicalResult Reader::readReshape(Operation *op) {
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

LogicalResult Reader::readReturn(func::ReturnOp op) {
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
void Reader::dropUnread() {
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

LogicalResult Reader::readOperation(Operation *op) {
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

FailureOr<Column> Reader::read() {
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

} // namespace

FailureOr<Column> readColumn(func::FuncOp entry) { return Reader(entry).read(); }

} // namespace ml2k
