//===- ParallelizeLoops.cpp - sequential loops become parallel where that is proved -------------------------------===//
//
// scf.parallel says that its iterations are independent, scf.for says nothing: it stays sequential unless Dependence.h
// proves otherwise, and a note says why.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/TripCount.h"
#include "passes/lower/loops/AtomicUpdates.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/DistributeLoops.h"
#include "passes/lower/loops/HostLoops.h"
#include "passes/lower/loops/IndexBounds.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/OrderedUpdates.h"
#include "passes/lower/loops/RunningTotals.h"
#include "passes/lower/loops/Scans.h"
#include "passes/lower/loops/SplitPositions.h"
#include "passes/lower/loops/Sweeps.h"
#include "passes/schedule/Combiners.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/Identities.h"
#include "translator/ir/Nest.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PARALLELIZELOOPS
#include "passes/Passes.h.inc"

static void note(Operation *loop, StringRef text) {
  if (!loop->hasAttr("nest.note"))
    loop->setAttr("nest.note", StringAttr::get(loop->getContext(), text));
}

//===--- Reductions -----------------------------------------------------------------------------------------------===//

static constexpr char orderOfTerms[] = "terms of a floating-point sum keep their order";

/// The operation that joins a term to the carried value, if that is all that happens to it.
static Operation *reductionOf(scf::ForOp loop, unsigned place) {
  BlockArgument const carried = loop.getRegionIterArg(place);
  Operation *join = loop.getYieldedValues()[place].getDefiningOp();
  if (!isReorderable(join) || join->getBlock() != loop.getBody() || !join->hasOneUse() || !carried.hasOneUse() ||
      *carried.getUsers().begin() != join)
    return nullptr;
  return join;
}

static bool keepsOrderOfTotal(scf::ForOp loop, unsigned place) {
  std::optional<Total> const total = totalOf(loop, place);
  return total && keepsOrder(total->join);
}

/// "the larger of a term and the total": a term that is NaN would take the total's place.
static bool losesTotal(scf::ForOp loop, unsigned place) {
  auto select = loop.getYieldedValues()[place].getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  Value const total = loop.getRegionIterArg(place);
  return compare && llvm::is_contained(compare->getOperands(), total) &&
         (select.getTrueValue() == total || select.getFalseValue() == total) &&
         llvm::is_contained(compare->getOperands(), select.getTrueValue()) &&
         llvm::is_contained(compare->getOperands(), select.getFalseValue()) && !matchChosenExtreme(select, total);
}

/// The carried values of `loop` are all reductions that may be reordered.
static std::string reductionProblem(scf::ForOp loop) {
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (!reductionOf(loop, i)) {
      Operation *last = loop.getYieldedValues()[i].getDefiningOp();
      bool const sum = (isa_and_nonnull<arith::AddFOp, arith::MulFOp>(last) &&
                        llvm::is_contained(last->getOperands(), loop.getRegionIterArg(i))) ||
                       keepsOrderOfTotal(loop, i);
      return sum                   ? orderOfTerms
             : losesTotal(loop, i) ? "a NaN would replace the total, which min(total, term) and max(total, term) keep"
                                   : "an iteration needs a value of the one before";
    }
  return "";
}

/// Totals that the loop changes under conditions or in loops inside become what it joins to each once, where its
/// iterations are independent but for them.
static void separateTotals(RewriterBase &rewriter, scf::ForOp loop) {
  SmallVector<std::pair<unsigned, Total>> totals;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (!reductionOf(loop, i)) {
      std::optional<Total> const total = totalOf(loop, i);
      if (!total || keepsOrder(total->join) || !total->join->getResult(0).getType().isIntOrIndexOrFloat())
        return;
      totals.emplace_back(i, *total);
    }
  if (!totals.empty() && dependenceOf(loop).empty())
    for (auto [place, total] : totals)
      separateTotal(rewriter, loop, place, total);
}

//===--- Rewriting ------------------------------------------------------------------------------------------------===//

static void addReduction(RewriterBase &rewriter, scf::ReduceOp reduce, unsigned place, Operation *join) {
  Block &block = reduce.getReductions()[place].front();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&block);
  IRMapping values;
  values.map(join->getOperand(0), block.getArgument(0));
  values.map(join->getOperand(1), block.getArgument(1));
  Operation *copy = rewriter.clone(*join, values);
  rewriter.create<scf::ReduceReturnOp>(join->getLoc(), copy->getResult(0));
}

std::string whySequential(scf::ForOp loop) {
  if (std::string const reason = reductionProblem(loop); !reason.empty())
    return reason;
  std::string const dependence = dependenceOf(loop);
  return !dependence.empty() && meetInSums(loop) ? orderOfTerms : dependence;
}

/// Names of what is carried: results of one loop share their location, which is a line in Python.
static SmallVector<Attribute> namesOfCarried(Builder &builder, scf::ForOp loop) {
  bool const isLine = nameInLocation(loop.getLoc()).empty();
  SmallVector<Attribute> names;
  for (BlockArgument carried : loop.getRegionIterArgs()) {
    std::string const name = nameInLocation(carried.getLoc());
    size_t const digits = StringRef(name).find_last_not_of("0123456789"); // `least_2`, another value of `least`
    bool const isNumbered =
        isLine && digits != StringRef::npos && digits > 0 && digits + 1 < name.size() && name[digits] == '_';
    names.push_back(builder.getStringAttr(isNumbered ? StringRef(name).take_front(digits) : StringRef(name)));
  }
  return names;
}

scf::ParallelOp makeParallel(RewriterBase &rewriter, scf::ForOp loop) {
  rewriter.setInsertionPoint(loop);
  SmallVector<Attribute> const names = namesOfCarried(rewriter, loop);
  auto parallel = rewriter.create<scf::ParallelOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                                   loop.getStep(), loop.getInitArgs());
  Block *body = parallel.getBody();
  SmallVector<Operation *> joins;
  SmallVector<Value> terms;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    joins.push_back(reductionOf(loop, i));
    Operation *join = joins.back();
    terms.push_back(join->getOperand(join->getOperand(0) == loop.getRegionIterArg(i) ? 1 : 0));
  }
  if (body->mightHaveTerminator() && !body->empty())
    rewriter.eraseOp(body->getTerminator());
  Block *old = loop.getBody();
  Operation *yield = old->getTerminator();
  body->getOperations().splice(body->end(), old->getOperations());
  rewriter.replaceAllUsesWith(old->getArgument(0), body->getArgument(0));
  body->getArgument(0).setLoc(old->getArgument(0).getLoc()); // its name
  rewriter.setInsertionPointToEnd(body);
  auto reduce = rewriter.create<scf::ReduceOp>(loop.getLoc(), terms);
  for (auto [i, join] : llvm::enumerate(joins))
    addReduction(rewriter, reduce, i, join);
  rewriter.eraseOp(yield);
  for (Operation *join : joins)
    rewriter.eraseOp(join);
  parallel->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  bool const isOfMany = names.size() > 1 || nameInLocation(loop.getLoc()).empty();
  if (isOfMany && llvm::all_of(names, [](Attribute name) { return !cast<StringAttr>(name).empty(); }) && !names.empty())
    parallel->setAttr(reductionNames, rewriter.getArrayAttr(names));
  rewriter.replaceOp(loop, parallel.getResults());
  return parallel;
}

/// The operation that joins what two iterations found, if it is one and does nothing else.
static Operation *joinOf(scf::ParallelOp loop, unsigned place) {
  Block &block = cast<scf::ReduceOp>(loop.getBody()->getTerminator()).getReductions()[place].front();
  Operation &join = block.front();
  bool const isOnly = llvm::hasSingleElement(block.without_terminator()) && join.getNumOperands() == 2 &&
                      join.getNumResults() == 1 && block.getTerminator()->getOperand(0) == join.getResult(0) &&
                      llvm::is_contained(join.getOperands(), block.getArgument(0)) &&
                      llvm::is_contained(join.getOperands(), block.getArgument(1));
  return isOnly ? &join : nullptr;
}

/// Whether all that `outer` does is to join the results of `inner`, which begin with the neutral elements `inits`.
static bool joinsResults(scf::ParallelOp outer, Operation *inner, ValueRange inits) {
  Operation *reduce = outer.getBody()->getTerminator();
  if (!llvm::equal(reduce->getOperands(), inner->getResults()))
    return false;
  for (auto [place, init] : llvm::enumerate(inits)) {
    Operation *join = joinOf(outer, place);
    std::optional<nest::Combiner> const combiner = join ? combinerOf(join) : std::nullopt;
    if (!combiner || !isIdentity(*combiner, init))
      return false;
  }
  return true;
}

static bool haveSameJoins(scf::ParallelOp a, scf::ParallelOp b) {
  for (unsigned i = 0; i < a.getNumResults(); ++i)
    if (!joinOf(a, i) || !joinOf(b, i) || joinOf(a, i)->getName() != joinOf(b, i)->getName())
      return false;
  return true;
}

/// `parallel i { parallel j { ... } }` to `parallel i, j`. Returns the merged loop.
static scf::ParallelOp merge(RewriterBase &rewriter, scf::ParallelOp outer) {
  auto inner = dyn_cast<scf::ParallelOp>(outer.getBody()->front());
  auto const outside = [&](Value value) { return !outer->isAncestor(value.getParentRegion()->getParentOp()); };
  if (!inner || !llvm::hasSingleElement(outer.getBody()->without_terminator()) ||
      !joinsResults(outer, inner, inner.getInitVals()) || !haveSameJoins(outer, inner) ||
      !llvm::all_of(inner->getOperands(), outside))
    return outer;
  auto const joined = [](ValueRange a, ValueRange b) {
    SmallVector<Value> all(a);
    llvm::append_range(all, b);
    return all;
  };
  rewriter.setInsertionPoint(outer);
  auto merged = rewriter.create<scf::ParallelOp>(outer.getLoc(), joined(outer.getLowerBound(), inner.getLowerBound()),
                                                 joined(outer.getUpperBound(), inner.getUpperBound()),
                                                 joined(outer.getStep(), inner.getStep()), outer.getInitVals());
  rewriter.eraseOp(outer.getBody()->getTerminator());
  if (!merged.getBody()->empty())
    rewriter.eraseOp(merged.getBody()->getTerminator());
  for (auto [argument, place] : llvm::zip(merged.getBody()->getArguments(),
                                          joined(outer.getBody()->getArguments(), inner.getBody()->getArguments())))
    argument.setLoc(place.getLoc());
  rewriter.mergeBlocks(inner.getBody(), merged.getBody(),
                       merged.getBody()->getArguments().take_back(inner.getNumLoops()));
  rewriter.replaceAllUsesWith(outer.getBody()->getArguments(),
                              merged.getBody()->getArguments().take_front(outer.getNumLoops()));
  merged->setDiscardableAttrs(outer->getDiscardableAttrDictionary());
  rewriter.replaceOp(outer, merged.getResults());
  return merge(rewriter, merged);
}

/// An argument, a size of one, a constant, or what is computed of them: the host knows it.
static bool isSize(Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (depth == 0 || !value.getType().isIndex())
    return false;
  if (!op)
    return isa<func::FuncOp>(value.getParentBlock()->getParentOp());
  if (isa<arith::IndexCastOp>(op)) { // a number of the caller's, or one that a loop of the host carries
    auto const argument = dyn_cast<BlockArgument>(op->getOperand(0));
    Operation *const owner = argument ? argument.getOwner()->getParentOp() : nullptr;
    if (auto loop = dyn_cast_or_null<scf::ForOp>(owner))
      return argument != loop.getInductionVar() && placesOnHost(loop)[argument.getArgNumber() - 1];
    auto decided = dyn_cast_or_null<scf::WhileOp>(owner);
    return isa_and_nonnull<func::FuncOp>(owner) || (decided && isDecidedOnHost(decided));
  }
  return isa<arith::ConstantOp, memref::DimOp>(op) ||
         ((isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || (isHostArithmetic(op) && isSpeculatable(op))) &&
          llvm::all_of(op->getOperands(), [&](Value operand) { return isSize(operand, depth - 1); }));
}

/// Bounds of an inner loop that are computed between the two are computed in front of all loops.
static void hoistBounds(scf::ParallelOp loop) {
  Operation *outermost = loop;
  while (isa<scf::ParallelOp>(outermost->getParentOp()))
    outermost = outermost->getParentOp();
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator()))
    if (op.getNumResults() == 1 && isSize(op.getResult(0)) && llvm::all_of(op.getOperands(), [&](Value operand) {
          return !outermost->isAncestor(operand.getParentBlock()->getParentOp());
        }))
      op.moveBefore(outermost);
}

/// A few iterations, which one thread makes as fast as several find their places.
static bool isShort(scf::ForOp loop) {
  constexpr int64_t few = 16;
  std::optional<int64_t> const trips = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  return trips && *trips <= few;
}

/// Arithmetic on integers between two loops goes into the inner one, where nothing else stands there: the nest is
/// perfect then.
static void sinkIndices(scf::ParallelOp outer) {
  SmallVector<Operation *> indices;
  scf::ForOp inner;
  for (Operation &op : outer.getBody()->without_terminator()) {
    bool const isIndex = isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
                         llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
    if (isIndex && !inner)
      indices.push_back(&op);
    else if (auto loop = dyn_cast<scf::ForOp>(op); loop && !inner)
      inner = loop;
    else
      return;
  }
  auto const isOutside = [&](Value value) { return value.getParentBlock() != outer.getBody(); };
  if (inner && inner.getNumResults() == 0 && !isShort(inner) && meetInAtomics(inner) &&
      llvm::all_of(inner->getOperands(), isOutside))
    for (Operation *op : llvm::reverse(indices))
      op->moveBefore(&inner.getBody()->front());
}

namespace {
struct ParallelizeLoops : impl::ParallelizeLoopsBase<ParallelizeLoops> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    shareBranchLoads(getOperation());
    computeBoundsInIndices(getOperation());
    visit(rewriter, getOperation().getBody().front());
    SmallVector<scf::ParallelOp> outermost;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ParallelOp loop : outermost)
      merge(rewriter, loop);
  }

  /// Outer loops first: one parallel level is enough, unless loops are perfectly nested.
  void visit(RewriterBase &rewriter, Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        visitLoop(rewriter, loop);
      else if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
        markRowScan(loop);
        visitSweep(rewriter, loop);
      } else if (isa<scf::IfOp, scf::WhileOp, scf::ExecuteRegionOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            visit(rewriter, inner);
    }
  }

  /// A running sum of each row, which is all that a parallel loop of the source does.
  static void markRowScan(scf::ParallelOp loop) {
    auto inner = dyn_cast<scf::ForOp>(loop.getBody()->front());
    if (inner && loop.getNumResults() == 0 && llvm::hasSingleElement(loop.getBody()->without_terminator()) &&
        isRowScan(inner))
      inner->setAttr(scanLoop, UnitAttr::get(loop.getContext()));
  }

  /// Every other position of the rows of a parallel loop.
  void visitSweep(RewriterBase &rewriter, scf::ParallelOp rows) {
    scf::ForOp const sweep = getOperation()->hasAttr("nest.naive") ? scf::ForOp() : sweepIn(rows);
    if (sweep && whySequential(sweep).empty())
      goOverAll(makeParallel(rewriter, sweep));
  }

  /// Steps of a network, such as those of a recurrent layer: each is parallel in itself.
  static bool hasLayers(scf::ForOp loop) {
    return loop
        .walk([](DestinationStyleOpInterface op) {
          return isa<nest::NestDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void visitLoop(RewriterBase &rewriter, scf::ForOp loop) {
    if (hasLayers(loop))
      return;
    loop = carryUpdates(rewriter, loop);
    if (formUpdates(rewriter, loop))
      return;
    if (!isShort(loop))
      if (SmallVector<scf::ForOp> const places = splitPositions(rewriter, loop); !places.empty()) {
        for (scf::ForOp part : places)
          visitLoop(rewriter, part);
        return;
      }
    separateTotals(rewriter, loop);
    std::string const reason = whySequential(loop);
    if (!reason.empty() && loop.getNumResults() == 0 && meetInUpdates(loop)) {
      note(loop, "parallel: iterations meet in atomic updates only");
      return visitPerfect(rewriter, makeParallel(rewriter, loop));
    }
    if (!reason.empty() && isScan(loop)) {
      note(loop, "parallel: iterations share a running sum only");
      return loop->setAttr(scanLoop, rewriter.getUnitAttr());
    }
    SmallVector<scf::ForOp> const parts = reason.empty() ? SmallVector<scf::ForOp>() : distribute(rewriter, loop);
    for (scf::ForOp part : parts)
      visitLoop(rewriter, part);
    if (!parts.empty())
      return;
    if (!reason.empty()) {
      note(loop, "sequential: " + reason);
      return visit(rewriter, *loop.getBody());
    }
    note(loop, "parallel: no iteration touches what another one writes");
    scf::ParallelOp const parallel = makeParallel(rewriter, loop);
    visitPerfect(rewriter, parallel);
  }

  void visitPerfect(RewriterBase &rewriter, scf::ParallelOp outer) {
    hoistBounds(outer);
    sinkIndices(outer);
    visitSweep(rewriter, outer);
    auto inner = dyn_cast<scf::ForOp>(outer.getBody()->front());
    if (!inner || !llvm::hasSingleElement(outer.getBody()->without_terminator()))
      return;
    if (isRowScan(inner))
      inner->setAttr(scanLoop, rewriter.getUnitAttr());
    if (inner.getNumResults())
      return visitTotals(rewriter, outer, inner);
    if (!meetInAtomics(inner) || (nest::hasAtomicUpdates(inner) && isShort(inner)))
      return;
    visitPerfect(rewriter, makeParallel(rewriter, inner));
  }

  /// Sums of the sums of rows: one reduction of both loops, where the rows have one length.
  void visitTotals(RewriterBase &rewriter, scf::ParallelOp outer, scf::ForOp inner) {
    auto const isOutside = [&](Value value) { return !outer->isAncestor(value.getParentRegion()->getParentOp()); };
    if (!joinsResults(outer, inner, inner.getInitArgs()) || !llvm::all_of(inner->getOperands(), isOutside))
      return;
    separateTotals(rewriter, inner);
    for (unsigned i = 0; i < inner.getNumResults(); ++i)
      if (Operation *join = reductionOf(inner, i); !join || join->getName() != joinOf(outer, i)->getName())
        return;
    if (dependenceOf(inner).empty())
      visitPerfect(rewriter, makeParallel(rewriter, inner));
  }
};
} // namespace
} // namespace ml2k
