//===- ThreadPhases.cpp - launches whose threads wait for each other ----------------------------------------------===//
//
// A block runs phase after phase: what lies between two barriers is a loop over its threads. A value that a later phase
// needs is computed again where that needs no memory, and otherwise lies in an array with an element for each thread.
// Loops and branches around barriers are those of the block: their bounds are the same for all threads.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Launches.h"

#include "translator/ir/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ml2k::mlir_import;

static bool waits(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<gpu::BarrierOp, gpu::AllReduceOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool ml2k::mlir_import::needsPhases(gpu::LaunchOp launch) {
  return !launch.getWorkgroupAttributions().empty() || waits(launch);
}

static std::optional<arith::AtomicRMWKind> kindOf(gpu::AllReduceOp op) {
  using arith::AtomicRMWKind;
  using gpu::AllReduceOperation;
  if (!op.getOp())
    return std::nullopt;
  bool const isReal = isa<FloatType>(op.getType());
  switch (*op.getOp()) {
  case AllReduceOperation::ADD:
    return isReal ? AtomicRMWKind::addf : AtomicRMWKind::addi;
  case AllReduceOperation::MUL:
    return isReal ? AtomicRMWKind::mulf : AtomicRMWKind::muli;
  case AllReduceOperation::MINUI:
    return AtomicRMWKind::minu;
  case AllReduceOperation::MINSI:
    return AtomicRMWKind::mins;
  case AllReduceOperation::MAXUI:
    return AtomicRMWKind::maxu;
  case AllReduceOperation::MAXSI:
    return AtomicRMWKind::maxs;
  case AllReduceOperation::MINNUMF:
    return AtomicRMWKind::minnumf;
  case AllReduceOperation::MAXNUMF:
    return AtomicRMWKind::maxnumf;
  case AllReduceOperation::MINIMUMF:
    return AtomicRMWKind::minimumf;
  case AllReduceOperation::MAXIMUMF:
    return AtomicRMWKind::maximumf;
  case AllReduceOperation::AND:
    return AtomicRMWKind::andi;
  case AllReduceOperation::OR:
    return AtomicRMWKind::ori;
  default:
    return std::nullopt;
  }
}

namespace {

class Phases {
public:
  Phases(gpu::LaunchOp launch, IRMapping &values)
      : launch(launch), ofBlock(values), builder(launch),
        threads(rangesOf(launch.getThreadIds(), launch.getBlockSizeOperandValues())) {}

  LogicalResult run() {
    for (auto [index, size] : threads)
      if (std::optional<int64_t> const extent = getConstantIntValue(size); !extent)
        return launch.emitError("threads that wait for each other are a known number in each direction");
      else if (*extent != 1) {
        extents.push_back(*extent);
        counted.push_back(index);
      }
    Ranges const blocks = rangesOf(launch.getBlockIds(), launch.getGridSizeOperandValues());
    scf::ParallelOp loop = parallelOver(builder, launch.getLoc(), blocks, ofBlock, {});
    loop->setAttr(ml2k::nest::teamLoop, builder.getUnitAttr());
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    for (BlockArgument memory : launch.getWorkgroupAttributions())
      ofBlock.map(memory, ownMemory(builder, memory));
    for (BlockArgument memory : launch.getPrivateAttributions())
      privates[memory] = makePrivates(memory);
    return lower(launch.getBody().front());
  }

private:
  /// The operations of a block of code, phase by phase.
  LogicalResult lower(Block &block) {
    SmallVector<Operation *> phase;
    for (Operation &op : block.without_terminator()) {
      if (!waits(&op)) {
        phase.push_back(&op);
        continue;
      }
      if (failed(runPhase(phase)) || failed(lowerWaiting(&op)))
        return failure();
      phase.clear();
    }
    return runPhase(phase);
  }

  LogicalResult lowerWaiting(Operation *op) {
    if (isa<gpu::BarrierOp>(op))
      return success();
    if (auto reduce = dyn_cast<gpu::AllReduceOp>(op))
      return lowerReduce(reduce);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return lowerLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() == 0)
      return lowerBranch(branch);
    return op->emitError("threads wait for each other in an operation of this kind; supported are loops, and branches "
                         "without results");
  }

  //===--- Values ---===//

  /// Private memory of all threads.
  Value makePrivates(BlockArgument memory) {
    auto const type = cast<MemRefType>(memory.getType());
    SmallVector<int64_t> shape(extents);
    llvm::append_range(shape, type.getShape());
    return builder.create<memref::AllocaOp>(locationOfMemory(memory), MemRefType::get(shape, type.getElementType()));
  }

  /// That of one thread.
  Value privateOf(Value memory, Value all, ArrayRef<Value> positions) {
    ArrayRef<int64_t> const shape = cast<MemRefType>(memory.getType()).getShape();
    SmallVector<OpFoldResult> offsets(positions.begin(), positions.end()),
        sizes(positions.size(), builder.getIndexAttr(1));
    offsets.append(shape.size(), builder.getIndexAttr(0));
    for (int64_t extent : shape)
      sizes.push_back(builder.getIndexAttr(extent));
    SmallVector<OpFoldResult> const strides(offsets.size(), builder.getIndexAttr(1));
    auto const type =
        memref::SubViewOp::inferRankReducedResultType(shape, cast<MemRefType>(all.getType()), offsets, sizes, strides);
    return builder.create<memref::SubViewOp>(memory.getLoc(), cast<MemRefType>(type), all, offsets, sizes, strides);
  }

  /// Where the thread of a loop is.
  struct Thread {
    IRMapping values;             ///< indices, and what the loop has computed
    SmallVector<Value> positions; ///< in the arrays
  };

  Thread threadAt(IRMapping const &indices) const {
    return {indices, llvm::map_to_vector(counted, [&](Value index) { return indices.lookup(index); })};
  }

  Thread enter(scf::ParallelOp loop, IRMapping const &indices) {
    Thread thread = threadAt(indices);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    return thread;
  }

  /// `value` in a thread, or in the block where there is none; null if only threads have it.
  Value get(Value value, Thread *thread) {
    if (thread)
      if (Value const known = thread->values.lookupOrNull(value))
        return known;
    if (Value const known = ofBlock.lookupOrNull(value))
      return known;
    if (!launch.getBody().isAncestor(value.getParentRegion()))
      return value; // of the host
    if (auto const own = privates.find(value); own != privates.end())
      return thread ? privateOf(value, own->second, thread->positions) : Value();
    if (auto const array = arrays.find(value); array != arrays.end())
      return thread ? builder.create<memref::LoadOp>(value.getLoc(), array->second, thread->positions) : Value();
    Operation *op = value.getDefiningOp();
    if (!op || !isPure(op) || op->getNumRegions() != 0)
      return {};
    IRMapping operands;
    for (Value operand : op->getOperands()) {
      Value const known = get(operand, thread);
      if (!known)
        return {};
      operands.map(operand, known);
    }
    return builder.clone(*op, operands)->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// Whether get() can compute it again anywhere.
  bool isRecomputable(Value value) {
    if (!launch.getBody().isAncestor(value.getParentRegion()))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op)
      return value.getParentRegion() == &launch.getBody();
    return isPure(op) && op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isRecomputable(operand); });
  }

  /// An array with an element for each thread.
  Value makeArray(Value value) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.getInsertionBlock();
    while (!isa<scf::ParallelOp>(block->getParentOp()) || block->getParentOp()->getParentOfType<scf::ParallelOp>())
      block = block->getParentOp()->getBlock();
    builder.setInsertionPointToStart(block);
    Value const array =
        builder.create<memref::AllocaOp>(locationOfMemory(value), MemRefType::get(extents, value.getType()));
    arrays[value] = array;
    return array;
  }

  //===--- Phases ---===//

  scf::ParallelOp overThreads(IRMapping &indices, ValueRange inits = {}) {
    Ranges sized;
    for (auto [index, size] : threads)
      sized.push_back({index, ofBlock.lookupOrDefault(size)});
    return parallelOver(builder, launch.getLoc(), sized, indices, inits);
  }

  LogicalResult runPhase(ArrayRef<Operation *> phase) {
    if (llvm::all_of(phase, [&](Operation *op) { return isPure(op) && op->getNumRegions() == 0 && isAgain(op); }))
      return success(); // nothing that lasts
    SmallVector<std::pair<Value, Value>> kept;
    for (Operation *op : phase)
      for (Value result : op->getResults())
        if (isUsedLater(result, phase) && !isRecomputable(result)) {
          if (!MemRefType::isValidElementType(result.getType()))
            return op->emitError("a value of this type is needed behind a barrier");
          Value const carried = nextOf.lookup(result);
          kept.push_back({result, carried ? carried : makeArray(result)});
        }
    OpBuilder::InsertionGuard guard(builder);
    IRMapping indices;
    scf::ParallelOp const loop = overThreads(indices);
    Thread thread = enter(loop, indices);
    for (auto [value, array] : kept)
      arrays.erase(value); // this phase has the value itself
    for (Operation *op : phase)
      if (failed(cloneInto(op, thread)))
        return failure();
    for (auto [value, array] : kept) {
      builder.create<memref::StoreOp>(value.getLoc(), thread.values.lookup(value), array, thread.positions);
      arrays[value] = array;
    }
    return success();
  }

  bool isAgain(Operation *op) {
    return llvm::all_of(op->getResults(), [&](Value value) { return isRecomputable(value); });
  }

  bool isUsedLater(Value value, ArrayRef<Operation *> phase) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return llvm::none_of(phase, [&](Operation *op) { return op->isAncestor(user); });
    });
  }

  LogicalResult cloneInto(Operation *op, Thread &thread) {
    bool found = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (op->isProperAncestor(operand.getParentRegion()->getParentOp()) ||
            operand.getParentRegion()->getParentOp() == op || thread.values.contains(operand))
          continue;
        Value const known = get(operand, &thread);
        found &= bool(known);
        if (known)
          thread.values.map(operand, known);
      }
    });
    if (!found)
      return op->emitError("needs a value that only a part of the threads has");
    builder.clone(*op, thread.values);
    return success();
  }

  //===--- Waiting ---===//

  LogicalResult lowerReduce(gpu::AllReduceOp op) {
    std::optional<arith::AtomicRMWKind> const kind = kindOf(op);
    if (!kind)
      return op.emitError("reductions over a block are one of the named operations but xor");
    Location const loc = op.getLoc();
    Value const neutral = arith::getIdentityValue(*kind, op.getType(), builder, loc);
    OpBuilder::InsertionGuard guard(builder);
    IRMapping indices;
    scf::ParallelOp loop = overThreads(indices, ValueRange(neutral));
    builder.setInsertionPointToEnd(loop.getBody());
    Thread thread = threadAt(indices);
    Value const term = get(op.getValue(), &thread);
    if (!term)
      return op.emitError("needs a value that only a part of the threads has");
    auto reduce = builder.create<scf::ReduceOp>(loc, ValueRange(term));
    Block &joined = reduce.getReductions()[0].front();
    builder.setInsertionPointToEnd(&joined);
    Value const next = arith::getReductionOp(*kind, builder, loc, joined.getArgument(0), joined.getArgument(1));
    builder.create<scf::ReduceReturnOp>(loc, next);
    ofBlock.map(op.getResult(), loop.getResult(0));
    return success();
  }

  /// In all threads: `value` into an array.
  LogicalResult storeAll(ArrayRef<std::pair<Value, Value>> stores) {
    if (stores.empty())
      return success();
    OpBuilder::InsertionGuard guard(builder);
    IRMapping indices;
    scf::ParallelOp const loop = overThreads(indices);
    Thread thread = enter(loop, indices);
    SmallVector<Value> values;
    for (auto [value, array] : stores) {
      values.push_back(get(value, &thread));
      if (!values.back())
        return launch.emitError("a loop around a barrier carries a value that only a part of the threads has");
    }
    for (auto [value, store] : llvm::zip(values, stores)) // after all are computed: they change as a set
      builder.create<memref::StoreOp>(launch.getLoc(), value, store.second, thread.positions);
    return success();
  }

  /// Whether the value that a round hands on can take the place of the carried one as soon as it is known: a phase
  /// computes it, and nothing behind that asks for the old one.
  static bool replacesCarried(scf::ForOp loop, unsigned place) {
    Value const next = loop.getYieldedValues()[place];
    Operation *last = next.getDefiningOp();
    if (!last || last->getBlock() != loop.getBody() || !next.hasOneUse() || waits(last))
      return false;
    while (!waits(last) && last->getNextNode())
      last = last->getNextNode(); // what ends the phase
    return llvm::all_of(loop.getRegionIterArg(place).getUsers(), [&](Operation *user) {
      return loop.getBody()->findAncestorOpInBlock(*user)->isBeforeInBlock(last);
    });
  }

  LogicalResult lowerLoop(scf::ForOp loop) {
    Value const begin = get(loop.getLowerBound(), nullptr), end = get(loop.getUpperBound(), nullptr),
                step = get(loop.getStep(), nullptr);
    if (!begin || !end || !step)
      return loop.emitError("a loop around a barrier has bounds that differ between threads");
    SmallVector<std::pair<Value, Value>> first, next;
    for (auto [i, carried] : llvm::enumerate(loop.getRegionIterArgs())) {
      Value const array = makeArray(carried);
      arrays[loop.getResult(i)] = array;
      first.push_back({loop.getInitArgs()[i], array});
      if (replacesCarried(loop, i))
        nextOf[loop.getYieldedValues()[i]] = array;
      else
        next.push_back({loop.getYieldedValues()[i], array});
    }
    if (failed(storeAll(first)))
      return failure();
    auto same = builder.create<scf::ForOp>(loop.getLoc(), begin, end, step);
    ofBlock.map(loop.getInductionVar(), same.getInductionVar());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(same.getBody()->getTerminator());
    return success(succeeded(lower(*loop.getBody())) && succeeded(storeAll(next)));
  }

  LogicalResult lowerBranch(scf::IfOp branch) {
    Value const condition = get(branch.getCondition(), nullptr);
    if (!condition)
      return branch.emitError("a branch around a barrier is not the same for all threads");
    auto same = builder.create<scf::IfOp>(branch.getLoc(), condition, /*withElseRegion=*/bool(branch.elseBlock()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(same.thenBlock()->getTerminator());
    if (failed(lower(*branch.thenBlock())))
      return failure();
    if (!branch.elseBlock())
      return success();
    builder.setInsertionPoint(same.elseBlock()->getTerminator());
    return lower(*branch.elseBlock());
  }

  gpu::LaunchOp launch;
  IRMapping &ofBlock; ///< values that are the same in all threads
  OpBuilder builder;
  Ranges const threads;
  SmallVector<int64_t> extents;    ///< of the directions with several threads
  SmallVector<Value> counted;      ///< their indices
  DenseMap<Value, Value> arrays;   ///< of values that differ
  DenseMap<Value, Value> privates; ///< of private memory: that of all threads
  DenseMap<Value, Value> nextOf;   ///< the array that a value goes to: that of the carried one before it
};

} // namespace

LogicalResult ml2k::mlir_import::lowerToPhases(gpu::LaunchOp launch, IRMapping &values) {
  return Phases(launch, values).run();
}
