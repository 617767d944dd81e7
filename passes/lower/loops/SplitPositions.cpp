//===- SplitPositions.cpp - where a loop found its largest or smallest term ---------------------------------------===//
//
// `if x[i] < low: low = x[i]; at = i`: an iteration needs what the one before found. The smallest term does not, and
// where it is known, its first place is the smallest i that has it; the last one, where `<=` takes equal terms. What is
// remembered besides is computed of that place. A grid has one number for both indices. Terms of one loop that a
// compiler may compute in two ways, by fused additions or in vector registers, are stored, so that the place has the
// very term.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/SplitPositions.h"

#include "passes/lower/loops/CarriedChoices.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/RunningTotals.h"
#include "translator/ir/Identities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Whether the host, or the bounds of another loop, depend on a value: one kernel finds it and goes on with it, then.
bool decidesElsewhere(Value found) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work = {found};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<memref::LoadOp, memref::StoreOp, func::ReturnOp, scf::ReduceOp>(user))
        continue;
      bool const isYield = isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp());
      Operation *const op = isYield ? user->getParentOp() : user;
      if (!isMemoryEffectFree(op) || (op->getNumRegions() > 0 && !isa<scf::IfOp>(op)))
        return true;
      if (seen.insert(op).second)
        llvm::append_range(work, op->getResults());
    }
  return false;
}

/// Whether a bound needs no memory and nothing that a loop finds: the host knows it.
bool isBoundOfHost(Value bound, unsigned depth = 8) {
  if (auto argument = dyn_cast<BlockArgument>(bound)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return isa<func::FuncOp>(argument.getOwner()->getParentOp()) || (loop && argument == loop.getInductionVar());
  }
  Operation *const op = bound.getDefiningOp();
  return depth > 0 && op->getNumRegions() == 0 && (isa<memref::DimOp>(op) || isPure(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isa<MemRefType>(operand.getType()) || isBoundOfHost(operand, depth - 1);
         });
}

bool isNotNegative(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && isNotNegative(loop.getLowerBound());
  }
  std::optional<int64_t> const constant = getConstantIntValue(index);
  auto sum = index.getDefiningOp<arith::AddIOp>();
  return (constant && *constant >= 0) || (sum && isNotNegative(sum.getLhs()) && isNotNegative(sum.getRhs()));
}

bool readsAtMost(scf::ForOp loop) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> const effects = getEffectsRecursively(loop);
  return effects && llvm::all_of(*effects, [](MemoryEffects::EffectInstance const &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

/// The loop inside, if it is all that the outer one has, over a rectangle, and goes on with what that carries; else
/// null.
scf::ForOp innerOf(scf::ForOp outer) {
  auto inner = dyn_cast<scf::ForOp>(outer.getBody()->front());
  auto const isOutside = [&](Value bound) { return !outer->isAncestor(bound.getParentRegion()->getParentOp()); };
  bool const isGrid = inner && llvm::hasSingleElement(outer.getBody()->without_terminator()) &&
                      llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
                      llvm::equal(outer.getYieldedValues(), inner.getResults()) && isOutside(inner.getLowerBound()) &&
                      isOutside(inner.getUpperBound()) && isOutside(inner.getStep()) &&
                      isNotNegative(inner.getLowerBound()) && isNotNegative(outer.getLowerBound());
  return isGrid ? inner : scf::ForOp();
}

/// A loop, or two that are one grid.
struct Grid {
  scf::ForOp outer, inner;
};

class Splitter {
public:
  Splitter(RewriterBase &rewriter, scf::ForOp outer)
      : rewriter(rewriter), outer(outer), loop(innerOf(outer) ? innerOf(outer) : outer) {}

  /// Splits the first extreme; the loop for it may have more.
  SmallVector<scf::ForOp> run() {
    llvm::SmallDenseSet<Value> known;
    std::optional<BlockArgument> chosen;
    for (BlockArgument candidate : loop.getRegionIterArgs())
      if (find(candidate)) {
        known.insert(candidate);
        known.insert(positions.begin(), positions.end());
        chosen = chosen.value_or(candidate);
      }
    auto const isOfHost = [](Value bound) { return isBoundOfHost(bound); };
    if (!chosen || !llvm::all_of(outer->getOperands().take_front(2), isOfHost) ||
        !llvm::all_of(loop->getOperands().take_front(2), isOfHost) || !couldBeParallel(known))
      return {};
    for (BlockArgument carried : loop.getRegionIterArgs())
      if (known.contains(carried) && decidesElsewhere(outer->getResult(placeIn(carried))))
        return {};
    // What a loop around carries on would be a kernel for each of its iterations
    auto const carriedOn = dyn_cast<BlockArgument>(startOf(*chosen));
    if (carriedOn && isa<scf::ForOp, scf::WhileOp>(carriedOn.getOwner()->getParentOp()))
      return {};
    return find(*chosen) && makesTerms() ? split() : SmallVector<scf::ForOp>();
  }

private:
  static unsigned placeIn(BlockArgument carried) { return carried.getArgNumber() - 1; }
  OpOperand &yieldedFor(BlockArgument carried) {
    return loop.getBody()->getTerminator()->getOpOperand(placeIn(carried));
  }
  Value startOf(BlockArgument carried) { return outer.getInitArgs()[placeIn(carried)]; }
  bool isGrid() { return outer != loop; }

  /// Places that are remembered where `candidate` changes.
  bool find(BlockArgument candidate) {
    best = candidate;
    positions.clear();
    comparison.reset();
    Choice const own = choiceOf(yieldedFor(best), best);
    for (BlockArgument carried : loop.getRegionIterArgs())
      if (carried != best && carried.getType().isIntOrIndex() && isPosition(carried, own))
        positions.push_back(carried);
    auto const isWide = [&](BlockArgument position) { // every index is one of its numbers
      Type const type = position.getType();
      return isGrid() ? type.isInteger(64) : type.isIndex() || type.getIntOrFloatBitWidth() >= 32;
    };
    auto const widest = llvm::find_if(positions, isWide);
    if (widest == positions.end())
      return false;
    std::swap(*widest, positions.front());
    // Of the extreme, nothing but its own choice and that of the positions
    return llvm::all_of(best.getUsers(), [&](Operation *user) {
      return user == comparison->op || isa<arith::SelectOp, scf::YieldOp>(user) || joinsTerm(user, best, *comparison);
    });
  }

  bool isPosition(BlockArgument carried, Choice const &ofBest) {
    Choice choice = choiceOf(yieldedFor(carried), carried);
    std::optional<Comparison> found;
    for (auto [condition, holds] : choice.path)
      if (std::optional<Comparison> const one = comparisonOf(condition, best); one && holds)
        found = found ? std::nullopt : one;
    if (!found || !llvm::hasNItems(carried.getUses(), choice.depth) ||
        (comparison && comparison->op != found->op && !positions.empty()))
      return false;
    SmallVector<std::pair<Value, bool>> path = ofBest.path;
    Value const taken = ofBest.leaf->get();
    if (Operation *const join = taken.getDefiningOp(); join && joinsTerm(join, best, *found))
      path.emplace_back(found->op->getResult(0), true);
    else if (!isComputedAlike(taken, found->term))
      return false;
    if (path.size() != choice.path.size() || !std::is_permutation(path.begin(), path.end(), choice.path.begin()))
      return false;
    if (!isRecomputable(choice.leaf->get()))
      return false;
    comparison = found;
    return true;
  }

  /// Of the indices alone, and of memory.
  bool isRecomputable(Value value, unsigned depth = 8) {
    if (value == loop.getInductionVar() || value == outer.getInductionVar() ||
        !outer->isAncestor(value.getParentRegion()->getParentOp()))
      return true;
    Operation *const op = value.getDefiningOp();
    return depth > 0 && op && op->getNumRegions() == 0 && (isa<memref::LoadOp>(op) || isPure(op)) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isRecomputable(operand, depth - 1); });
  }

  /// Whether the loop is parallel but for extremes and their positions.
  bool couldBeParallel(llvm::SmallDenseSet<Value> const &known) {
    return readsAtMost(outer) && dependenceOf(outer).empty() &&
           llvm::all_of(loop.getRegionIterArgs(), [&](BlockArgument carried) {
             std::optional<Total> const total =
                 known.contains(carried) ? std::nullopt : totalOf(outer, placeIn(carried));
             return known.contains(carried) || (total && !keepsOrder(total->join));
           });
  }

  /// An array for terms that have to be stored; false where there can be none.
  bool makesTerms() {
    Value term = comparison->term;
    for (auto [condition, holds] : choiceOf(yieldedFor(positions.front()), positions.front()).path)
      if (condition != comparison->op->getResult(0) && !isComputedOneWay(condition, outer))
        return false;
    if (isComputedOneWay(term, outer))
      return true;
    if (!isGrid() && term.getParentBlock() == loop.getBody() && isNotNegative(loop.getLowerBound()))
      terms = makeArray(loop->getParentOfType<func::FuncOp>(), term.getType(), loop.getUpperBound(),
                        nameInLocation(best.getLoc()) + "_terms");
    return bool(terms);
  }

  /// The loop, or both, with other things to carry; empty.
  Grid makeGrid(Location location, ValueRange inits, IRMapping &values) {
    Grid made;
    made.outer =
        rewriter.create<scf::ForOp>(location, outer.getLowerBound(), outer.getUpperBound(), outer.getStep(), inits);
    made.outer->setDiscardableAttrs(outer->getDiscardableAttrDictionary());
    nameAndMap(outer.getBody()->getArgument(0), made.outer.getBody()->getArgument(0), values);
    made.inner = made.outer;
    if (!isGrid())
      return made;
    rewriter.setInsertionPointToStart(made.outer.getBody());
    made.inner = rewriter.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                             made.outer.getRegionIterArgs());
    made.inner->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    nameAndMap(loop.getBody()->getArgument(0), made.inner.getBody()->getArgument(0), values);
    if (!inits.empty())
      rewriter.create<scf::YieldOp>(location, made.inner.getResults());
    return made;
  }

  SmallVector<Value> indicesOf(Grid grid) {
    return isGrid() ? SmallVector<Value>{grid.outer.getInductionVar(), grid.inner.getInductionVar()}
                    : SmallVector<Value>{grid.outer.getInductionVar()};
  }

  scf::ForOp storeTerms() {
    rewriter.setInsertionPoint(outer);
    IRMapping values;
    Grid made = makeGrid(outer.getLoc(), {}, values);
    for (BlockArgument carried : loop.getRegionIterArgs())
      values.map(carried, startOf(carried)); // of what is not needed
    rewriter.setInsertionPoint(made.inner.getBody()->getTerminator());
    for (Operation &op : loop.getBody()->without_terminator())
      rewriter.clone(op, values);
    rewriter.create<memref::StoreOp>(loop.getLoc(), values.lookup(comparison->term), terms, indicesOf(made));
    eraseUnused(made.inner);
    return made.outer;
  }

  SmallVector<scf::ForOp> split() {
    SmallVector<scf::ForOp> parts;
    if (terms)
      parts.push_back(storeTerms());
    scf::ForOp extreme = withoutPositions();
    if (std::optional<Total> const total = totalOf(extreme, bestOf); !total || keepsOrder(total->join)) {
      rewriter.eraseOp(extreme);
      for (scf::ForOp part : parts)
        rewriter.eraseOp(part);
      return {};
    }
    scf::ForOp place = placeOf(extreme);
    usePlaces(extreme, place);
    SmallVector<Value> results;
    unsigned next = 0;
    for (BlockArgument carried : loop.getRegionIterArgs())
      results.push_back(llvm::is_contained(positions, carried) ? found[carried] : Value(extreme->getResult(next++)));
    rewriter.replaceOp(outer, results);
    parts.append({extreme, place});
    return parts;
  }

  scf::ForOp withoutPositions() {
    SmallVector<Value> inits, yielded;
    for (BlockArgument carried : loop.getRegionIterArgs())
      if (!llvm::is_contained(positions, carried))
        inits.push_back(startOf(carried));
    rewriter.setInsertionPoint(outer);
    IRMapping values;
    Grid made = makeGrid(outer.getLoc(), inits, values);
    unsigned next = 0;
    for (BlockArgument carried : loop.getRegionIterArgs()) {
      if (!llvm::is_contained(positions, carried)) {
        bestOf = carried == best ? next : bestOf;
        made.outer.getRegionIterArg(next).setLoc(carried.getLoc());
        nameAndMap(carried, made.inner.getRegionIterArg(next++), values);
      } else {
        values.map(carried, startOf(carried)); // of what is not needed
      }
    }
    cloneBody(made, values);
    for (BlockArgument carried : loop.getRegionIterArgs())
      if (!llvm::is_contained(positions, carried))
        yielded.push_back(values.lookupOrDefault(yieldedFor(carried).get()));
    rewriter.create<scf::YieldOp>(loop.getLoc(), yielded);
    if (OpOperand &leaf = *choiceOf(yieldedFor(best), best).leaf; isComputedAlike(leaf.get(), comparison->term))
      if (Operation *const owner = values.lookupOrNull(leaf.getOwner()))
        owner->setOperand(leaf.getOperandNumber(), values.lookupOrDefault(comparison->term));
    for (auto branch : llvm::to_vector(made.inner.getBody()->getOps<scf::IfOp>()))
      chooseResults(branch);
    joinIntegers(made.inner);
    eraseUnused(made.inner);
    return made.outer;
  }

  /// `condition ? term : best` of integers is a maximum or minimum.
  void joinIntegers(scf::ForOp made) {
    OpOperand &yielded = made.getBody()->getTerminator()->getOpOperand(bestOf);
    BlockArgument const carried = made.getRegionIterArg(bestOf);
    auto select = yielded.get().getDefiningOp<arith::SelectOp>();
    if (!select || !best.getType().isIntOrIndex() || select.getFalseValue() != carried)
      return;
    std::optional<Comparison> const compare = comparisonOf(select.getCondition(), carried);
    if (!compare || compare->term != select.getTrueValue())
      return;
    bool const isOfUnsigned = comparesUnsigned(compare->op);
    nest::Combiner const smaller = isOfUnsigned ? nest::Combiner::MinUI : nest::Combiner::MinSI,
                         larger = isOfUnsigned ? nest::Combiner::MaxUI : nest::Combiner::MaxSI;
    rewriter.setInsertionPoint(select);
    Value const joined =
        nest::join(rewriter, select.getLoc(), compare->isLess ? smaller : larger, carried, compare->term);
    rewriter.replaceOp(select, joined);
  }

  /// Results for which both sides have a value already are choices of two.
  void chooseResults(scf::IfOp branch) {
    rewriter.setInsertionPointAfter(branch);
    for (OpResult result : branch->getResults()) {
      Value yes = branch.thenYield().getOperand(result.getResultNumber());
      Value no = branch.elseYield().getOperand(result.getResultNumber());
      auto const isOutside = [&](Value &value) { return !branch->isAncestor(value.getParentRegion()->getParentOp()); };
      if (isOutside(yes) && isOutside(no))
        rewriter.replaceAllUsesWith(result,
                                    rewriter.create<arith::SelectOp>(result.getLoc(), branch.getCondition(), yes, no));
    }
  }

  void eraseUnused(scf::ForOp made) {
    SmallVector<Operation *> operations;
    for (Operation &op : made.getBody()->without_terminator())
      operations.push_back(&op);
    for (Operation *op : llvm::reverse(operations))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
  }

  void nameAndMap(BlockArgument from, BlockArgument to, IRMapping &values) {
    to.setLoc(from.getLoc());
    values.map(from, to);
  }

  void cloneBody(Grid into, IRMapping &values) {
    rewriter.setInsertionPointToEnd(into.inner.getBody());
    for (Operation &op : loop.getBody()->without_terminator())
      rewriter.clone(op, values);
    if (!terms)
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(into.inner.getBody());
    Value const stored = rewriter.create<memref::LoadOp>(loop.getLoc(), terms, indicesOf(into));
    rewriter.replaceAllUsesWith(values.lookup(comparison->term), stored);
    values.map(comparison->term, stored);
  }

  /// The first or last index whose term is the extreme.
  scf::ForOp placeOf(scf::ForOp extreme) {
    BlockArgument const position = positions.front();
    OpOperand &leaf = *choiceOf(yieldedFor(position), position).leaf;
    Type const type = position.getType();
    Location const location = locationOfPlace(position);
    nest::Combiner const combiner = comparison->isStrict ? nest::Combiner::MinSI : nest::Combiner::MaxSI;
    rewriter.setInsertionPointAfter(extreme);
    none = rewriter.create<arith::ConstantOp>(location, neutralOf(combiner, type));
    IRMapping values;
    Grid made = makeGrid(location, none, values);
    Location const named = NameLoc::get(
        rewriter.getStringAttr(comparison->isStrict ? "argument \"first\"" : "argument \"last\""), location);
    made.outer.getRegionIterArg(0).setLoc(named);
    made.inner.getRegionIterArg(0).setLoc(named);
    for (BlockArgument carried : loop.getRegionIterArgs())
      values.map(Value(carried), carried == best       ? Value(extreme->getResult(bestOf))
                                 : carried == position ? none
                                                       : startOf(carried));
    cloneBody(made, values);
    findEqual(values.lookup(comparison->op));
    Operation *const owner = values.lookup(leaf.getOwner());
    rewriter.setInsertionPoint(owner);
    owner->setOperand(leaf.getOperandNumber(), numberOf(indicesOf(made), type));
    rewriter.setInsertionPointToEnd(made.inner.getBody());
    Value const here = values.lookupOrDefault(yieldedFor(position).get());
    Value const joined = nest::join(rewriter, location, combiner, made.inner.getRegionIterArg(0), here);
    rewriter.create<scf::YieldOp>(location, joined);
    eraseUnused(made.inner);
    return made.outer;
  }

  /// A loop of MLIR's text has the name of its first result, one of Python its line.
  Location locationOfPlace(BlockArgument position) {
    std::string const name = nameInLocation(position.getLoc());
    if (nameInLocation(loop.getLoc()).empty() || name.empty())
      return loop.getLoc();
    return NameLoc::get(rewriter.getStringAttr("for \"" + name + "\""), loop.getLoc());
  }

  void findEqual(Operation *compare) {
    if (auto floats = dyn_cast<arith::CmpFOp>(compare))
      floats.setPredicate(arith::CmpFPredicate::OEQ);
    else
      cast<arith::CmpIOp>(compare).setPredicate(arith::CmpIPredicate::eq);
  }

  Value converted(Value value, Type type) {
    return value.getType() == type ? value
                                   : rewriter.create<arith::IndexCastOp>(loop.getLoc(), type, value).getResult();
  }

  /// `i`, or `i * width + j`.
  Value numberOf(ArrayRef<Value> indices, Type type) {
    Value const first = converted(indices.front(), type);
    if (!isGrid())
      return first;
    auto const flags = arith::IntegerOverflowFlags::nsw;
    Value const begin =
        rewriter.create<arith::MulIOp>(loop.getLoc(), first, converted(loop.getUpperBound(), type), flags);
    return rewriter.create<arith::AddIOp>(loop.getLoc(), begin, converted(indices.back(), type), flags);
  }

  /// The indices of that number.
  void mapIndices(Value number, IRMapping &values) {
    Type const type = rewriter.getIndexType();
    if (!isGrid())
      return values.map(loop.getInductionVar(), converted(number, type));
    Value const width = converted(loop.getUpperBound(), number.getType());
    Value const row = rewriter.create<arith::DivSIOp>(loop.getLoc(), number, width),
                column = rewriter.create<arith::RemSIOp>(loop.getLoc(), number, width);
    values.map(outer.getInductionVar(), converted(row, type));
    values.map(loop.getInductionVar(), converted(column, type));
  }

  /// Every position, computed of the place, or what it was where no term is better.
  void usePlaces(scf::ForOp extreme, scf::ForOp place) {
    Location const location = loop.getLoc();
    rewriter.setInsertionPointAfter(place);
    Value const at = place->getResult(0);
    Value const isFound = rewriter.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, at, none);
    Value const start = extreme.getInitArgs()[bestOf], reached = extreme->getResult(bestOf);
    Value isBetter = isFound;
    if (comparison->isStrict) {
      IRMapping sides;
      sides.map(comparison->term, reached);
      sides.map(Value(best), start);
      isBetter = rewriter.clone(*comparison->op, sides)->getResult(0);
    }
    for (BlockArgument position : positions) {
      Choice const choice = choiceOf(yieldedFor(position), position);
      auto branch = rewriter.create<scf::IfOp>(location, position.getType(), isBetter, true);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      IRMapping values;
      mapIndices(at, values);
      rewriter.create<scf::YieldOp>(location, recomputed(choice.leaf->get(), values));
      rewriter.setInsertionPointToStart(branch.elseBlock());
      rewriter.create<scf::YieldOp>(location, startOf(position));
      rewriter.setInsertionPointAfter(branch);
      found[position] = branch.getResult(0);
    }
  }

  Value recomputed(Value value, IRMapping &values) {
    if (values.contains(value) || !outer->isAncestor(value.getParentRegion()->getParentOp()))
      return values.lookupOrDefault(value);
    Operation *const op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      recomputed(operand, values);
    return rewriter.clone(*op, values)->getResult(cast<OpResult>(value).getResultNumber());
  }

  RewriterBase &rewriter;
  scf::ForOp outer, loop; ///< the same one, or a grid
  BlockArgument best;
  SmallVector<BlockArgument> positions;
  std::optional<Comparison> comparison;
  unsigned bestOf = 0; ///< the place of the extreme in the loop without positions
  Value none;
  Value terms; ///< memory for those that are stored, or null
  llvm::DenseMap<Value, Value> found;
};

} // namespace

SmallVector<scf::ForOp> splitPositions(RewriterBase &rewriter, scf::ForOp loop) {
  return loop.getNumRegionIterArgs() > 1 ? Splitter(rewriter, loop).run() : SmallVector<scf::ForOp>();
}

} // namespace ml2k
