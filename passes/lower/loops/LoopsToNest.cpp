//===- LoopsToNest.cpp - loop programs to kernels and the host code between them ----------------------------------===//
//
// What stays on the host: sizes, loop bounds, and sequential loops around parallel ones. Each outermost parallel loop
// is a kernel; what lies between (loads, stores, sequential loops) is gathered into kernels of one iteration. Scalars
// that one kernel computes and another one needs go through a member of the workspace, so that nothing waits for the
// device. In a network the same happens to what its layers left as loops over elements; its buffers are named and
// placed later.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LoopsToNest.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/HostLoops.h"
#include "passes/lower/loops/Scans.h"
#include "passes/lower/loops/SmallLoops.h"
#include "translator/ir/Identities.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_LOOPSTONEST
#include "passes/Passes.h.inc"

namespace {

class Lowering {
public:
  Lowering(func::FuncOp entry, bool isNetwork) : entry(entry), isNetwork(isNetwork), rewriter(entry.getContext()) {
    entry.walk([&](Operation *op) {
      if (StringRef const label = nest::labelOf(op); !label.empty())
        labels.take(label);
    });
  }

  LogicalResult run() {
    splitReductions(entry);
    if (!isNetwork)
      keepInOneThread();
    if (failed(lowerBlock(entry.getBody().front())))
      return failure();
    SmallVector<nest::LoopKernelOp> kernels;
    entry.walk([&](nest::LoopKernelOp kernel) { kernels.push_back(kernel); });
    for (nest::LoopKernelOp kernel : kernels)
      if (failed(numberMemory(kernel)) || failed(finishKernel(rewriter, kernel)))
        return failure();
    return success();
  }

private:
  //===--- What stays on the host ---===//

  bool isHost(Value value) const { return !value.getDefiningOp() || !onDevice.contains(value.getDefiningOp()); }
  bool areHost(ValueRange values) const {
    return llvm::all_of(values, [&](Value v) { return isHost(v); });
  }

  static bool isKernel(Operation *op) { return isa<nest::Kernel, nest::BufferOp, nest::WeightOp>(op); }

  /// Copies and buffers of a network become kernels and members later.
  bool isLeft(Operation *op) const { return isNetwork && isa<memref::CopyOp, memref::AllocOp>(op); }

  bool hasParallelism(Operation *op) const {
    return op
        ->walk([&](Operation *inner) {
          auto parallel = dyn_cast<scf::ParallelOp>(inner);
          bool const isKnown = parallel && (llvm::none_of(boundsOf(parallel), isLoaded) || waitsForBounds(parallel));
          bool const isParallel = (isKnown && !isSmall(parallel)) || inner->hasAttr(scanLoop);
          return isParallel || isKernel(inner) || isLeft(inner) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// As many as memory has elements along something, or as a loop around has made: no number of the caller's.
  static bool isOfSizes(Value value, unsigned depth = 8) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return bool(scf::getForInductionVarOwner(value));
    if (isa<memref::DimOp>(op) || getConstantIntValue(value))
      return true;
    bool const isSum = isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp, arith::IndexCastOp>(op);
    return depth > 0 && isSum &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isOfSizes(operand, depth - 1); });
  }

  static bool isOfSizes(ValueRange values) {
    return llvm::all_of(values, [](Value value) { return isOfSizes(value); });
  }

  /// One loop that joins terms.
  static bool isPlainSum(scf::ParallelOp loop) {
    return loop.getNumLoops() == 1 && loop.getNumResults() > 0 &&
           isOfSizes({loop.getLowerBound()[0], loop.getUpperBound()[0]}) &&
           llvm::none_of(*loop.getBody(), [](Operation &op) { return isa<LoopLikeOpInterface>(op); });
  }

  /// Whether all that is parallel in a loop are sums along rows, and the loop is in another one that is as long: a
  /// launch for each of n * n sums of n terms takes longer than the sum.
  static bool hasOnlySums(scf::ForOp loop) {
    auto around = loop->getParentOfType<scf::ForOp>();
    if (!around || !isOfSizes({loop.getLowerBound(), loop.getUpperBound()}) ||
        !isOfSizes({around.getLowerBound(), around.getUpperBound()}))
      return false;
    return !loop.walk([&](Operation *op) {
                  auto parallel = dyn_cast<scf::ParallelOp>(op);
                  bool const stops = (parallel && !isPlainSum(parallel)) || op->hasAttr(scanLoop) || isKernel(op) ||
                                     isa<memref::AllocOp, memref::AllocaOp, nest::CallOp, scf::WhileOp>(op);
                  return stops ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }

  /// Loops whose steps are rows that elements choose; their temporary memory, of a size that the host knows, is made in
  /// front of them.
  void keepInOneThread() {
    entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop || !hasOnlyChosenRows(loop))
        return isa<scf::ParallelOp>(op) ? WalkResult::skip() : WalkResult::advance();
      SmallVector<memref::AllocOp> made;
      loop.walk([&](memref::AllocOp alloc) { made.push_back(alloc); });
      if (!llvm::all_of(made, [&](memref::AllocOp alloc) {
            return llvm::all_of(alloc->getOperands(), [&](Value size) { return loop.isDefinedOutsideOfLoop(size); });
          }))
        return WalkResult::advance();
      for (memref::AllocOp alloc : made)
        alloc->moveBefore(loop);
      inOneThread.insert(loop);
      return WalkResult::skip();
    });
  }

  /// forward() throws where it does not hold.
  bool isCheckOfSizes(Operation *op) const {
    auto check = dyn_cast<cf::AssertOp>(op);
    auto compare = check ? check.getArg().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
    return compare && compare.getLhs().getType().isIndex() && areHost(check->getOperands());
  }

  bool staysOnHost(Operation *op) const {
    if (isKernel(op) || isLeft(op) || isCheckOfSizes(op) || isReadBack(op) || isHostNumber(op))
      return true;
    bool const view = isa<ViewLikeOpInterface>(op) || isRecomputable(op);
    return view && areHost(op->getOperands());
  }

  //===--- Blocks ---===//

  LogicalResult lowerBlock(Block &block) {
    SmallVector<Operation *> pending;
    for (Operation *op = &block.front(); op; op = op->getNextNode()) {
      if (op->hasTrait<OpTrait::IsTerminator>())
        return flush(pending);
      if (staysOnHost(op)) {
        if (needsFirst(op, pending) && failed(flush(pending)))
          return failure();
        continue;
      }
      if (isa<memref::AllocOp, memref::AllocaOp>(op) && areHost(op->getOperands())) {
        Operation *const before = op->getPrevNode();
        FailureOr<nest::BufferOp> buffer = makeBuffer(entry, op);
        if (failed(buffer))
          return failure();
        op = before ? before : buffer->getOperation();
      } else if (splitsHere(op)) {
        if (failed(lowerHere(op, pending)))
          return failure();
      } else {
        onDevice.insert(op);
        pending.push_back(op);
      }
    }
    return success();
  }

  /// Whether the pending operations have to run before a kernel, or a copy: it uses what they compute or write, or
  /// writes what they read.
  bool needsFirst(Operation *kernel, ArrayRef<Operation *> pending) const {
    if (pending.empty() || !(isa<nest::Kernel>(kernel) || isLeft(kernel)))
      return false;
    llvm::SmallPtrSet<Operation *, 8> const gathered(pending.begin(), pending.end());
    SmallVector<Value> memory;
    bool uses = false;
    kernel->walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        uses |= operand.getDefiningOp() && gathered.contains(operand.getDefiningOp());
        if (isa<MemRefType>(operand.getType()))
          memory.push_back(operand);
      }
    });
    auto const isTouched = [&](Operation *op) {
      return op
          ->walk([&](Operation *inner) {
            bool const isAccess = isa<memref::LoadOp, memref::StoreOp, memref::CopyOp, nest::CallOp>(inner);
            return isAccess && llvm::any_of(memory, [&](Value memref) { return touches(inner, memref); })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
    };
    return uses || llvm::any_of(pending, isTouched);
  }

  /// Operations that become kernels, or host code around kernels, of their own.
  bool splitsHere(Operation *op) const {
    if (auto loop = dyn_cast<scf::ParallelOp>(op))
      return (areHost(op->getOperands().drop_back(loop.getNumResults())) || waitsForBounds(loop)) &&
             llvm::all_of(reductionsOf(loop), [](Region &region) { return combinerOf(region).has_value(); });
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return areHost({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) && hasParallelism(op) &&
             (isNetwork || (!hasOnlySums(loop) && !inOneThread.contains(loop)));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return hasParallelism(op) && HostLoops::mayCarry(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return hasParallelism(op) && llvm::none_of(branch->getResultTypes(), llvm::IsaPred<MemRefType>);
    return false;
  }

  static ValueRange boundsOf(scf::ParallelOp loop) { return loop->getOperands().take_front(2 * loop.getNumLoops()); }

  /// Whether the host reads back how long a loop is that kernels compute: once, where it is declared to be parallel, or
  /// where its iterations have loops themselves. Others may be rows of a few elements, which one thread has made by
  /// then.
  bool waitsForBounds(scf::ParallelOp loop) const {
    bool const isOnce = !loop->getParentOfType<LoopLikeOpInterface>(), isDeclared = !loop->hasAttr("nest.note");
    bool const hasLoops = llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<LoopLikeOpInterface>(op); });
    return !isNetwork && (isOnce || (isDeclared && loop.getNumResults() == 0) || hasLoops) && areHost(loop.getStep()) &&
           areHost(loop.getInitVals());
  }

  LogicalResult readBackBounds(scf::ParallelOp loop, SmallVectorImpl<Operation *> &pending) {
    if (areHost(boundsOf(loop)))
      return success();
    auto const isNumber = llvm::map_to_vector(boundsOf(loop), [&](Value bound) { return !isHost(bound); });
    for (auto [place, bound] : llvm::enumerate(boundsOf(loop)))
      if (isNumber[place] && nameInLocation(bound.getLoc()).empty())
        bound.setLoc(namedLocation(bound.getLoc(), "bound", place < loop.getNumLoops() ? "begin" : "end"));
    if (failed(flush(pending, "bounds"))) // which stores them, and loads them for the loop
      return failure();
    for (auto [bound, is] : llvm::zip(boundsOf(loop), isNumber))
      if (is)
        bound.getDefiningOp()->setAttr(hostNumber, rewriter.getUnitAttr());
    return success();
  }

  static MutableArrayRef<Region> reductionsOf(scf::ParallelOp loop) {
    return cast<scf::ReduceOp>(loop.getBody()->getTerminator()).getReductions();
  }

  /// Replaces `op` by what it becomes. The pending operations go in front.
  LogicalResult lowerHere(Operation *&op, SmallVectorImpl<Operation *> &pending) {
    if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
      if (failed(readBackBounds(loop, pending)))
        return failure();
      std::string const label = nest::labelOf(loop).str();
      nest::LoopKernelOp kernel = lowerParallel(loop);
      op = kernel;
      if (failed(flush(pending)))
        return failure();
      kernel.setLabel(!label.empty() ? label : nameOf(kernel)); // after those in front of it
      return success();
    }
    if (op->hasAttr(scanLoop)) {
      if (failed(flush(pending)))
        return failure();
      SmallVector<Operation *> alone = {op};
      if (failed(gather(alone)))
        return failure();
      op = op->getParentOp();
      return success();
    }
    HostLoops host(entry, rewriter, [&](Operation *store) {
      pending.push_back(store);
      onDevice.insert(store);
    });
    if (auto loop = dyn_cast<scf::ForOp>(op))
      op = host.carry(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      op = host.carry(branch, isHost(branch.getCondition()));
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      op = host.carry(loop);
    if (failed(flush(pending)))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(lowerBlock(block)))
          return failure();
    return success();
  }

  //===--- Kernels ---===//

  /// The constant that every thread may begin with: what a value joined with itself leaves as it is.
  static TypedAttr startOf(nest::Combiner combiner, Value initial) {
    TypedAttr constant;
    return isIdempotent(combiner) && matchPattern(initial, m_Constant(&constant)) ? constant : TypedAttr();
  }

  nest::LoopKernelOp lowerParallel(scf::ParallelOp loop) {
    SmallVector<Value> into;
    TypedAttr start;
    for (OpResult result : loop.getResults()) {
      unsigned const place = result.getResultNumber();
      Combiner const combiner = *combinerOf(reductionsOf(loop)[place]);
      Value const initial = loop.getInitVals()[place];
      bool const isNeutral = isIdentity(combiner, initial);
      if (!isNeutral && loop.getNumResults() == 1)
        start = startOf(combiner, initial);
      memref::StoreOp store = isNeutral || start ? onlyStore(result) : memref::StoreOp();
      into.push_back(store ? store.getMemref() : makeScalar(entry, result.getType(), nameOrReduced(result)));
      if (store)
        rewriter.eraseOp(store);
      else
        replaceByLoads(rewriter, result, into.back(), locationOf(result), [&](Value loaded) {
          bool const isWhole = start || isNeutral;
          return isWhole ? loaded : nest::join(rewriter, result.getLoc(), combiner, initial, loaded);
        });
    }
    nest::LoopKernelOp kernel = makeKernel(rewriter, loop, into);
    kernel.setStartAttr(start);
    rewriter.eraseOp(loop);
    return kernel;
  }

  /// The store of a reduction to a scalar of the caller or the workspace that nothing else between the two looks at:
  /// the kernel can write there.
  static memref::StoreOp onlyStore(OpResult reduced) {
    auto store = reduced.hasOneUse() ? dyn_cast<memref::StoreOp>(*reduced.getUsers().begin()) : memref::StoreOp();
    if (!store || store->getBlock() != reduced.getOwner()->getBlock() || store.getMemRefType().getRank() != 0 ||
        store.getValue() != reduced || !isa<func::FuncOp>(store.getMemref().getParentBlock()->getParentOp()) ||
        !(isa<BlockArgument>(store.getMemref()) || store.getMemref().getDefiningOp<nest::BufferOp>()))
      return {};
    for (Operation *op = reduced.getOwner(); op != store; op = op->getNextNode())
      if (op->walk([&](Operation *inner) {
              return touches(inner, store.getMemref()) ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted())
        return {};
    return store;
  }

  static bool touches(Operation *op, Value memref) {
    return llvm::any_of(op->getOperands(),
                        [&](Value v) { return isa<MemRefType>(v.getType()) && mayAlias(v, memref); });
  }

  using Combiner = nest::Combiner;

  Location locationOf(OpResult result) {
    std::string const name = nameOfReduction(result);
    bool const isNamed = !nameInLocation(result.getLoc()).empty(); // else a line of Python
    return result.getOwner()->getNumResults() == 1 || name.empty() || !isNamed
               ? result.getLoc()
               : namedLocation(result.getLoc(), "reduction", name);
  }

  static std::string nameOrReduced(OpResult result) {
    std::string const name = nameOfReduction(result);
    return name.empty() ? "reduced" : name;
  }

  /// The name of the layer, with its operation where another kernel has that; those of loop programs, and third ones of
  /// a layer, are called after what they write.
  std::string nameOf(nest::LoopKernelOp kernel, StringRef otherwise = "loop") {
    std::string const layer = isNetwork ? nameFromLocation(kernel.getLoc()) : "";
    if (!layer.empty())
      for (std::string const &label : {layer, layer + "." + operationFromLocation(kernel.getLoc())})
        if (labels.take(label))
          return label;
    return labelFor(kernel, labels, otherwise);
  }

  /// The pending operations become a kernel of one iteration, where the last of them stands.
  LogicalResult flush(SmallVectorImpl<Operation *> &pending, StringRef otherwise = "loop") {
    for (Operation *op : pending)
      op->walk([&](Operation *inner) {
        if (inner->removeAttr(scanLoop))
          inner->setAttr("nest.note", unknownLength());
      });
    return gather(pending, otherwise);
  }

  LogicalResult gather(SmallVectorImpl<Operation *> &pending, StringRef otherwise = "loop") {
    if (pending.empty())
      return success();
    rewriter.setInsertionPointAfter(pending.back());
    auto const [note, noted] = noteOf(pending);
    Location const location = (noted ? noted : pending.front())->getLoc();
    auto kernel = rewriter.create<nest::LoopKernelOp>(
        location, rewriter.getStringAttr(""), nest::PolicyAttr::get(rewriter.getContext(), nest::Policy::Range),
        ValueRange(), ValueRange(), ValueRange(), rewriter.getArrayAttr({}), note, DenseBoolArrayAttr(), TypedAttr());
    rewriter.createBlock(&kernel.getBody());
    auto yield = rewriter.create<nest::YieldOp>(location, ValueRange());
    for (Operation *op : pending)
      rewriter.moveOpBefore(op, yield);
    kernel.setLabel(nameOf(kernel, otherwise));
    for (Operation *op : pending)
      for (Value result : op->getResults())
        if (failed(spill(result, kernel)))
          return failure();
    pending.clear();
    return success();
  }

  StringAttr unknownLength() { return rewriter.getStringAttr("sequential: the host does not know how long it runs"); }

  /// What one thread is to say of the loops that it makes, and the first of these.
  std::pair<StringAttr, Operation *> noteOf(ArrayRef<Operation *> pending) {
    std::pair<StringAttr, Operation *> found;
    for (Operation *op : pending)
      op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
        auto const note = inner->getAttrOfType<StringAttr>("nest.note");
        bool const isParallel =
            (!note || note.getValue().starts_with("parallel")) && !inner->hasAttr(scanLoop); // which stays parallel
        if (!found.second && (note || isa<scf::ParallelOp>(inner)))
          found = {isParallel ? unknownLength() : note, inner};
      });
    return found;
  }

  /// A result that is used after its kernel is stored in it and loaded at each use.
  LogicalResult spill(Value value, nest::LoopKernelOp kernel) {
    SmallVector<OpOperand *> outside;
    for (OpOperand &use : value.getUses())
      if (!kernel->isProperAncestor(use.getOwner()))
        outside.push_back(&use);
    if (outside.empty())
      return success();
    if (isa<MemRefType>(value.getType()))
      return value.getDefiningOp()->emitError("memory that is chosen or made while the program runs is not supported");
    Value const memory = makeScalar(entry, value.getType(), nameOr(value, "scalar"));
    rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
    rewriter.create<memref::StoreOp>(value.getLoc(), value, memory, ValueRange());
    for (OpOperand *use : outside) {
      rewriter.setInsertionPoint(use->getOwner());
      use->set(rewriter.create<memref::LoadOp>(value.getLoc(), memory));
    }
    return success();
  }

  func::FuncOp entry;
  bool isNetwork;
  IRRewriter rewriter;
  UniqueNames labels;
  DenseSet<Operation *> onDevice;    ///< gathered into kernels
  DenseSet<Operation *> inOneThread; ///< sequential loops that are no loops of the host
};

struct LoopsToNest : impl::LoopsToNestBase<LoopsToNest> {
  /// What was on tensors has its results among the arguments.
  static bool hasOutputs(func::FuncOp entry) {
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (entry.getArgAttr(i, "nest.output"))
        return true;
    return false;
  }

  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (failed(lowerGlobals(entry)))
      return signalPassFailure();
    bool const isNetwork = hasOutputs(entry);
    if (!isNetwork && (failed(resultsToArguments(entry)) || failed(lowerCopies(entry))))
      return signalPassFailure();
    if (!isNetwork) {
      forwardScalars(entry);
      fuseLoops(entry);
      sinkLoops(entry);
      keepSums(entry);
      sinkLoads(entry);
      shareLoads(entry);
    }
    if (failed(Lowering(entry, isNetwork).run()))
      return signalPassFailure();
    if (isNetwork)
      return;
    foldScalars(entry);
    leaveTeams(entry);
    nameDims(entry);
    markOutputs(entry);
  }
};

} // namespace
} // namespace ml2k
