//===- SparseElements.cpp - what a thread of a sparse kernel does with its elements -------------------------------===//

#include "passes/lower/loops/SparseKernels.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {

//===--- Inside a thread ------------------------------------------------------------------------------------------===//

std::pair<Value, Value> SparseKernel::boundsOf(Step const &step) {
  if (!step.level)
    return {index(0), extents[step.loop]};
  SparseLevel const &level = stored.levels[*step.level];
  if (level.isDense())
    return {index(0), stored.extentOf(rewriter, location, *step.level, extents[step.loop])};
  if (run.first && *step.level == 0)
    return run;
  if (*step.level == 0)
    return {index(0), rewriter.create<memref::DimOp>(location, stored.coordinates[0], index(0))};
  Value const array = stored.positions[*step.level];
  Value const next = rewriter.create<arith::AddIOp>(location, position, index(1));
  return {StoredTensor::read(rewriter, location, array, position), StoredTensor::read(rewriter, location, array, next)};
}

bool SparseKernel::isSingle(Step const &step) const {
  return step.level && stored.levels[*step.level].format == SparseLevel::Format::Singleton;
}

/// The step is at `at`, an entry of its level or an index.
void SparseKernel::settle(Step const &step, Value at) {
  if (!step.level) {
    indices[step.loop] = at;
    return;
  }
  size_t const level = *step.level;
  bool const isDense = stored.levels[level].isDense();
  if (!isDense)
    entries[level] = at;
  if (isDense)
    coordinates[level] = at;
  else if (level != 0 || !run.first)
    coordinates[level] = named(StoredTensor::read(rewriter, location, stored.coordinates[level], at),
                               stored.indexName(stored.levels[level].dim));
  settleIndex(stored.levels[level].dim);
  advance();
}

/// The index along a dimension, once all levels that have a part in it are settled.
void SparseKernel::settleIndex(unsigned dim) {
  Value whole;
  for (auto [level, coordinate] : llvm::zip(stored.levels, coordinates)) {
    if (level.dim != dim)
      continue;
    if (!coordinate)
      return;
    Value part = coordinate;
    if (level.part == SparseLevel::Part::Quotient)
      part = rewriter.create<arith::MulIOp>(location, part, index(level.block));
    whole = whole ? Value(rewriter.create<arith::AddIOp>(location, whole, part)) : part;
  }
  for (SparseLevel const &level : stored.levels)
    if (level.dim == dim)
      indices[loopOf(level)] = whole;
}

/// Moves on through the arrays as far as levels are settled.
void SparseKernel::advance() {
  for (; reached < stored.levels.size(); ++reached) {
    if (!stored.levels[reached].isDense()) {
      if (!entries[reached])
        return;
      position = entries[reached];
      continue;
    }
    if (!coordinates[reached])
      return;
    if (position) {
      Value const extent = stored.extentOf(rewriter, location, reached, extents[loopOf(stored.levels[reached])]);
      Value const start = rewriter.create<arith::MulIOp>(location, position, extent);
      position = rewriter.create<arith::AddIOp>(location, start, coordinates[reached]);
    } else {
      position = coordinates[reached];
    }
  }
}

/// All elements of the result that this thread has.
void SparseKernel::fillSlice() {
  OpBuilder::InsertionGuard const guard(rewriter);
  SmallVector<Value> const keptIndices = indices, keptCoordinates = coordinates;
  for (Step const &step : steps) {
    if (step.isReduction)
      continue;
    Value const extent =
        step.level ? stored.extentOf(rewriter, location, *step.level, extents[step.loop]) : extents[step.loop];
    auto loop = rewriter.create<scf::ForOp>(location, index(0), extent, index(1));
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    if (!step.level) {
      indices[step.loop] = loop.getInductionVar();
      continue;
    }
    coordinates[*step.level] = loop.getInductionVar();
    settleIndex(stored.levels[*step.level].dim);
  }
  rewriter.create<memref::StoreOp>(location, join ? fill.value : zeroOfOutput(), output.get(), placeOf(output));
  indices = keptIndices;
  coordinates = keptCoordinates;
}

/// Whether the steps lead to each element of the iteration's part of the result once, and to all of them.
bool SparseKernel::writesAll() const {
  bool const isDense = llvm::all_of(
      steps, [&](Step const &step) { return step.isReduction || !step.level || stored.levels[*step.level].isDense(); });
  auto const *const firstSum = llvm::find_if(steps, [](Step const &step) { return step.isReduction; });
  return isDense && std::all_of(firstSum, steps.end(), [](Step const &step) { return step.isReduction; });
}

/// A loop over the entries of what the parallel loops have settled.
void SparseKernel::markEntries(scf::ForOp loop, Step const &step) {
  bool const isOwn = llvm::any_of(prefix, [](Step const &outer) { return outer.level == 0; });
  if (step.level && !stored.levels[*step.level].isDense() && isOwn && !hasRuns)
    loop->setAttr(sparseEntries, rewriter.getI64IntegerAttr(stored.number));
}

/// The steps from `next` on; sums run in a register behind the last step whose index the result has.
void SparseKernel::walk(size_t next) {
  OpBuilder::InsertionGuard const guard(rewriter);
  bool const isLast = llvm::all_of(llvm::drop_begin(steps, next), [](Step const &step) { return step.isReduction; });
  if (isLast) {
    Value const before = !join                        ? Value()
                         : result                     ? zeroOfOutput()
                         : fillsItself && writesAll() ? fill.value
                                                      : load(output);
    storeResult(carry(next, before));
    return;
  }
  Step const &step = steps[next];
  if (isSingle(step)) {
    settle(step, position);
    return walk(next + 1);
  }
  auto const [lower, upper] = boundsOf(step);
  auto loop = rewriter.create<scf::ForOp>(location, lower, upper, index(1));
  if (prefix.empty() && next == 0)
    loop->setAttr("nest.note", rewriter.getStringAttr(note()));
  markEntries(loop, step);
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  settle(step, nameOf(step, loop.getInductionVar()));
  walk(next + 1);
}

/// The value after the steps from `next` on, which are sums.
Value SparseKernel::carry(size_t next, Value before) {
  if (next == steps.size())
    return evaluate(before);
  Step const &step = steps[next];
  if (isSingle(step)) {
    settle(step, position);
    return carry(next + 1, before);
  }
  OpBuilder::InsertionGuard const guard(rewriter);
  auto const [lower, upper] = boundsOf(step);
  auto loop = rewriter.create<scf::ForOp>(location, lower, upper, index(1), before);
  markEntries(loop, step);
  if (!loop->hasAttr(sparseEntries))
    loop->setAttr(sumsInAnyOrder, rewriter.getUnitAttr());
  rewriter.setInsertionPointToEnd(loop.getBody());
  settle(step, nameOf(step, loop.getInductionVar()));
  Value const carried = loop.getRegionIterArg(0);
  bool const isSum = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(join);
  Value const after = carry(next + 1, isSum ? named(carried, "sum") : carried);
  rewriter.create<scf::YieldOp>(location, after);
  return loop.getResult(0);
}

//===--- Elements -------------------------------------------------------------------------------------------------===//

Value SparseKernel::index(int64_t value) { return rewriter.create<arith::ConstantIndexOp>(location, value); }

Value SparseKernel::zeroOfOutput() {
  Type const element = cast<MemRefType>(output.get().getType()).getElementType();
  return rewriter.create<arith::ConstantOp>(location, rewriter.getZeroAttr(element));
}

Value SparseKernel::add(Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return rewriter.create<arith::AddFOp>(location, a, b);
  return rewriter.create<arith::AddIOp>(location, a, b);
}

SmallVector<Value> SparseKernel::placeOf(OpOperand &operand) {
  return llvm::map_to_vector(op.getMatchingIndexingMap(&operand).getResults(), [&](AffineExpr expr) {
    return affine::expandAffineExpr(rewriter, location, expr, indices, {});
  });
}

void SparseKernel::storeResult(Value value) {
  if (result)
    rewriter.create<memref::StoreOp>(location, value, result->values, position);
  else
    rewriter.create<memref::StoreOp>(location, value, output.get(), placeOf(output));
}

Value SparseKernel::load(OpOperand &operand) {
  if (StoredTensor const *tensor = tensors.find(operand.get()))
    return tensor->number == stored.number && op.getMatchingIndexingMap(&operand) == op.getMatchingIndexingMap(&sparse)
               ? rewriter.create<memref::LoadOp>(location, tensor->values, position)
               : lookUp(operand, *tensor);
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  return rewriter.create<memref::LoadOp>(location, operand.get(), placeOf(operand));
}

/// What another sparse operand has at the indices of this entry.
Value SparseKernel::lookUp(OpOperand &operand, StoredTensor const &tensor) {
  SmallVector<Value> at, extentsOf;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    unsigned const loop = cast<AffineDimExpr>(expr).getPosition();
    at.push_back(indices[loop]);
    extentsOf.push_back(extents[loop]);
  }
  return tensor.lookUp(rewriter, location, at, extentsOf);
}

/// The operation's block here, on top of `before`; without that the term alone.
Value SparseKernel::evaluate(Value before) {
  IRMapping values;
  for (OpOperand &operand : op->getOpOperands())
    if (BlockArgument const argument = op.getMatchingBlockArgument(&operand); !argument.use_empty())
      if (&operand != &output)
        values.map(argument, load(operand));
  BlockArgument const own = op.getMatchingBlockArgument(&output);
  if (before)
    values.map(own, before);
  for (Operation &inner : op.getBlock()->without_terminator())
    if (auto place = dyn_cast<linalg::IndexOp>(inner))
      values.map(place.getResult(), indices[place.getDim()]);
    else if (before || &inner != join)
      rewriter.clone(inner, values);
  Value result = op.getBlock()->getTerminator()->getOperand(0);
  if (!before && join)
    result = join->getOperand(join->getOperand(0) == own ? 1 : 0);
  return values.lookupOrDefault(result);
}

} // namespace ml2k
