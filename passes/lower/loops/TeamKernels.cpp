//===- TeamKernels.cpp - kernels whose inner loops are parallel, too: teams of threads ----------------------------===//
//
// A launch is a league of teams. So is a parallel loop with long loops along contiguous memory inside, which are
// parallel or proved to be, or with memory that its inner loops share: on a device one thread for each of its positions
// would read far apart. A barrier stands where a thread may need what another one has written.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/TripCount.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace ml2k {
using nest::TeamPart;

static constexpr int64_t shortLoop = 256;    ///< iterations that one thread may as well run
static constexpr int64_t largestTeam = 1024; ///< lanes

//===--- Which kernels --------------------------------------------------------------------------------------------===//

static std::optional<int64_t> iterationsOf(scf::ParallelOp loop) {
  int64_t count = 1;
  for (auto [lower, upper, step] : llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    std::optional<int64_t> const trips = tripCount(lower, upper, step);
    if (!trips)
      return std::nullopt;
    count *= *trips;
  }
  return count;
}

static bool dependsOn(Value value, Value index) {
  if (value == index)
    return true;
  Operation *op = value.getDefiningOp();
  return op && isRecomputable(op) && llvm::any_of(op->getOperands(), [&](Value v) { return dependsOn(v, index); });
}

/// Whether more accesses in `loop` lie along its own last index than along that of the kernel.
static bool runsAlongMemory(LoopLikeOpInterface loop, Value kernelIndex) {
  int64_t balance = 0;
  loop.walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    OperandRange const indices = load    ? load.getIndices()
                                 : store ? store.getIndices()
                                         : op->getOperands().take_front(0);
    if (!indices.empty())
      balance += int(dependsOn(indices.back(), loop.getLoopInductionVars()->back())) -
                 int(dependsOn(indices.back(), kernelIndex));
  });
  return balance > 0;
}

static scf::ParallelOp outerLoopOf(Operation *op) { return op->getParentOfType<scf::ParallelOp>(); }

/// Loops of the team's threads: those that stand in no other parallel loop of the kernel.
static SmallVector<scf::ParallelOp> sharedLoops(nest::LoopKernelOp kernel) {
  SmallVector<scf::ParallelOp> loops;
  kernel.walk([&](scf::ParallelOp loop) {
    if (!outerLoopOf(loop))
      loops.push_back(loop);
  });
  return loops;
}

/// Gives elements a value that none of them decides: no work that a team is worth.
static bool isFill(LoopLikeOpInterface loop) {
  return llvm::all_of(loop.getLoopRegions().front()->front().without_terminator(), [&](Operation &op) {
    auto store = dyn_cast<memref::StoreOp>(op);
    return store ? loop.isDefinedOutsideOfLoop(store.getValue()) : isPure(&op) && op.getNumRegions() == 0;
  });
}

static bool isPlain(Value number, unsigned &steps) {
  Operation *op = number.getDefiningOp();
  return !op || isa<memref::DimOp>(op) ||
         (steps > 0 && steps-- > 0 && isRecomputable(op) &&
          llvm::all_of(op->getOperands(), [&](Value operand) { return isPlain(operand, steps); }));
}

/// Whether the bound of a loop, or a subscript, is computed of indices and sizes alone, by a few operations: rows of
/// sparse matrices have blocks of their own.
static bool isPlainBound(Value bound) {
  unsigned steps = 128;
  return isPlain(bound, steps);
}

static bool isLong(scf::ForOp loop) {
  std::optional<int64_t> const trips = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  return !trips || *trips > shortLoop;
}

static bool isNaive(nest::LoopKernelOp kernel) {
  return kernel->getParentOfType<func::FuncOp>()->hasAttr("nest.naive");
}

static bool isWorthTeam(nest::LoopKernelOp kernel) {
  bool const hasMemory = kernel
                             .walk([](Operation *op) {
                               bool const isShared = isa<memref::AllocOp, memref::AllocaOp>(op) && !outerLoopOf(op) &&
                                                     cast<MemRefType>(op->getResult(0).getType()).getRank() > 0;
                               return isShared ? WalkResult::interrupt() : WalkResult::advance();
                             })
                             .wasInterrupted();
  if (kernel.getLowers().empty())
    return false;
  Value const index = kernel.getBody().getArguments().back();
  SmallVector<scf::ParallelOp> loops = sharedLoops(kernel);
  // Each thread of the team would go through other loops. Then a fold is one thread's, by vectors
  auto const isLongSequential = [](scf::ForOp loop) { return isLong(loop); };
  if (loops.size() == 1 && loops.front().getNumResults() > 0 && !hasMemory &&
      (isNaive(kernel) || !llvm::all_of(loops.front().getUpperBound(), isPlainBound) ||
       llvm::any_of(kernel.getBody().getOps<scf::ForOp>(), isLongSequential)))
    return false;
  return llvm::any_of(loops, [&](scf::ParallelOp loop) {
    std::optional<int64_t> const count = iterationsOf(loop);
    bool const isLong = !count || *count > shortLoop || (hasMemory && *count >= 32);
    return isLong && !isFill(loop) && runsAlongMemory(loop, index);
  });
}

/// What a team cannot run: code for data that one thread finds out, memory of unknown size, marks of other methods.
static bool canBeTeam(nest::LoopKernelOp kernel) {
  if (kernel.getLowers().empty() || !kernel.getInto().empty() || kernel.getOrdered())
    return false;
  auto const stops = [&](Operation *op) {
    if (op == kernel || outerLoopOf(op))
      return false;
    if (op->hasAttr("nest.scan") || op->hasAttr("nest.entries"))
      return true;
    if (auto loop = dyn_cast<scf::ParallelOp>(op))
      return loop.getNumResults() > 1 ||
             llvm::any_of(cast<scf::ReduceOp>(loop.getBody()->getTerminator()).getReductions(),
                          [](Region &region) { return !combinerOf(region); });
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      return !cast<MemRefType>(op->getResult(0).getType()).hasStaticShape();
    TeamPart const part = nest::teamPartOf(op);
    return (part == TeamPart::Control && !isa<scf::ForOp, scf::IfOp>(op)) ||
           (part == TeamPart::Once && !op->use_empty());
  };
  return !kernel.walk([&](Operation *op) { return stops(op) ? WalkResult::interrupt() : WalkResult::advance(); })
              .wasInterrupted();
}

/// Whether iterations meet in atomic updates, which have blocks of their own, or call functions that write memory,
/// which each thread of a team would do.
static bool isOfThreadsAlone(nest::LoopKernelOp kernel) {
  auto const writes = [](nest::CallOp call) {
    return llvm::is_contained(call.getWrites(), true) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return nest::hasAtomicUpdates(kernel) || kernel.walk(writes).wasInterrupted();
}

//===--- Loops that may be parallel -------------------------------------------------------------------------------===//

/// Nothing inside that a thread alone could not run.
static bool isPlainLoop(scf::ForOp loop) {
  bool const hasOthers = loop.getBody()
                             ->walk([](Operation *op) {
                               bool const isKnown = isa<memref::LoadOp, memref::StoreOp, scf::YieldOp>(op) ||
                                                    (isPure(op) && op->getNumRegions() == 0);
                               return isKnown ? WalkResult::advance() : WalkResult::interrupt();
                             })
                             .wasInterrupted();
  return !hasOthers && loop.getNumResults() <= 1 && isConstantIntValue(loop.getStep(), 1) &&
         isPlainBound(loop.getLowerBound()) && isPlainBound(loop.getUpperBound());
}

/// Whether a loop repeats loops that a team shares, and does nothing else that is felt.
static bool isAround(scf::ForOp loop) {
  Block &body = *loop.getBody();
  auto const isHarmless = [](Operation &op) {
    return isa<scf::ForOp, memref::LoadOp>(op) || (isPure(&op) && op.getNumRegions() == 0);
  };
  return loop.getNumResults() == 0 && !body.getOps<scf::ForOp>().empty() &&
         llvm::all_of(body.without_terminator(), isHarmless);
}

/// The sequential loops of a kernel of rows that its team may share, if these are all: they stand in its block or are
/// repeated there.
static SmallVector<scf::ForOp> loopsToShare(nest::LoopKernelOp kernel) {
  if (kernel.getLowers().empty() || kernel.getPolicy() != nest::Policy::Range || kernel->hasAttr(nest::teamLoop) ||
      isNaive(kernel))
    return {};
  Value const index = kernel.getBody().getArguments().back();
  SmallVector<scf::ForOp> found;
  bool isAlong = false;
  auto const add = [&](scf::ForOp loop) {
    if (!isPlainLoop(loop) || !whySequential(loop).empty())
      return false;
    isAlong |= isLong(loop) && !isFill(loop) && runsAlongMemory(loop, index);
    found.push_back(loop);
    return true;
  };
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>()) {
    auto const inner = loop.getBody()->getOps<scf::ForOp>();
    if (!add(loop) && (!isAround(loop) || !llvm::all_of(inner, add)))
      return {};
  }
  return isAlong ? found : SmallVector<scf::ForOp>();
}

//===--- One level of loops ---------------------------------------------------------------------------------------===//

/// Loops that stand in others run in one thread.
static void keepOneLevel(RewriterBase &rewriter, nest::LoopKernelOp kernel) {
  SmallVector<scf::ParallelOp> sequential;
  kernel.walk([&](scf::ParallelOp loop) {
    if (outerLoopOf(loop))
      sequential.push_back(loop);
  });
  for (scf::ParallelOp loop : sequential)
    makeSequential(rewriter, loop);
}

/// Loops from somewhere in steps become loops of step 1.
static void dropSteps(RewriterBase &rewriter, scf::ParallelOp loop) {
  if (llvm::all_of(loop.getStep(), [](Value step) { return isConstantIntValue(step, 1); }))
    return;
  Location const location = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value const zero = rewriter.create<arith::ConstantIndexOp>(location, 0),
              one = rewriter.create<arith::ConstantIndexOp>(location, 1);
  for (auto [i, step] : llvm::enumerate(SmallVector<Value>(loop.getStep()))) {
    if (isConstantIntValue(step, 1))
      continue;
    Value const lower = loop.getLowerBound()[i];
    rewriter.setInsertionPoint(loop);
    Value const length = rewriter.create<arith::SubIOp>(location, loop.getUpperBound()[i], lower);
    Value const trips = rewriter.create<arith::CeilDivSIOp>(location, length, step);
    Value const index = loop.getInductionVars()[i];
    rewriter.setInsertionPointToStart(loop.getBody());
    auto scaled = rewriter.create<arith::MulIOp>(index.getLoc(), index, step);
    auto moved = rewriter.create<arith::AddIOp>(index.getLoc(), scaled, lower);
    rewriter.replaceAllUsesExcept(index, moved, scaled);
    loop.getLowerBoundMutable()[i].assign(zero);
    loop.getUpperBoundMutable()[i].assign(trips);
    loop.getStepMutable()[i].assign(one);
  }
}

/// What a loop reads at one place, of memory that the kernel does not write, is read once in front of it: its
/// iterations are vectors, in which compilers read it again each time. The entry has checked the places for loops that
/// run at least once.
static void hoistReads(nest::LoopKernelOp kernel, scf::ParallelOp loop) {
  auto const isWritten = [&](Value memref) {
    auto const meets = [&](memref::StoreOp store) {
      return mayAlias(store.getMemref(), memref) ? WalkResult::interrupt() : WalkResult::advance();
    };
    return kernel.walk(meets).wasInterrupted();
  };
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    auto load = dyn_cast<memref::LoadOp>(op);
    bool const isIndex = isRecomputable(&op) && llvm::all_of(op.getResultTypes(), llvm::IsaPred<IndexType>);
    bool const isMovable = load ? !load.getIndices().empty() && llvm::all_of(load.getIndices(), isPlainBound) &&
                                      !isWritten(load.getMemref())
                                : isIndex;
    if (isMovable &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); }))
      op.moveBefore(loop);
  }
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

/// Memory of the team is made once, at its start.
static void gatherMemory(RewriterBase &rewriter, nest::LoopKernelOp kernel) {
  SmallVector<Operation *> allocations;
  kernel.walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op) && !outerLoopOf(op))
      allocations.push_back(op);
  });
  for (Operation *op : llvm::reverse(allocations)) { // each in front of those behind it
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    auto const type = cast<MemRefType>(op->getResult(0).getType());
    Value const memory = rewriter.create<memref::AllocaOp>(locationOfArray(op), type);
    rewriter.replaceOp(op, memory);
  }
  SmallVector<Operation *> frees;
  kernel.walk([&](memref::DeallocOp op) { frees.push_back(op); });
  for (Operation *op : frees)
    rewriter.eraseOp(op);
}

/// Whether each element is touched at the position of its own in loops over all of them alone.
static bool isOfThreads(memref::AllocaOp array) {
  ArrayRef<int64_t> const shape = array.getType().getShape();
  return llvm::all_of(array->getUsers(), [&](Operation *user) {
    auto load = dyn_cast<memref::LoadOp>(user);
    auto store = dyn_cast<memref::StoreOp>(user);
    scf::ParallelOp loop = outerLoopOf(user);
    if (!loop || loop.getNumLoops() != shape.size() || !(load || (store && store.getMemref() == array)) ||
        !llvm::equal(load ? load.getIndices() : store.getIndices(), loop.getInductionVars()))
      return false;
    return llvm::all_of(llvm::zip(loop.getLowerBound(), loop.getUpperBound(), shape), [](auto bounds) {
      auto const [lower, upper, extent] = bounds;
      return isConstantIntValue(lower, 0) && isConstantIntValue(upper, extent);
    });
  });
}

/// Whether a team can have exactly a lane for each position: vector lanes along the last dimension of several.
static bool fitsTeam(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count = std::min(count, largestTeam + 1) * extent;
  bool const isVector = shape.size() < 2 || (llvm::isPowerOf2_64(shape.back()) && shape.back() <= 32);
  return !shape.empty() && count >= 1 && count <= largestTeam && isVector;
}

static void markOfThreads(nest::LoopKernelOp kernel) {
  std::optional<ArrayRef<int64_t>> team;
  kernel.walk([&](memref::AllocaOp array) {
    ArrayRef<int64_t> const shape = array.getType().getShape();
    if (outerLoopOf(array) || !fitsTeam(shape) || (team && *team != shape) || !isOfThreads(array))
      return;
    team = shape;
    array->setAttr(nest::ofThreads, UnitAttr::get(array.getContext()));
  });
}

//===--- Barriers -------------------------------------------------------------------------------------------------===//

namespace {

/// What has been touched since the last barrier, or is by an operation: by several threads, or by the one that stores.
struct Accesses {
  SmallVector<Value> reads, writes, onceReads, onceWrites;

  void clear() { *this = {}; }
  void add(Accesses const &other) {
    llvm::append_range(reads, other.reads);
    llvm::append_range(writes, other.writes);
    llvm::append_range(onceReads, other.onceReads);
    llvm::append_range(onceWrites, other.onceWrites);
  }
};

class Barriers {
public:
  explicit Barriers(OpBuilder &builder) : builder(builder) {}

  void insert(Block &block, Accesses &open) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (isa<nest::BarrierOp>(op)) {
        open.clear();
        continue;
      }
      Accesses const own = accessesOf(&op);
      if (meet(open, own)) {
        builder.setInsertionPoint(&op);
        builder.create<nest::BarrierOp>(op.getLoc());
        open.clear();
      }
      if (nest::teamPartOf(&op) == TeamPart::Control)
        insertInside(&op, open);
      else
        open.add(own);
    }
  }

private:
  void insertInside(Operation *op, Accesses &open) {
    Accesses const before = open;
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        Accesses inside = before;
        insert(block, inside);
        if (isa<scf::ForOp>(op) && meet(inside, firstAccesses(block))) { // of the next iteration
          builder.setInsertionPoint(block.getTerminator());
          builder.create<nest::BarrierOp>(op->getLoc());
          inside.clear();
        }
        open.add(inside);
      }
  }

  static Accesses firstAccesses(Block &block) {
    Accesses all;
    for (Operation &op : block.without_terminator()) {
      if (isa<nest::BarrierOp>(op))
        break;
      all.add(accessesOf(&op));
    }
    return all;
  }

  static Accesses accessesOf(Operation *op) {
    Accesses all;
    op->walk([&](Operation *inner) {
      auto const add = [&](Value memref, SmallVector<Value> &several, SmallVector<Value> &once) {
        Operation *made = baseOf(memref).getDefiningOp();
        if (made && (op->isAncestor(made) || made->hasAttr(nest::ofThreads)))
          return; // a thread's own
        (isOfOne(inner) ? once : several).push_back(memref);
      };
      if (auto load = dyn_cast<memref::LoadOp>(inner))
        add(load.getMemref(), all.reads, all.onceReads);
      if (auto store = dyn_cast<memref::StoreOp>(inner))
        add(store.getMemref(), all.writes, all.onceWrites);
    });
    return all;
  }

  /// Whether it stands in what one thread runs.
  static bool isOfOne(Operation *op) {
    if (outerLoopOf(op))
      return false;
    for (Operation *part = op; !isa<nest::LoopKernelOp>(part); part = part->getParentOp())
      if (nest::teamPartOf(part) == TeamPart::Once)
        return true;
    return false;
  }

  static bool meet(Accesses const &a, Accesses const &b) {
    auto const any = [](ArrayRef<Value> x, ArrayRef<Value> y) {
      return llvm::any_of(x, [&](Value v) { return llvm::any_of(y, [&](Value w) { return mayAlias(v, w); }); });
    };
    auto const oneWay = [&](Accesses const &x, Accesses const &y) {
      return any(x.writes, y.reads) || any(x.writes, y.onceReads) || any(x.writes, y.writes) ||
             any(x.writes, y.onceWrites) || any(x.onceWrites, y.reads);
    };
    return oneWay(a, b) || oneWay(b, a);
  }

  OpBuilder &builder;
};

} // namespace

//===--- All ------------------------------------------------------------------------------------------------------===//

bool formTeam(RewriterBase &rewriter, nest::LoopKernelOp kernel) {
  if (kernel.getPolicy() == nest::Policy::Team)
    return true; // by an earlier run
  bool const isLaunch = kernel->hasAttr(nest::teamLoop);
  if (!isLaunch && isOfThreadsAlone(kernel))
    return false;
  if (SmallVector<scf::ForOp> const more = loopsToShare(kernel); canBeTeam(kernel))
    for (scf::ForOp loop : more)
      makeParallel(rewriter, loop);
  if (!canBeTeam(kernel) || sharedLoops(kernel).empty() || !(isLaunch || isWorthTeam(kernel))) {
    kernel->removeAttr(nest::teamLoop);
    return false;
  }
  keepOneLevel(rewriter, kernel);
  for (scf::ParallelOp loop : sharedLoops(kernel)) {
    dropSteps(rewriter, loop);
    if (!isLaunch)
      hoistReads(kernel, loop);
  }
  gatherMemory(rewriter, kernel);
  markOfThreads(kernel);
  Accesses open;
  Barriers(rewriter).insert(kernel.getBody().front(), open);
  kernel.setPolicy(nest::Policy::Team);
  return true;
}

void leaveTeams(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  entry.walk([&](nest::LoopKernelOp kernel) {
    if (kernel.getPolicy() != nest::Policy::Team)
      return;
    (void)runRegionDCE(rewriter, kernel->getRegions());
    if (!sharedLoops(kernel).empty())
      return;
    kernel.walk([](nest::BarrierOp barrier) { barrier.erase(); });
    kernel->removeAttr(nest::teamLoop);
    kernel.setPolicy(kernel.getLowers().size() > 1 ? nest::Policy::MDRange : nest::Policy::Range);
  });
}

} // namespace ml2k
