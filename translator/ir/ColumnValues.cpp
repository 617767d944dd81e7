//===- ColumnValues.cpp - what a network computes for one column --------------------------------------------------===//

#include "translator/ir/ColumnValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace ml2k {

double numberOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  auto const integer = cast<IntegerAttr>(value);
  return integer.getType().isInteger(1) ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue();
}

static Attribute attributeOf(Type type, double value) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value);
  return IntegerAttr::get(type, static_cast<int64_t>(value));
}

namespace {

Attribute joined(nest::Combiner combiner, Attribute a, Attribute b) {
  double const x = numberOf(a), y = numberOf(b);
  Type const type = cast<TypedAttr>(a).getType();
  bool const isNan = std::isnan(x) || std::isnan(y);
  switch (combiner) {
  case nest::Combiner::Sum:
    return attributeOf(type, x + y);
  case nest::Combiner::Prod:
    return attributeOf(type, x * y);
  case nest::Combiner::Max:
    return attributeOf(type, isNan ? std::nan("") : std::max(x, y));
  case nest::Combiner::Min:
    return attributeOf(type, isNan ? std::nan("") : std::min(x, y));
  case nest::Combiner::MaxNum:
    return attributeOf(type, std::fmax(x, y));
  case nest::Combiner::MinNum:
    return attributeOf(type, std::fmin(x, y));
  case nest::Combiner::MaxSI:
    return x < y ? b : a;
  case nest::Combiner::MinSI:
    return y < x ? b : a;
  default: // of bits and unsigned integers
    return {};
  }
}

/// One layer after the other, each element by its operations.
class Evaluator {
public:
  Evaluator(Column const &column, Forms const &forms) : column(column) {
    for (ColumnTensor const &tensor : column.tensors)
      values.emplace_back(tensor.width);
    for (ColumnWeights const &weights : column.weights)
      matrices.push_back(matrixOf(weights, isHalved(weights, forms)));
  }

  LogicalResult run(ArrayRef<RowValues> inputs) {
    for (auto [number, input] : llvm::zip(column.inputs, inputs))
      values[number] = input;
    for (ColumnLayer const &layer : column.layers)
      if (failed(runLayer(layer)))
        return failure();
    return success();
  }

  std::vector<std::vector<Attribute>> values; ///< of every tensor

private:
  LogicalResult runLayer(ColumnLayer const &next) {
    layer = &next;
    if (layer->kind == ColumnLayer::Kind::Copy)
      return runCopy();
    auto const attributes = layer->op->getAttrOfType<ArrayAttr>("indexing_maps").getAsValueRange<AffineMapAttr>();
    maps.assign(attributes.begin(), attributes.end());
    along = rowLoop(*layer);
    if (layer->kind == ColumnLayer::Kind::Linear)
      return runLinear(cast<nest::ContractOp>(layer->op));
    Block &block = layer->op->getRegion(0).front();
    if (layer->kind == ColumnLayer::Kind::Row)
      return runBlock(block);
    for (at = 0; at < rowLength(*layer); ++at)
      if (failed(bindOperands(block.getArguments(), 0)) || failed(runBlock(block)) || failed(store(block)))
        return failure();
    return success();
  }

  LogicalResult runCopy() {
    ColumnPart const from = layer->operands[0].front(), to = layer->operands[1].front();
    std::copy_n(values[from.tensor].begin() + from.first, from.width, values[to.tensor].begin() + to.first);
    return success();
  }

  /// [o][k], as stored.
  static std::vector<double> matrixOf(ColumnWeights const &weights, bool isHalved) {
    std::vector<double> matrix(weights.inputs * weights.outputs);
    nest::WeightOp weight = weights.weight;
    if (weights.inputs == 0)
      return matrix;
    for (auto [position, given] : llvm::enumerate(weight.getValue().getValues<APFloat>())) {
      int64_t const at = position, columns = weights.isInputMajor ? weights.outputs : weights.inputs;
      int64_t const k = weights.isInputMajor ? at / columns : at % columns,
                    o = weights.isInputMajor ? at % columns : at / columns;
      APFloat value = isHalved ? nearestBFloat(given) : given;
      bool isInexact = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
      matrix[o * weights.inputs + k] = value.convertToDouble();
    }
    return matrix;
  }

  LogicalResult runLinear(nest::ContractOp op) {
    ColumnWeights const &weights = column.weights[layer->weights];
    nest::WeightOp bias = weights.bias;
    std::vector<double> x;
    for (ColumnPart const &part : layer->operands[0])
      for (int64_t k = 0; k < part.width; ++k)
        x.push_back(numberOf(values[part.tensor][part.first + k]));
    Block &block = op.getEpilogue().front();
    for (at = 0; at < weights.outputs; ++at) {
      double sum = bias ? numberOf(bias.getValue().getValues<Attribute>()[at]) : 0;
      for (int64_t k = 0; k < weights.inputs; ++k)
        sum += x[k] * matrices[layer->weights][at * weights.inputs + k];
      if (layer->biased)
        known[layer->biased] = FloatAttr::get(layer->biased.getType(), sum);
      known[block.getArgument(0)] = FloatAttr::get(block.getArgument(0).getType(), sum);
      if (failed(bindOperands(block.getArguments().drop_front(), 2)) || failed(runBlock(block)) || failed(store(block)))
        return failure();
    }
    return success();
  }

  //===--- Elements ---===//

  unsigned inputCount() const { return layer->op->getNumOperands() - layer->op->getNumResults(); }

  /// In a row, or among all elements of a weight.
  int64_t positionOf(unsigned number, int64_t position) const {
    SmallVector<int64_t> loops(maps[number].getNumDims(), 0);
    if (along < loops.size())
      loops[along] = position;
    SmallVector<int64_t> const indices = maps[number].compose(loops);
    Value const value = layer->op->getOperand(number);
    if (!value.getDefiningOp<nest::WeightOp>() || number >= inputCount())
      return indices.size() == 2 ? indices[1] : 0;
    int64_t flat = 0;
    for (auto [index, extent] : llvm::zip(indices, cast<ShapedType>(value.getType()).getShape()))
      flat = flat * extent + index;
    return flat;
  }

  Attribute operand(unsigned number, int64_t position) const {
    int64_t const index = positionOf(number, position);
    if (number >= inputCount())
      return values[layer->results[number - inputCount()].front()][index];
    if (auto weight = layer->op->getOperand(number).getDefiningOp<nest::WeightOp>())
      return weight.getValue().getValues<Attribute>()[index];
    ColumnPart const &part = layer->operands[number].front();
    return values[part.tensor][part.first + index];
  }

  LogicalResult bindOperands(Block::BlockArgListType arguments, unsigned first) {
    for (auto [number, argument] : llvm::enumerate(arguments))
      known[argument] = operand(first + number, at);
    return success();
  }

  void write(unsigned result, int64_t position, Attribute value) {
    for (unsigned tensor : layer->results[result])
      values[tensor][positionOf(inputCount() + result, position)] = value;
  }

  LogicalResult store(Block &block) {
    for (auto [number, value] : llvm::enumerate(block.back().getOperands()))
      write(number, at, valueOf(value));
    return success();
  }

  //===--- Operations ---===//

  LogicalResult runBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (!(layer->biased && op.getNumResults() == 1 && op.getResult(0) == layer->biased) && failed(runOperation(op)))
        return failure();
    return success();
  }

  int64_t placeOf(Value position) { return position ? int64_t(numberOf(valueOf(position))) : 0; }

  LogicalResult runOperation(Operation &op) {
    if (auto index = dyn_cast<nest::IndexOp>(op)) {
      known[index] = IntegerAttr::get(index.getType(), index.getDim() == along ? at : 0);
      return success();
    }
    if (auto get = dyn_cast<nest::GetOp>(op)) {
      known[get.getValue()] = operand(cast<BlockArgument>(get.getRow()).getArgNumber(), placeOf(get.getPosition()));
      return success();
    }
    if (auto set = dyn_cast<nest::SetOp>(op)) {
      unsigned const number = cast<BlockArgument>(set.getRow()).getArgNumber();
      write(number - inputCount(), placeOf(set.getPosition()), valueOf(set.getValue()));
      return success();
    }
    if (isa<nest::FoldOp, nest::EachOp>(op))
      return runAlong(op);
    return runScalar(op);
  }

  LogicalResult runAlong(Operation &op) {
    auto fold = dyn_cast<nest::FoldOp>(op);
    Block &block = op.getRegion(0).front();
    Attribute total;
    int64_t const length = rowLength(*layer);
    for (at = 0; at < length; ++at) {
      known[block.getArgument(0)] = IntegerAttr::get(block.getArgument(0).getType(), at);
      if (failed(runBlock(block)))
        return failure();
      if (fold) {
        Attribute const term = valueOf(block.back().getOperand(0));
        total = total ? joined(fold.getCombiner(), total, term) : term;
        if (!total)
          return op.emitError("is not computed at translation");
      }
    }
    if (fold)
      known[fold.getResult()] = total;
    return success();
  }

  /// Constants may stand outside of the kernel.
  Attribute valueOf(Value value) const {
    Attribute found = known.lookup(value);
    if (!found)
      matchPattern(value, m_Constant(&found));
    return found;
  }

  LogicalResult runScalar(Operation &op) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(valueOf(operand));
    if (isa<math::RsqrtOp>(op) && operands[0]) { // has no folding
      known[op.getResult(0)] = attributeOf(op.getResult(0).getType(), 1 / std::sqrt(numberOf(operands[0])));
      return success();
    }
    SmallVector<OpFoldResult> results;
    if (op.getNumRegions() || failed(op.fold(operands, results)) || results.size() != op.getNumResults())
      return op.emitError("'") << op.getName() << "' is not computed at translation";
    for (auto [result, folded] : llvm::zip(op.getResults(), results)) {
      auto const value = dyn_cast<Value>(folded);
      known[result] = value ? valueOf(value) : cast<Attribute>(folded);
    }
    return success();
  }

  Column const &column;
  std::vector<std::vector<double>> matrices; ///< of all weights
  ColumnLayer const *layer = nullptr;
  SmallVector<AffineMap> maps;
  unsigned along = 0;
  int64_t at = 0; ///< the position along the row
  llvm::DenseMap<Value, Attribute> known;
};

} // namespace

FailureOr<std::vector<Query>> valuesOf(Column const &column, Forms const &forms, ArrayRef<Query> queries) {
  Evaluator evaluator(column, forms);
  std::vector<Query> results;
  for (Query const &query : queries) {
    if (failed(evaluator.run(query)))
      return failure();
    Query &result = results.emplace_back();
    for (unsigned number : column.outputs)
      result.push_back(evaluator.values[number]);
  }
  return results;
}

static std::vector<Query> drawQueries(Column const &column, unsigned count, bool arePositive) {
  uint64_t state = 1;
  auto const uniform = [&] { // 24 bits of a linear congruential generator: exact as a float
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 40) / double(1 << 24);
  };
  auto const draw = [&](Type type) {
    double const value = uniform();
    double const number = !isa<FloatType>(type) ? value * (type.isInteger(1) ? 2 : 8)
                          : arePositive         ? 2 * value
                                                : 4 * value - 2;
    return attributeOf(type, number);
  };
  std::vector<Query> queries(count);
  for (Query &query : queries)
    for (unsigned number : column.inputs) {
      RowValues &row = query.emplace_back();
      for (int64_t k = 0; k < column.tensors[number].width; ++k)
        row.push_back(draw(column.tensors[number].type));
    }
  return queries;
}

FailureOr<std::vector<Query>> sampleQueries(Column const &column, unsigned count) {
  std::vector<Query> queries = drawQueries(column, count, /*arePositive=*/false);
  FailureOr<std::vector<Query>> const results = valuesOf(column, {}, queries);
  if (failed(results))
    return failure();
  bool const areNumbers = llvm::all_of(*results, [](Query const &query) {
    return llvm::all_of(query, [](RowValues const &row) {
      return llvm::all_of(row, [](Attribute value) { return std::isfinite(numberOf(value)); });
    });
  });
  return areNumbers ? queries : drawQueries(column, count, /*arePositive=*/true);
}

} // namespace ml2k
