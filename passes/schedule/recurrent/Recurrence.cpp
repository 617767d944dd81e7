//===- Recurrence.cpp - one element of a step of a recurrent layer ------------------------------------------------===//

#include "passes/schedule/recurrent/Recurrence.h"

#include "passes/Provenance.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {

/// So many bytes of a state fit twice into the scratch of a device's team, beside what Kokkos takes.
static constexpr int64_t mostStateBytes = 16384;

LogicalResult Recurrence::match() {
  return success(succeeded(matchBounds()) && succeeded(matchBody()) && succeeded(matchProduct()) &&
                 succeeded(matchOutputs()) && succeeded(buildNext()));
}

Location Recurrence::location() {
  SmallVector<Location> locations;
  for (Operation &op : *loop.getBody())
    if (isa<nest::ContractOp, nest::MapOp>(op))
      locations.push_back(op.getLoc());
  return fusedLocation(loop.getContext(), locations);
}

//===--- What the loop must look like -----------------------------------------------------------------------------===//

LogicalResult Recurrence::matchBounds() {
  std::optional<int64_t> const lower = getConstantIntValue(loop.getLowerBound()),
                               step = getConstantIntValue(loop.getStep()),
                               upper = getConstantIntValue(loop.getUpperBound());
  if (lower != 0 || step != 1)
    return failure();
  if (!upper) {
    count = loop.getUpperBound();
    return success();
  }
  steps = *upper;
  return success(steps > 0);
}

/// One product, elementwise kernels, and slices for this step.
LogicalResult Recurrence::matchBody() {
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto contract = dyn_cast<nest::ContractOp>(op)) {
      if (product)
        return failure();
      product = contract;
    } else if (!isa<nest::MapOp, tensor::EmptyOp, tensor::DimOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
               !(isa<arith::ArithDialect>(op.getDialect()) && isPure(&op))) {
      return failure();
    }
  }
  return success(bool(product));
}

/// state[rows, hidden] * weight[gates * hidden, hidden], both with k last.
LogicalResult Recurrence::matchProduct() {
  auto const carried = dyn_cast<BlockArgument>(product.getInputs()[0]);
  auto weight = product.getInputs()[1].getDefiningOp<nest::WeightOp>();
  if (!carried || carried.getOwner() != loop.getBody() || carried == loop.getInductionVar() || !weight)
    return failure();
  state = carried.getArgNumber() - 1;
  auto const type = cast<RankedTensorType>(carried.getType()), weights = cast<RankedTensorType>(weight.getType());
  if (type.getRank() != 2 || weights.getRank() != 2 || type.isDynamicDim(1) ||
      !isa<Float32Type, Float64Type>(type.getElementType()) || weights.getElementType() != type.getElementType())
    return failure();
  rows = type.getDimSize(0);
  hidden = type.getDimSize(1);
  extentOfRows = traceExtent(carried, 0, loop);
  gates = weights.getDimSize(0) / hidden;
  int64_t const bytes = hidden * type.getElementTypeBitWidth() / 8;
  if (weights.getDimSize(1) != hidden || weights.getDimSize(0) != gates * hidden || bytes > mostStateBytes ||
      cast<ShapedType>(product.getOutputs()[0].getType()).getShape() != ArrayRef<int64_t>{rows, gates * hidden} ||
      !hasRows(product.getResult(0)))
    return failure();
  SmallVector<nest::Role> const roles = product.getRoles();
  auto const maps = llvm::to_vector(product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  auto const has = [&](AffineMap map, unsigned result, nest::Role role) {
    auto const index = dyn_cast<AffineDimExpr>(map.getResult(result));
    return index ? roles[index.getPosition()] == role : role == nest::Role::M && rows == 1;
  };
  bool const fits = has(maps[0], 0, nest::Role::M) && has(maps[0], 1, nest::Role::K) &&
                    has(maps[1], 0, nest::Role::N) && has(maps[1], 1, nest::Role::K) &&
                    has(maps.back(), 0, nest::Role::M) && has(maps.back(), 1, nest::Role::N);
  sums.resize(gates);
  return success(fits);
}

AffineMap Recurrence::mapOf(ArrayRef<AffineExpr> results) {
  return AffineMap::get(3, count ? 1 : 0, results, loop.getContext());
}

/// Whether a tensor has a row for each of the state's, as long as the states that the loop carries do.
bool Recurrence::hasRows(Value tensor) { return traceExtent(tensor, 0, loop).isSame(extentOfRows); }

/// The last step: a constant, or one over the number of the steps.
AffineExpr Recurrence::lastStep(Value last) {
  if (std::optional<int64_t> const number = getConstantIntValue(last))
    return builder.getAffineConstantExpr(*number);
  if (!count)
    return {};
  AffineExpr const all = builder.getAffineSymbolExpr(0);
  if (last == count)
    return all;
  if (auto less = last.getDefiningOp<arith::SubIOp>(); less && less.getLhs() == count)
    if (std::optional<int64_t> const number = getConstantIntValue(less.getRhs()))
      return all - *number;
  if (auto more = last.getDefiningOp<arith::AddIOp>(); more && more.getLhs() == count)
    if (std::optional<int64_t> const number = getConstantIntValue(more.getRhs()))
      return all + *number;
  return {};
}

/// `t` or `last - t` where the index is that of this step; null otherwise.
AffineExpr Recurrence::stepOf(OpFoldResult index) {
  auto const value = dyn_cast<Value>(index);
  if (value == loop.getInductionVar())
    return dim(0);
  auto difference = value ? value.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  AffineExpr const last = difference ? lastStep(difference.getLhs()) : AffineExpr();
  return last && difference.getRhs() == loop.getInductionVar() ? last - dim(0) : AffineExpr();
}

/// The step of whole[step, :, :], without its first dimension.
std::optional<AffineExpr> Recurrence::stepOfSlice(ArrayRef<OpFoldResult> offsets, RankedTensorType part,
                                                  RankedTensorType whole) {
  AffineExpr const step = offsets.empty() ? AffineExpr() : stepOf(offsets[0]);
  bool const isWhole = llvm::all_of(offsets.drop_front(), [](OpFoldResult it) { return isConstantIntValue(it, 0); });
  if (!step || !isWhole || part.getShape() != whole.getShape().drop_front())
    return std::nullopt;
  return step;
}

/// Whether the rows of a sequence that the steps write are all that it has.
bool Recurrence::isWhole(tensor::InsertSliceOp insert) {
  TracedExtent const all = count ? traceSize(count, loop) : TracedExtent{Value(), 0, steps};
  return traceExtent(insert.getDest(), 0, loop).isSame(all) &&
         traceExtent(insert.getDest(), 1, loop).isSame(extentOfRows);
}

/// The carried tensors that the kernel writes: states at (n, j), sequences at the step as well. States have as many
/// rows at the start, and buildNext() shows it of what is yielded.
LogicalResult Recurrence::matchOutputs() {
  outputs.push_back({state, point()});
  for (auto [number, carried] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto const type = dyn_cast<RankedTensorType>(carried.getType());
    if (!type || yielded(number) == carried)
      return failure();
    if (number == state)
      continue;
    auto insert = yielded(number).getDefiningOp<tensor::InsertSliceOp>();
    if (!insert) {
      if (type.getRank() != 2 || !hasRows(carried))
        return failure();
      outputs.push_back({unsigned(number), point()});
      continue;
    }
    auto const step = stepOfSlice(insert.getMixedOffsets(), insert.getSourceType(), type);
    if (!step || insert.getDest() != carried || !carried.hasOneUse() || insert->getParentOp() != loop)
      return failure();
    if (!loop.getResult(number).use_empty()) // a sequence that nobody reads is not kept
      outputs.push_back({unsigned(number), mapOf({*step, dim(1), dim(2)}), isWhole(insert)});
  }
  return success();
}

//===--- The block of the kernel ----------------------------------------------------------------------------------===//

bool Recurrence::isPoint(AffineMap map) {
  auto const isRow = [&](AffineExpr expr) {
    return expr == dim(1) || (rows == 1 && expr == builder.getAffineConstantExpr(0));
  };
  return map.getNumResults() == 2 && isRow(map.getResult(0)) && map.getResult(1) == dim(2);
}

/// Arguments: the sums, the extras as they are found, the outputs.
LogicalResult Recurrence::buildNext() {
  Block *block = builder.createBlock(&next);
  Type const scalar = cast<ShapedType>(product.getInputs()[0].getType()).getElementType();
  for (int64_t gate = 0; gate < gates; ++gate)
    block->addArgument(scalar, loop.getLoc());
  for (Output const &output : outputs)
    block->addArgument(cast<ShapedType>(loop.getRegionIterArg(output.number).getType()).getElementType(),
                       loop.getLoc());
  SmallVector<Value> values;
  for (Output const &output : outputs) {
    Value source = yielded(output.number);
    if (auto insert = source.getDefiningOp<tensor::InsertSliceOp>())
      source = insert.getSource();
    auto const type = cast<RankedTensorType>(source.getType());
    bool const isOfState = type.getShape() == ArrayRef<int64_t>{rows, hidden} && hasRows(source);
    Value const value = isOfState ? element(source, point()) : Value();
    if (!value)
      return failure();
    values.push_back(value);
  }
  builder.setInsertionPointToEnd(block);
  builder.create<nest::YieldOp>(location(), values);
  return success();
}

Value Recurrence::element(Value tensor, AffineMap map) {
  if (auto const carried = dyn_cast<BlockArgument>(tensor); carried && carried.getOwner() == loop.getBody())
    return isPoint(map) ? stateAt(carried.getArgNumber() - 1) : Value();
  if (tensor.getParentRegion() != &loop.getRegion())
    return extraAt(tensor, map);
  if (tensor == product->getResult(0))
    return sumAt(map);
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
    return sliceAt(slice, map);
  auto inner = tensor.getDefiningOp<nest::MapOp>();
  return inner && isPoint(map) ? inlined(inner, cast<OpResult>(tensor).getResultNumber()) : Value();
}

/// A state before this step.
Value Recurrence::stateAt(unsigned number) {
  for (auto [place, output] : llvm::enumerate(outputs))
    if (output.number == number)
      return next.front().getArgument(gates + extras.size() + place);
  return {};
}

Value Recurrence::extraAt(Value tensor, AffineMap map) {
  for (auto [place, extra] : llvm::enumerate(extras))
    if (extra == tensor && extraMaps[place] == map)
      return next.front().getArgument(gates + place);
  extras.push_back(tensor);
  extraMaps.push_back(map);
  return next.front().insertArgument(gates + extras.size() - 1, cast<ShapedType>(tensor.getType()).getElementType(),
                                     tensor.getLoc());
}

Value Recurrence::sliceAt(tensor::ExtractSliceOp slice, AffineMap map) {
  auto const step = stepOfSlice(slice.getMixedOffsets(), slice.getType(), slice.getSourceType());
  if (!step || slice.getSource().getParentRegion() == &loop.getRegion())
    return {};
  SmallVector<AffineExpr> at = {*step};
  llvm::append_range(at, map.getResults());
  return extraAt(slice.getSource(), mapOf(at));
}

/// The sum of the gate whose column `map` addresses, and what the epilogue of the product makes of it.
Value Recurrence::sumAt(AffineMap map) {
  auto const offset = dyn_cast<AffineConstantExpr>(map.getResult(1) - dim(2));
  AffineMap const without = AffineMap::get(3, 0, {map.getResult(0), dim(2)}, loop.getContext());
  if (!offset || offset.getValue() % hidden != 0 || !isPoint(without))
    return {};
  int64_t const gate = offset.getValue() / hidden;
  if (sums[gate])
    return sums[gate];
  Block &epilogue = product.getEpilogue().front();
  IRMapping known;
  known.map(epilogue.getArgument(0), next.front().getArgument(gate));
  SmallVector<AffineExpr> position;
  for (nest::Role role : product.getRoles())
    position.push_back(role == nest::Role::M ? dim(1) : dim(2) + offset.getValue());
  auto const maps = llvm::to_vector(product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  for (auto [i, extra] : llvm::enumerate(product.getExtras())) {
    Value const value = element(extra, maps[2 + i].replaceDimsAndSymbols(position, {}, 3, 0));
    if (!value)
      return {};
    known.map(epilogue.getArgument(1 + i), value);
  }
  for (Operation &op : epilogue.without_terminator()) {
    if (isa<nest::IndexOp>(op) || !isOutside(&op))
      return {};
    builder.setInsertionPointToEnd(&next.front());
    builder.clone(op, known);
  }
  return sums[gate] = known.lookupOrDefault(epilogue.getTerminator()->getOperand(0));
}

/// Whether scalar code of a kernel takes in nothing that the loop computes beside its kernels: that changes with the
/// step.
bool Recurrence::isOutside(Operation *op) {
  return !op->walk([&](Operation *inside) {
              return llvm::any_of(inside->getOperands(),
                                  [&](Value v) { return v.getParentRegion() == &loop.getRegion(); })
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

/// A result of an elementwise kernel at (n, j).
Value Recurrence::inlined(nest::MapOp map, unsigned result) {
  if (auto const found = done.find(map); found != done.end())
    return found->second[result];
  auto const maps = llvm::to_vector(map.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  unsigned const outputCount = map.getOutputs().size();
  Block &body = map.getBody().front();
  SmallVector<AffineExpr> position(maps.back().getNumDims(), builder.getAffineConstantExpr(0));
  for (auto [axis, expr] : llvm::enumerate(maps[maps.size() - outputCount + result].getResults()))
    if (auto const loopDim = dyn_cast<AffineDimExpr>(expr))
      position[loopDim.getPosition()] = dim(1 + axis);
  IRMapping known;
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    Value const value = element(map->getOperand(i), maps[i].replaceDimsAndSymbols(position, {}, 3, 0));
    if (!value)
      return {};
    known.map(argument, value);
  }
  for (Operation &op : body.without_terminator()) {
    if (op.walk([](nest::IndexOp) { return WalkResult::interrupt(); }).wasInterrupted() ||
        op.walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted() || !isOutside(&op))
      return {};
    builder.setInsertionPointToEnd(&next.front());
    builder.clone(op, known);
  }
  auto &values = done[map];
  for (Value value : body.getTerminator()->getOperands())
    values.push_back(known.lookupOrDefault(value));
  return values[result];
}

} // namespace ml2k
