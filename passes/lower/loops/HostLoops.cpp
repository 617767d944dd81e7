//===- HostLoops.cpp - loops and branches of the host around kernels ----------------------------------------------===//
//
// What a loop carries from round to round, what a branch results in and what either is decided by lives in memory where
// kernels compute it. The host carries what it can compute itself.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/HostLoops.h"
#include "passes/Provenance.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

std::string nameOr(Value value, StringRef otherwise) {
  std::string const name = nameInLocation(value.getLoc());
  return name.empty() ? otherwise.str() : name;
}

Location namedLocation(Location location, StringRef verb, StringRef name) {
  return NameLoc::get(StringAttr::get(location.getContext(), verb + " \"" + name + "\""), location);
}

void replaceByLoads(RewriterBase &rewriter, Value value, Value memory, std::optional<Location> location,
                    llvm::function_ref<Value(Value)> finish) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    rewriter.setInsertionPoint(use.getOwner());
    Value const loaded = rewriter.create<memref::LoadOp>(location.value_or(value.getLoc()), memory);
    use.set(finish ? finish(loaded) : loaded);
  }
}

static bool isMemref(Value value) { return isa<MemRefType>(value.getType()); }

scf::ForOp HostLoops::carry(scf::ForOp loop) {
  llvm::SmallBitVector const onHost = placesOnHost(loop);
  SmallVector<unsigned> scalars;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (!isMemref(loop.getRegionIterArg(i)) && !onHost[i])
      scalars.push_back(i);
  return scalars.empty() ? loop : carry(loop, scalars);
}

scf::ForOp HostLoops::carry(scf::ForOp loop, ArrayRef<unsigned> scalars) {
  SmallVector<Value> memories, kept, keptYields, keptResults;
  for (unsigned i : scalars) {
    Value const carried = loop.getRegionIterArg(i);
    memories.push_back(makeScalar(entry, carried.getType(), nameOr(carried, "carried")));
    storeBefore(loop, loop.getInitArgs()[i], memories.back());
    replaceByLoads(rewriter, carried, memories.back());
    replaceByLoads(rewriter, loop.getResult(i), memories.back());
  }
  // All new values are computed before the first is stored: they change as a set
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  for (auto [i, memory] : llvm::zip(scalars, memories))
    rewriter.create<memref::StoreOp>(yield.getLoc(), yield.getOperand(i), memory, ValueRange());
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (!llvm::is_contained(scalars, i)) {
      kept.push_back(loop.getInitArgs()[i]);
      keptYields.push_back(yield.getOperand(i));
      keptResults.push_back(loop.getResult(i));
    }
  rewriter.setInsertionPoint(loop);
  auto lean =
      rewriter.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), kept);
  lean->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  yield->setOperands(keptYields);
  SmallVector<Value> replacements = {lean.getInductionVar()};
  for (unsigned i = 0, k = 0; i < loop.getNumRegionIterArgs(); ++i)
    replacements.push_back(llvm::is_contained(scalars, i) ? lean.getInductionVar() : Value(lean.getRegionIterArg(k++)));
  for (auto [argument, by] : llvm::zip(loop.getBody()->getArguments(), replacements))
    if (!argument.use_empty())
      argument.replaceAllUsesWith(by);
  if (!lean.getBody()->empty())
    rewriter.eraseOp(lean.getBody()->getTerminator());
  lean.getBody()->getOperations().splice(lean.getBody()->end(), loop.getBody()->getOperations());
  for (auto [from, to] : llvm::zip(keptResults, lean.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
  return lean;
}

/// Results of a branch around kernels live in memory, and so does what kernels decide it by.
scf::IfOp HostLoops::carry(scf::IfOp branch, bool isDecidedHere) {
  if (!isDecidedHere) {
    Value const decision = makeScalar(entry, rewriter.getI1Type(), nameOr(branch.getCondition(), "decision"));
    storeBefore(branch, branch.getCondition(), decision);
    rewriter.setInsertionPoint(branch);
    branch.getConditionMutable().assign(rewriter.create<memref::LoadOp>(branch.getLoc(), decision));
  }
  if (branch.getNumResults() == 0)
    return branch;
  for (OpResult result : branch.getResults()) {
    Value const memory = makeScalar(entry, result.getType(), nameOr(result, "chosen"));
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      Operation *const yield = block->getTerminator();
      rewriter.setInsertionPoint(yield);
      rewriter.create<memref::StoreOp>(yield->getLoc(), yield->getOperand(result.getResultNumber()), memory);
    }
    replaceByLoads(rewriter, result, memory);
  }
  rewriter.setInsertionPoint(branch);
  auto lean = rewriter.create<scf::IfOp>(branch.getLoc(), branch.getCondition(), /*withElseRegion=*/true);
  lean->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip(branch->getRegions(), lean->getRegions())) {
    to.takeBody(from);
    to.front().getTerminator()->setOperands({});
  }
  rewriter.eraseOp(branch);
  return lean;
}

void HostLoops::storeBefore(Operation *op, Value value, Value memory) {
  rewriter.setInsertionPoint(op);
  gather(rewriter.create<memref::StoreOp>(op->getLoc(), value, memory, ValueRange()));
}

/// The memory of each value that the loop carries or hands from its condition to its body: one for both where they
/// are the same.
SmallVector<Value> HostLoops::memoriesOf(scf::WhileOp loop, ArrayRef<Value> carried) {
  return llvm::map_to_vector(llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments()), [&](auto pair) {
    auto const [passed, argument] = pair;
    auto const same = dyn_cast<BlockArgument>(passed);
    if (same && same.getOwner() == loop.getBeforeBody())
      return carried[same.getArgNumber()];
    return makeScalar(entry, passed.getType(), nameOr(argument, "passed"));
  });
}

/// A single number that kernels compute: the host could read it back.
static bool isDeviceScalar(Value value) {
  auto load = value.getDefiningOp<memref::LoadOp>();
  return value.getDefiningOp<scf::ParallelOp>() || (load && load.getMemRefType().getRank() == 0);
}

namespace {

/// What the host computes, of one loop. Expressions are printed as they stand: long ones, and those of parts that are
/// used again and again, are kernels' work.
class HostNumbers {
public:
  /// What forward() has a name for: its arguments, their run-time extents, what loops around kernels carry or count.
  bool isNamed(Value value) {
    if (auto const argument = dyn_cast<BlockArgument>(value)) {
      Operation *const owner = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(owner); loop && argument != loop.getInductionVar())
        return isCarried(loop, argument.getArgNumber() - 1);
      return isa<func::FuncOp, scf::ForOp, scf::WhileOp>(owner);
    }
    if (auto loop = value.getDefiningOp<scf::ForOp>())
      return isCarried(loop, cast<OpResult>(value).getResultNumber());
    auto size = value.getDefiningOp<memref::DimOp>();
    auto const source = size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
    return value.getDefiningOp<scf::WhileOp>() ||
           (source && isa<func::FuncOp>(source.getOwner()->getParentOp()) && size.getConstantIndex());
  }

  /// Whether the host computes `value` from what it knows or carries, and from what it reads back.
  bool isOfHost(Value value, llvm::SmallDenseSet<Value> &readBack) {
    Type const type = value.getType();
    if (!type.isInteger(1) && !type.isInteger(32) && !type.isInteger(64) && !type.isF32() && !type.isF64() &&
        !type.isIndex())
      return false;
    if (isNamed(value) || matchPattern(value, m_Constant()))
      return true;
    if (isDeviceScalar(value))
      return readBack.insert(value).second || true;
    Operation *op = value.getDefiningOp();
    if (!op || !mayGoOn())
      return false;
    if (isHostLocal(op))
      return llvm::all_of(op->getOperands(), [&](Value operand) { return isPolynomial(operand); });
    return (isHostScalar(op) || isHostCount(op)) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isOfHost(operand, readBack); });
  }

  /// Which of the values that an scf.for carries the host computes.
  llvm::SmallBitVector const &placesOf(scf::ForOp loop) {
    if (auto const known = places.find(loop); known != places.end())
      return known->second;
    llvm::SmallBitVector found(loop.getNumRegionIterArgs(), true);
    for (bool isStable = false; !isStable;) {
      isStable = true;
      for (unsigned const i : found.set_bits())
        if (isMemref(loop.getInitArgs()[i]) || !isKnown(loop.getInitArgs()[i]) ||
            !isOfIteration(loop.getYieldedValues()[i], loop, found)) {
          found.reset(i);
          isStable = false;
          break;
        }
    }
    return places[loop] = found;
  }

private:
  bool mayGoOn() { return steps > 0 && steps-- > 0; }

  bool isCarried(scf::ForOp loop, unsigned place) {
    return isMemref(loop.getRegionIterArg(place)) || placesOf(loop)[place];
  }

  bool isKnown(Value value) {
    llvm::SmallDenseSet<Value> readBack;
    return isOfHost(value, readBack) && readBack.empty();
  }

  /// An index that is a polynomial of others: forward() computes its remainder or its minimum in a variable.
  bool isPolynomial(Value value) {
    if (matchPattern(value, m_Constant()) || isNamed(value))
      return true;
    Operation *op = value.getDefiningOp();
    return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && mayGoOn() &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isPolynomial(operand); });
  }

  /// Whether the host computes what an iteration carries on from what the loop counts, from what it carries in `found`,
  /// and from what is known in front of the loop.
  bool isOfIteration(Value value, scf::ForOp loop, llvm::SmallBitVector const &found) {
    if (auto const argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == loop.getBody())
      return argument == loop.getInductionVar() || found[argument.getArgNumber() - 1];
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isProperAncestor(op))
      return isKnown(value);
    return op->getParentOp() == loop && (isHostScalar(op) || isHostCount(op)) && mayGoOn() &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isOfIteration(operand, loop, found); });
  }

  unsigned steps = 256;
  DenseMap<Operation *, llvm::SmallBitVector> places;
};

} // namespace

llvm::SmallBitVector placesOnHost(scf::ForOp loop) { return HostNumbers().placesOf(loop); }

static bool isPureOp(Operation &op) { return isPure(&op) && op.getNumRegions() == 0; }

/// What is read back is carried as it is, by one of the values.
static bool areDirect(ValueRange values, llvm::SmallDenseSet<Value> const &readBack, HostNumbers &numbers) {
  return llvm::all_of(readBack, [&](Value value) { return llvm::count(values, value) == 1; }) &&
         llvm::all_of(values, [&](Value value) {
           Operation *op = value.getDefiningOp();
           return readBack.contains(value) || numbers.isNamed(value) || !op || isPure(op);
         });
}

/// A few of the numbers may come from kernels, and are read back once a round.
bool isDecidedOnHost(scf::WhileOp loop) {
  constexpr unsigned most = 4; // copies for one wait
  llvm::SmallDenseSet<Value> first, next, none;
  HostNumbers numbers;
  auto const all = [&](ValueRange values, llvm::SmallDenseSet<Value> &readBack) {
    return llvm::all_of(values, [&](Value value) { return numbers.isOfHost(value, readBack); });
  };
  scf::ConditionOp condition = loop.getConditionOp();
  auto const numbersOf = [&](ValueRange values) {
    return llvm::to_vector(llvm::make_filter_range(values, [&](Value value) { return !isMemref(value); }));
  };
  SmallVector<Value> const inits = numbersOf(loop.getInits()), yields = numbersOf(loop.getYieldOp().getOperands());
  auto const isWhole = [](Value memory) {
    return isa<BlockArgument>(memory) || memory.getDefiningOp<nest::BufferOp>() || exchangeOf(memory).loop;
  };
  if (!onlyExchanges(loop) ||
      !llvm::all_of(loop.getInits(), [&](Value init) { return !isMemref(init) || isWhole(init); }))
    return false;
  bool const passesOn = llvm::all_of(condition.getArgs(), [&](Value passed) {
    auto const argument = dyn_cast<BlockArgument>(passed);
    return argument && argument.getOwner() == loop.getBeforeBody();
  });
  bool const decides = llvm::all_of(loop.getBeforeBody()->without_terminator(), isPureOp);
  return loop.getNumResults() != 0 && passesOn && decides && all(inits, first) && all(yields, next) &&
         all(condition.getCondition(), none) && first.size() <= most && next.size() <= most && none.empty() &&
         areDirect(inits, first, numbers) && areDirect(yields, next, numbers);
}

/// What bufferization left without a name is called as it is at first.
static void nameCarried(scf::WhileOp loop) {
  for (auto [carried, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits()))
    if (std::string const name = nameInLocation(init.getLoc());
        !name.empty() && (carried.getLoc() == loop.getLoc() || nameInLocation(carried.getLoc()).empty()))
      carried.setLoc(namedLocation(carried.getLoc(), "argument", name));
}

static bool isDecidedInMemory(scf::WhileOp loop) {
  return loop.getInits().empty() && loop->getNumResults() == 0 &&
         isReadBack(loop.getConditionOp().getCondition().getDefiningOp());
}

/// Scalars and the condition of a host loop live in memory: kernels compute them, the host reads the condition back.
scf::WhileOp HostLoops::decideInMemory(scf::WhileOp loop) {
  SmallVector<Value> const carried = llvm::map_to_vector(loop.getBeforeArguments(), [&](BlockArgument argument) {
    return makeScalar(entry, argument.getType(), nameOr(argument, "carried"));
  });
  SmallVector<Value> const passed = memoriesOf(loop, carried);
  for (auto [init, memory] : llvm::zip(loop.getInits(), carried))
    storeBefore(loop, init, memory);
  scf::ConditionOp condition = loop.getConditionOp();
  rewriter.setInsertionPoint(condition);
  for (auto [value, memory] : llvm::zip(condition.getArgs(), passed))
    if (!llvm::is_contained(carried, memory))
      rewriter.create<memref::StoreOp>(condition.getLoc(), value, memory, ValueRange());
  Value const goes = makeScalar(entry, rewriter.getI1Type(), "continues");
  rewriter.create<memref::StoreOp>(condition.getLoc(), condition.getCondition(), goes, ValueRange());
  Value const read = rewriter.create<memref::LoadOp>(condition.getLoc(), goes);
  rewriter.replaceOpWithNewOp<scf::ConditionOp>(condition, read, ValueRange());
  scf::YieldOp yield = loop.getYieldOp();
  rewriter.setInsertionPoint(yield);
  for (auto [value, memory] : llvm::zip(yield.getOperands(), carried))
    rewriter.create<memref::StoreOp>(yield.getLoc(), value, memory, ValueRange());
  yield->setOperands({});
  for (auto [argument, memory] : llvm::zip(loop.getBeforeArguments(), carried))
    replaceByLoads(rewriter, argument, memory);
  for (auto [argument, result, memory] : llvm::zip(loop.getAfterArguments(), loop.getResults(), passed)) {
    replaceByLoads(rewriter, argument, memory);
    replaceByLoads(rewriter, result, memory);
  }
  loop.getBeforeBody()->eraseArguments([](BlockArgument) { return true; });
  loop.getAfterBody()->eraseArguments([](BlockArgument) { return true; });
  rewriter.setInsertionPoint(loop);
  auto lean = rewriter.create<scf::WhileOp>(loop.getLoc(), TypeRange(), ValueRange());
  lean->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  lean.getBefore().takeBody(loop.getBefore());
  lean.getAfter().takeBody(loop.getAfter());
  rewriter.eraseOp(loop);
  return lean;
}

bool HostLoops::mayCarry(scf::WhileOp loop) {
  bool const hasMemory = llvm::any_of(loop->getOperandTypes(), llvm::IsaPred<MemRefType>) ||
                         llvm::any_of(loop->getResultTypes(), llvm::IsaPred<MemRefType>);
  return !hasMemory || isDecidedOnHost(loop);
}

scf::WhileOp HostLoops::carry(scf::WhileOp loop) {
  if (!isDecidedOnHost(loop))
    return isDecidedInMemory(loop) ? loop : decideInMemory(loop);
  nameCarried(loop);
  return loop;
}

} // namespace ml2k
