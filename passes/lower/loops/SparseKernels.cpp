//===- SparseKernels.cpp - linalg on sparse tensors: loops over the stored elements -------------------------------===//
//
// Which loops are parallel follows from how a tensor is stored, and no two iterations of those write the same element:
//   - dense levels of indices that the result has: each iteration has its own index;
//   - a first level of coordinates that are all different, or the runs of equal ones, of such an index;
//   - where the result has one element, the first level, whose sums are joined.
// Where the first level is summed over, its iterations add to elements that others add to: such loops are `ordered`.
// Sums over what is left run in a register wherever their element of the result is not met again.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/SparseKernels.h"

#include "passes/lower/loops/Dependence.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace ml2k {

SparseKernel::SparseKernel(RewriterBase &rewriter, linalg::LinalgOp op, OpOperand &sparse, StoredTensors const &tensors)
    : rewriter(rewriter), op(op), location(op.getLoc()), sparse(sparse), output(*op.getDpsInitOperand(0)),
      tensors(tensors), stored(*tensors.find(sparse.get())), result(tensors.find(output.get())),
      fill(fillBefore(op, output.get())), extents(op.getNumLoops()), indices(op.getNumLoops()),
      coordinates(stored.levels.size()), entries(stored.levels.size()) {
  BlockArgument const before = op.getMatchingBlockArgument(&output);
  join = before.use_empty() ? nullptr : *before.getUsers().begin();
}

//===--- Which loops are parallel ---------------------------------------------------------------------------------===//

unsigned SparseKernel::loopOf(SparseLevel const &level) {
  return cast<AffineDimExpr>(op.getMatchingIndexingMap(&sparse).getResult(level.dim)).getPosition();
}

/// Dense levels can be moved outward: their coordinates depend on nothing.
void SparseKernel::planSteps() {
  SmallVector<utils::IteratorType> const kinds = op.getIteratorTypesArray();
  auto const isReduction = [&](unsigned loop) { return kinds[loop] == utils::IteratorType::reduction; };
  llvm::SmallBitVector walked(op.getNumLoops());
  for (auto [i, level] : llvm::enumerate(stored.levels)) {
    unsigned const loop = loopOf(level);
    walked.set(loop);
    bool const isParallel = !isReduction(loop) && (level.isDense() || i == 0);
    (isParallel ? prefix : steps).push_back({i, loop, isReduction(loop)});
  }
  bool const isFree = prefix.empty(); // no index of the tensor is: perhaps one that it has not
  for (bool const reduced : {false, true})
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (!walked[loop] && isReduction(loop) == reduced)
        (isFree && !reduced ? prefix : steps).push_back({std::nullopt, loop, reduced});
  // A row's sums for one column after the other are in registers
  if (stored.isByRows() && steps.size() == 2 && steps[0].level && steps[0].isReduction && !steps[1].level &&
      !steps[1].isReduction)
    std::swap(steps[0], steps[1]);
  // Entries that add to the same elements belong to one iteration
  hasRuns = !prefix.empty() && prefix.front().level == 0 && stored.levels[0].format == SparseLevel::Format::Repeated &&
            llvm::any_of(steps, [](Step const &step) { return step.level && step.isReduction; });
  if (hasRuns)
    steps.insert(steps.begin(), {0, prefix.front().loop, true});
  fillsItself =
      (fill || !join) && isApart(op, output) && !prefix.empty() &&
      llvm::all_of(prefix, [&](Step const &step) { return !step.level || stored.levels[*step.level].isDense(); });
}

/// From dense operands, results first, so that kernels over one vector have one extent.
LogicalResult SparseKernel::findExtents() {
  SmallVector<int64_t> const ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!ShapedType::isDynamic(ranges[loop]))
      extents[loop] = index(ranges[loop]);
    for (OpOperand &operand : llvm::reverse(op->getOpOperands()))
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (!tensors.find(operand.get()) && !extents[loop] && expr == rewriter.getAffineDimExpr(loop))
          extents[loop] = rewriter.create<memref::DimOp>(location, operand.get(), index(dim));
  }
  for (SparseLevel const &level : stored.levels) {
    Value &extent = extents[loopOf(level)];
    if (!extent)
      extent = tensors.extentOf(rewriter, location, stored, level.dim);
    if (!extent && level.isDense() && level.part != SparseLevel::Part::Remainder)
      return op.emitError() << "extent " << level.dim << " of '" << stored.name()
                            << "' is not known; give it with --dim " << stored.name() << "." << level.dim << "=N";
  }
  return success();
}

std::string SparseKernel::note() {
  if (op.getNumParallelLoops() == 0)
    return "parallel: sums of parts of " + stored.name() + " are joined";
  if (prefix.empty())
    return "sequential: iterations may add to the same element of " + memrefName(output.get());
  if (hasRuns)
    return "parallel: the first of the entries of a row of " + stored.name() + " has all of them";
  if (prefix.front().level == 0 && !stored.levels[0].isDense())
    return "parallel: no coordinates of " + stored.name() + " are there twice";
  return "parallel: an iteration has its own elements of " + memrefName(output.get());
}

LogicalResult SparseKernel::lower() {
  planSteps();
  rewriter.setInsertionPoint(op);
  if (failed(findExtents()))
    return failure();
  bool const keepsInPlace = op.getNumReductionLoops() == 0 && join; // each element is read and written once
  if (!keepsInPlace && !isApart(op, output))
    return op.emitError("the result of a sparse operation lies where an operand does, which is not supported");
  if (!join && !fillsItself && !result)
    rewriter.create<linalg::FillOp>(location, zeroOfOutput(), output.get());
  if (op.getNumParallelLoops() == 0)
    lowerTotal();
  else if (!prefix.empty())
    lowerParallel();
  else if (!steps.back().isReduction)
    lowerUpdates();
  else
    walk(0);
  rewriter.eraseOp(op);
  if (fill && (fillsItself || !join || usesFill))
    rewriter.eraseOp(fill.op);
  return success();
}

//===--- The parallel loops ---------------------------------------------------------------------------------------===//

/// An empty loop over the steps; the builder stands in it.
scf::ParallelOp SparseKernel::openParallel(ArrayRef<Step> over, ValueRange initials) {
  SmallVector<Value> lowers, uppers;
  for (Step const &step : over) {
    auto const [lower, upper] = boundsOf(step);
    lowers.push_back(lower);
    uppers.push_back(upper);
  }
  SmallVector<Value> const ones(over.size(), index(1));
  auto loop = rewriter.create<scf::ParallelOp>(location, lowers, uppers, ones, initials);
  loop->setAttr("nest.note", rewriter.getStringAttr(note()));
  if (initials.empty())
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  else
    rewriter.setInsertionPointToEnd(loop.getBody());
  return loop;
}

void SparseKernel::lowerParallel() {
  OpBuilder::InsertionGuard const guard(rewriter);
  scf::ParallelOp loop = openParallel(prefix, {});
  if (hasRuns)
    enterRun(loop.getInductionVars().front());
  else
    for (auto [step, at] : llvm::zip(prefix, loop.getInductionVars()))
      settle(step, nameOf(step, at));
  if (fillsItself && !writesAll() && !result)
    fillSlice();
  walk(0);
}

/// The first entry of equal coordinates finds the last; the builder stands where it is known to be the first.
void SparseKernel::enterRun(Value first) {
  Value const array = stored.coordinates[0], row = StoredTensor::read(rewriter, location, array, first);
  named(first, "entry");
  named(row, stored.indexName(stored.levels[0].dim));
  auto const compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return rewriter.create<arith::CmpIOp>(location, predicate, a, b);
  };
  auto const choose = [&](Value condition, bool otherwise, bool isThen, llvm::function_ref<Value()> value) -> Value {
    auto branch = rewriter.create<scf::IfOp>(location, rewriter.getI1Type(), condition, /*withElse=*/true);
    OpBuilder::InsertionGuard const guard(rewriter);
    rewriter.setInsertionPointToStart(isThen ? branch.thenBlock() : branch.elseBlock());
    rewriter.create<scf::YieldOp>(location, value());
    rewriter.setInsertionPointToStart(isThen ? branch.elseBlock() : branch.thenBlock());
    Value const constant = rewriter.create<arith::ConstantOp>(location, rewriter.getBoolAttr(otherwise));
    rewriter.create<scf::YieldOp>(location, constant);
    return branch.getResult(0);
  };
  Value const count = boundsOf(prefix.front()).second;
  Value const isFirst = choose(compare(arith::CmpIPredicate::eq, first, index(0)), true, false, [&] {
    Value const before = rewriter.create<arith::SubIOp>(location, first, index(1));
    return compare(arith::CmpIPredicate::ne, StoredTensor::read(rewriter, location, array, before), row);
  });
  named(isFirst, "first");
  auto only = rewriter.create<scf::IfOp>(location, isFirst);
  rewriter.setInsertionPoint(only.thenBlock()->getTerminator());
  Value const next = rewriter.create<arith::AddIOp>(location, first, index(1));
  auto search = rewriter.create<scf::WhileOp>(
      location, rewriter.getIndexType(), next,
      [&](OpBuilder &, Location, ValueRange at) {
        Value more = choose(compare(arith::CmpIPredicate::slt, at[0], count), false, true, [&] {
          return compare(arith::CmpIPredicate::eq, StoredTensor::read(rewriter, location, array, at[0]), row);
        });
        rewriter.create<scf::ConditionOp>(location, more, at);
      },
      [&](OpBuilder &, Location, ValueRange at) {
        Value const following = rewriter.create<arith::AddIOp>(location, at[0], index(1));
        rewriter.create<scf::YieldOp>(location, following);
      });
  run = {first, named(search.getResult(0), "end")};
  named(search.getBeforeArguments()[0], "next");
  coordinates[0] = row;
  settleIndex(stored.levels[0].dim);
}

/// Rows that add to elements by their columns: hosts keep the order, devices add atomically.
void SparseKernel::lowerUpdates() {
  OpBuilder::InsertionGuard const guard(rewriter);
  scf::ParallelOp loop = openParallel(steps.front(), {});
  loop->setAttr("nest.note", rewriter.getStringAttr("an element may change more than once"));
  loop->setAttr("nest.ordered", rewriter.getDenseBoolArrayAttr(true));
  settle(steps.front(), nameOf(steps.front(), loop.getInductionVars().front()));
  walk(1);
}

/// The index of a loop over a step is called after what it counts.
Value SparseKernel::nameOf(Step const &step, Value at) {
  if (!step.level || stored.levels[*step.level].part != SparseLevel::Part::Whole)
    return at;
  SparseLevel const &level = stored.levels[*step.level];
  return named(at, level.isDense() ? stored.indexName(level.dim) : "entry");
}

/// One element: each iteration of the first step has a sum.
void SparseKernel::lowerTotal() {
  OpBuilder::InsertionGuard const guard(rewriter);
  Value const zero = zeroOfOutput();
  usesFill = bool(fill);
  scf::ParallelOp loop = openParallel(steps.front(), fill ? fill.value : zero);
  settle(steps.front(), nameOf(steps.front(), loop.getInductionVars().front()));
  Value const term = steps.size() == 1 ? evaluate({}) : carry(1, zero);
  auto reduce = rewriter.create<scf::ReduceOp>(location, term);
  Block &joined = reduce.getReductions().front().front();
  rewriter.setInsertionPointToEnd(&joined);
  rewriter.create<scf::ReduceReturnOp>(location, add(joined.getArgument(0), joined.getArgument(1)));
  rewriter.setInsertionPointAfter(loop);
  Value const total = loop.getResult(0);
  rewriter.create<memref::StoreOp>(location, fill ? total : add(load(output), total), output.get(), placeOf(output));
}

//===--- All of an entry ------------------------------------------------------------------------------------------===//

namespace {

/// The extent of a stand-in: of a dense argument that it has to be equal to, or as its arrays have it.
Value extentOf(OpBuilder &builder, memref::DimOp size, StoredTensor const &stored, StoredTensors const &tensors) {
  Location const location = size.getLoc();
  unsigned const dim = *size.getConstantIndex();
  for (OpOperand &use : stored.standIn.getUses()) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    for (OpOperand &other : op ? op->getOpOperands() : MutableArrayRef<OpOperand>())
      for (auto [place, expr] : llvm::enumerate(op.getMatchingIndexingMap(&other).getResults()))
        if (&other != &use && isa<BlockArgument>(other.get()) && !tensors.find(other.get()) &&
            isa<func::FuncOp>(other.get().getParentRegion()->getParentOp()) &&
            expr == op.getMatchingIndexingMap(&use).getResult(dim))
          return builder.create<memref::DimOp>(location, other.get(),
                                               builder.create<arith::ConstantIndexOp>(location, place));
  }
  return tensors.extentOf(builder, location, stored, dim);
}

LogicalResult lowerSizes(RewriterBase &rewriter, StoredTensor const &stored, StoredTensors const &tensors) {
  for (Operation *user : llvm::make_early_inc_range(stored.standIn.getUsers())) {
    auto size = dyn_cast<memref::DimOp>(user);
    if (!size) {
      if (!isa<linalg::LinalgOp>(user))
        return user->emitError("sparse tensors can be read by linalg operations only");
      continue;
    }
    rewriter.setInsertionPoint(size);
    Value const extent = extentOf(rewriter, size, stored, tensors);
    if (!extent)
      return size.emitError() << "extent " << *size.getConstantIndex() << " of '" << stored.name()
                              << "' is not known; give it with --dim " << stored.name() << "."
                              << *size.getConstantIndex() << "=N";
    rewriter.replaceOp(size, extent);
  }
  return success();
}

/// The sparse operand over whose entries an operation runs.
OpOperand *walkedOperand(linalg::LinalgOp op, StoredTensors const &tensors) {
  auto const chosen = op->getAttrOfType<IntegerAttr>(walkedTensor);
  for (OpOperand *input : op.getDpsInputOperands())
    if (StoredTensor const *tensor = tensors.find(input->get()))
      if (!chosen || chosen.getInt() == tensor->number)
        return input;
  return nullptr;
}

LogicalResult lowerOperation(RewriterBase &rewriter, linalg::LinalgOp op, StoredTensors &tensors) {
  if (StoredTensor const *result = tensors.find(op.getDpsInits()[0]); result && result->assembly)
    return lowerAssembly(rewriter, op, tensors);
  OpOperand *const walked = walkedOperand(op, tensors);
  return walked ? SparseKernel(rewriter, op, *walked, tensors).lower() : success();
}

/// A result with the entries of an operand has as many values: forward() compares extents of one name.
void shareExtents(func::FuncOp entry, StoredTensors const &tensors) {
  Builder builder(entry.getContext());
  DenseMap<int64_t, BlockArgument> first; // values of a tensor that others share the entries of
  for (StoredTensor const &tensor : tensors.all()) {
    auto const values = dyn_cast<BlockArgument>(tensor.values);
    if (!values)
      continue;
    BlockArgument const named = first.try_emplace(tensor.number, values).first->second;
    if (named == values)
      continue;
    ArrayAttr const extent = builder.getStrArrayAttr({memrefName(named) + "_size"});
    for (BlockArgument argument : {named, values})
      entry.setArgAttr(argument.getArgNumber(), "nest.dims", extent);
  }
}

} // namespace

LogicalResult lowerSparse(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  StoredTensors tensors(entry);
  for (StoredTensor const &tensor : tensors.all())
    if (failed(lowerSizes(rewriter, tensor, tensors)))
      return failure();
  SmallVector<linalg::LinalgOp> operations; // in the order of the program
  entry.walk([&](linalg::LinalgOp op) { operations.push_back(op); });
  for (linalg::LinalgOp op : operations)
    if (!isa<linalg::FillOp>(op) && failed(lowerOperation(rewriter, op, tensors)))
      return failure();
  shareExtents(entry, tensors);
  for (unsigned place = entry.getNumArguments(); place-- > 0;)
    if (entry.getArgAttr(place, sparseEncoding))
      entry.eraseArgument(place);
  for (unsigned place = 0; place < entry.getNumArguments(); ++place)
    entry.removeArgAttr(place, sparseTensor);
  return success();
}

} // namespace ml2k
