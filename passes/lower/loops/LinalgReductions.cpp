//===- LinalgReductions.cpp - linalg on memrefs: reductions over all loops are parallel, others run in registers --===//
//
// linalg says of a reduction loop that its terms may be joined in any order. A reduction to a scalar becomes
// scf.parallel with scf.reduce; one over some of the loops runs inside its thread, and its value is carried instead of
// stored after each term. It starts from the value of a linalg.fill in front of it, which goes away.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

//===--- Which ones -----------------------------------------------------------------------------------------------===//

/// Every element of `output` is one position of the parallel loops.
static bool isWhole(linalg::LinalgOp op, OpOperand &output) {
  AffineMap const map = op.getMatchingIndexingMap(&output);
  return map.isProjectedPermutation() && map.getNumResults() == op.getNumParallelLoops() &&
         llvm::all_of(map.getResults(), [&](AffineExpr place) {
           auto const kind = op.getIteratorTypesArray()[cast<AffineDimExpr>(place).getPosition()];
           return kind == utils::IteratorType::parallel;
         });
}

bool isApart(linalg::LinalgOp op, OpOperand &output) {
  return isInjective(output.get()) && llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
           return &other == &output || !isa<MemRefType>(other.get().getType()) || !mayAlias(other.get(), output.get());
         });
}

static bool canCarry(linalg::LinalgOp op) {
  return op.hasPureBufferSemantics() && op.getNumReductionLoops() > 0 &&
         op.getNumLoops() == op.getNumParallelLoops() + op.getNumReductionLoops() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &o) { return isWhole(op, o) && isApart(op, o); });
}

/// The operation that joins a term to `output`, if its neutral element is known and nothing else uses the value so far.
static Operation *joinInto(linalg::LinalgOp op, OpOperand &output) {
  BlockArgument const before = op.getMatchingBlockArgument(&output);
  unsigned const place = output.getOperandNumber() - op.getNumDpsInputs();
  Operation *join = op.getBlock()->getTerminator()->getOperand(place).getDefiningOp();
  bool const isOnly = join && join->getBlock() == op.getBlock() && join->getNumOperands() == 2 && join->hasOneUse() &&
                      before.hasOneUse() && *before.getUsers().begin() == join;
  bool const losesNaN = isa_and_nonnull<arith::MaxNumFOp, arith::MinNumFOp>(join); // NaN is its neutral element
  return isOnly && !losesNaN && arith::getNeutralElement(join) ? join : nullptr;
}

static bool touches(Operation *op, Value memref) {
  return op
      ->walk([&](Operation *inner) {
        bool const names = llvm::any_of(inner->getOperands(), [&](Value operand) {
          return isa<MemRefType>(operand.getType()) && mayAlias(operand, memref);
        });
        bool const known = isa<memref::DimOp>(inner) || isPure(inner) || isa<MemoryEffectOpInterface>(inner) ||
                           inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                           inner->hasTrait<OpTrait::IsTerminator>();
        return (names && !isa<memref::DimOp>(inner)) || !known ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The number that a copied scalar has, if the one fill of its memory is all that ever writes there.
static Value onlyValueOf(memref::CopyOp copy) {
  auto made = copy.getSource().getDefiningOp<memref::AllocOp>();
  if (!made || made.getType().getRank() != 0)
    return {};
  linalg::FillOp fill;
  for (Operation *user : made->getUsers()) {
    auto other = dyn_cast<memref::CopyOp>(user);
    if (auto writer = dyn_cast<linalg::FillOp>(user); writer && !fill)
      fill = writer;
    else if (!isa<memref::LoadOp, memref::DeallocOp>(user) && !(other && other.getTarget() != made.getResult()))
      return {};
  }
  Operation *const here = fill ? fill->getBlock()->findAncestorOpInBlock(*copy) : nullptr;
  return here && fill->isBeforeInBlock(here) ? fill.getInputs()[0] : Value();
}

/// linalg.fill, the store of a scalar, or the copy of one that was filled.
static Fill asFill(Operation *op, Value memref) {
  auto copy = dyn_cast<memref::CopyOp>(op);
  if (copy && copy.getTarget() == memref)
    if (Value const value = onlyValueOf(copy))
      return {op, value};
  auto fill = dyn_cast<linalg::FillOp>(op);
  if (fill && fill.getOutputs()[0] == memref)
    return {op, fill.getInputs()[0]};
  auto store = dyn_cast<memref::StoreOp>(op);
  if (store && store.getMemref() == memref && store.getMemRefType().getRank() == 0)
    return {op, store.getValue()};
  return {};
}

Fill fillBefore(Operation *op, Value memref) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (Fill const fill = asFill(before, memref))
      return fill.value.getType() == cast<MemRefType>(memref.getType()).getElementType() ? fill : Fill();
    if (touches(before, memref))
      return {};
  }
  return {};
}

//===--- Rewriting ------------------------------------------------------------------------------------------------===//

namespace {

class Reduction {
public:
  Reduction(RewriterBase &rewriter, linalg::LinalgOp op)
      : rewriter(rewriter), op(op), location(op.getLoc()), positions(op.getNumLoops()) {
    for (OpOperand &output : op.getDpsInitsMutable()) {
      fills.push_back(fillBefore(op, output.get()));
      joins.push_back(joinInto(op, output));
    }
  }

  void lower() {
    rewriter.setInsertionPoint(op);
    ranges = op.createLoopRanges(rewriter, location);
    if (op.getNumParallelLoops() == 0 && llvm::all_of(joins, [](Operation *join) { return join; }))
      reduceInParallel(llvm::to_vector(llvm::seq(0u, op.getNumLoops())));
    else
      reduceInThreads();
    rewriter.eraseOp(op);
    for (Fill const &fill : fills)
      if (fill)
        rewriter.eraseOp(fill.op);
  }

private:
  struct Bounds {
    SmallVector<Value> lowers, uppers, steps;
  };

  Bounds boundsOf(ArrayRef<unsigned> loops) {
    Bounds bounds;
    auto const value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(rewriter, location, size); };
    for (unsigned loop : loops) {
      bounds.lowers.push_back(value(ranges[loop].offset));
      bounds.uppers.push_back(value(ranges[loop].size));
      bounds.steps.push_back(value(ranges[loop].stride));
    }
    return bounds;
  }

  /// Run-time extents are those of the result, so that kernels over one vector have one extent.
  void takeExtentsOf(OpOperand &output, ArrayRef<unsigned> loops, Bounds &bounds) {
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&output).getResults()))
      for (auto [loop, upper] : llvm::zip(loops, bounds.uppers))
        if (expr == rewriter.getAffineDimExpr(loop) && cast<MemRefType>(output.get().getType()).isDynamicDim(dim) &&
            !getConstantIntValue(upper))
          upper = rewriter.create<memref::DimOp>(location, output.get(), dim);
  }

  SmallVector<Value> indicesOf(OpOperand &operand) {
    SmallVector<Value> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      indices.push_back(affine::expandAffineExpr(rewriter, location, expr, positions, {}));
    return indices;
  }

  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    Location const named = op.getMatchingBlockArgument(&operand).getLoc();
    return rewriter.create<memref::LoadOp>(isa<NameLoc>(named) ? named : location, operand.get(), indicesOf(operand));
  }

  void store(OpOperand &output, Value value) {
    rewriter.create<memref::StoreOp>(location, value, output.get(), indicesOf(output));
  }

  /// The block at the current positions, without the operations that `skip` says.
  IRMapping body(ValueRange before, llvm::function_ref<bool(Operation *)> skip) {
    IRMapping values;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument const argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      if (!op.isDpsInit(&operand))
        values.map(argument, load(operand));
      else if (!before.empty())
        values.map(argument, before[operand.getOperandNumber() - op.getNumDpsInputs()]);
    }
    for (Operation &inner : op.getBlock()->without_terminator())
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        values.map(index.getResult(), positions[index.getDim()]);
      else if (!skip(&inner))
        allowAnyOrder(&inner, rewriter.clone(inner, values));
    return values;
  }

  /// The copy of a join says, as linalg does, that terms may be joined in any order.
  void allowAnyOrder(Operation *join, Operation *copy) {
    auto math = dyn_cast<arith::ArithFastMathInterface>(copy);
    if (!math || !llvm::is_contained(joins, join))
      return;
    auto const flags = math.getFastMathFlagsAttr().getValue() | arith::FastMathFlags::reassoc;
    copy->setAttr(math.getFastMathAttrName(), arith::FastMathFlagsAttr::get(copy->getContext(), flags));
  }

  bool goesAlongRows(unsigned loop);
  void reduceInParallel(ArrayRef<unsigned> reduced);
  void reduceInThreads();

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  Location location;
  SmallVector<Value> positions; ///< of all loops
  SmallVector<Range> ranges;
  SmallVector<Fill> fills; ///< one for each output
  SmallVector<Operation *> joins;
};

/// Whether neighbouring terms lie side by side in all inputs that the loop goes through.
bool Reduction::goesAlongRows(unsigned loop) {
  AffineExpr const along = rewriter.getAffineDimExpr(loop);
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap const map = op.getMatchingIndexingMap(input);
    bool const depends = map.isFunctionOfDim(loop);
    return !depends ||
           (map.getResults().back() == along &&
            llvm::none_of(map.getResults().drop_back(), [&](AffineExpr e) { return e.isFunctionOfDim(loop); }));
  });
}

/// The loops in `reduced` in any order, at the current positions of the others.
void Reduction::reduceInParallel(ArrayRef<unsigned> reduced) {
  SmallVector<Value> initials, terms;
  for (auto [fill, join] : llvm::zip(fills, joins))
    initials.push_back(fill ? fill.value
                            : rewriter.create<arith::ConstantOp>(location, *arith::getNeutralElement(join)));
  Bounds const bounds = boundsOf(reduced);
  auto loop = rewriter.create<scf::ParallelOp>(location, bounds.lowers, bounds.uppers, bounds.steps, initials);
  if (!loop.getBody()->empty())
    rewriter.eraseOp(loop.getBody()->getTerminator());
  for (auto [dim, position] : llvm::zip(reduced, loop.getInductionVars()))
    positions[dim] = position;
  rewriter.setInsertionPointToEnd(loop.getBody());
  IRMapping const values = body({}, [&](Operation *inner) { return llvm::is_contained(joins, inner); });
  for (auto [output, join] : llvm::zip(op.getDpsInitsMutable(), joins)) {
    bool const isFirst = join->getOperand(0) == op.getMatchingBlockArgument(&output);
    terms.push_back(values.lookupOrDefault(join->getOperand(isFirst ? 1 : 0)));
  }
  auto reduce = rewriter.create<scf::ReduceOp>(location, terms);
  for (auto [join, region] : llvm::zip(joins, reduce.getReductions())) {
    rewriter.setInsertionPointToEnd(&region.front());
    IRMapping pair;
    pair.map(join->getOperands(), region.front().getArguments());
    Operation *copy = rewriter.clone(*join, pair);
    rewriter.create<scf::ReduceReturnOp>(location, copy->getResult(0));
  }
  rewriter.setInsertionPointAfter(loop);
  for (auto [output, total, fill, join] : llvm::zip(op.getDpsInitsMutable(), loop.getResults(), fills, joins)) {
    Value value = total;
    if (!fill) {
      IRMapping pair;
      pair.map(join->getOperand(0), load(output));
      pair.map(join->getOperand(1), total);
      if (join->getOperand(0) != op.getMatchingBlockArgument(&output))
        pair.map(join->getOperands(), ValueRange{total, pair.lookup(join->getOperand(0))});
      value = rewriter.clone(*join, pair)->getResult(0);
    }
    store(output, value);
  }
}

void Reduction::reduceInThreads() {
  SmallVector<unsigned> parallel, reduced;
  op.getParallelDims(parallel);
  op.getReductionDims(reduced);
  if (!parallel.empty()) {
    Bounds bounds = boundsOf(parallel);
    takeExtentsOf(*op.getDpsInitOperand(0), parallel, bounds);
    auto loop = rewriter.create<scf::ParallelOp>(location, bounds.lowers, bounds.uppers, bounds.steps);
    for (auto [dim, position] : llvm::zip(parallel, loop.getInductionVars()))
      positions[dim] = position;
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  }
  if (reduced.size() == 1 && joins.size() == 1 && joins.front() && goesAlongRows(reduced.front()))
    return reduceInParallel(reduced);
  SmallVector<Value> initials;
  for (auto [output, fill] : llvm::zip(op.getDpsInitsMutable(), fills))
    initials.push_back(fill ? fill.value : load(output));
  Bounds const bounds = boundsOf(reduced);
  scf::LoopNest const nest =
      scf::buildLoopNest(rewriter, location, bounds.lowers, bounds.uppers, bounds.steps, initials,
                         [&](OpBuilder &inside, Location, ValueRange at, ValueRange carried) -> scf::ValueVector {
                           OpBuilder::InsertionGuard const guard(rewriter);
                           rewriter.restoreInsertionPoint(inside.saveInsertionPoint());
                           for (auto [dim, position] : llvm::zip(reduced, at))
                             positions[dim] = position;
                           IRMapping const values = body(carried, [](Operation *) { return false; });
                           return llvm::map_to_vector(op.getBlock()->getTerminator()->getOperands(),
                                                      [&](Value value) { return values.lookupOrDefault(value); });
                         });
  for (auto [output, total] : llvm::zip(op.getDpsInitsMutable(), nest.results))
    store(output, total);
}

} // namespace

void lowerReductions(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<linalg::LinalgOp> found;
  entry.walk([&](linalg::LinalgOp op) { found.push_back(op); });
  for (linalg::LinalgOp op : found)
    if (canCarry(op))
      Reduction(rewriter, op).lower();
}

} // namespace ml2k
