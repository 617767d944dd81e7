//===- ColumnKernels.cpp - the kernels of a network as layers of a column -----------------------------------------===//

#include "translator/ir/ColumnReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {

unsigned Column::vectorOf(nest::WeightOp op) {
  for (auto [number, known] : llvm::enumerate(weights))
    if (known.weight == op && known.inputs == 0)
      return number;
  weights.push_back({op, {}, op.getName().str(), 0, cast<ShapedType>(op.getResult().getType()).getNumElements()});
  return weights.size() - 1;
}

static SmallVector<AffineMap> mapsOf(ColumnLayer const &layer) {
  auto const maps = layer.op->getAttrOfType<ArrayAttr>("indexing_maps").getAsValueRange<AffineMapAttr>();
  return SmallVector<AffineMap>(maps.begin(), maps.end());
}

unsigned rowLoop(ColumnLayer const &layer) {
  if (auto contract = dyn_cast<nest::ContractOp>(layer.op))
    for (auto [loop, role] : llvm::enumerate(contract.getRoles()))
      if (role == nest::Role::N)
        return loop;
  return std::max(1u, mapsOf(layer).front().getNumDims()) - 1; // a single element has no loops
}

int64_t rowLength(ColumnLayer const &layer) {
  SmallVector<AffineMap> const maps = mapsOf(layer);
  unsigned const along = rowLoop(layer);
  auto const count = int64_t(maps.size());
  for (int64_t step = 0; step < count; ++step) {
    unsigned const number = (count - layer.op->getNumResults() + step) % count;
    Value const value = layer.op->getOperand(number);
    auto const shape = cast<ShapedType>(value.getType()).getShape();
    for (unsigned r = value.getDefiningOp<nest::WeightOp>() ? 0 : 1; r < maps[number].getNumResults(); ++r)
      if (auto dim = dyn_cast<AffineDimExpr>(maps[number].getResult(r)); dim && dim.getPosition() == along)
        return shape[r];
  }
  return 1;
}

/// Weights, buffers and sums share one type.
LogicalResult ColumnReader::checkScalar(Operation *op, Type type) {
  if (!type.isF32() && !type.isF64())
    return op->emitError(notColumns) << "weights of type " << type;
  if (!column.scalar)
    column.scalar = type;
  return column.scalar == type ? success() : op->emitError(notColumns) << "weights of several types";
}

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

LogicalResult ColumnReader::readContract(nest::ContractOp op) {
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
LogicalResult ColumnReader::isColumnMap(Operation *op, AffineMap map, unsigned along) {
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

LogicalResult ColumnReader::readElementwise(Operation *op, ColumnLayer::Kind kind) {
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

} // namespace ml2k
