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
#include "translator/ir/Identities.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

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
    splitReductions();
    if (failed(lowerBlock(entry.getBody().front())))
      return failure();
    SmallVector<nest::LoopKernelOp> kernels;
    entry.walk([&](nest::LoopKernelOp kernel) { kernels.push_back(kernel); });
    for (nest::LoopKernelOp kernel : kernels)
      if (failed(finishKernel(rewriter, kernel)))
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
          return isa<scf::ParallelOp>(inner) || isKernel(inner) || isLeft(inner) ? WalkResult::interrupt()
                                                                                 : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// forward() throws where it does not hold.
  bool isCheckOfSizes(Operation *op) const {
    auto check = dyn_cast<cf::AssertOp>(op);
    auto compare = check ? check.getArg().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
    return isNetwork && compare && compare.getLhs().getType().isIndex() && areHost(check->getOperands());
  }

  bool staysOnHost(Operation *op) const {
    if (isKernel(op) || isLeft(op) || isCheckOfSizes(op) || isReadBack(op))
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
            bool const isAccess = isa<memref::LoadOp, memref::StoreOp, memref::CopyOp>(inner);
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
      return areHost(op->getOperands().drop_back(loop.getNumResults())) &&
             llvm::all_of(reductionsOf(loop), [](Region &region) { return combinerOf(region).has_value(); });
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return areHost({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) && hasParallelism(op);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return hasParallelism(op) && llvm::none_of(loop->getOperandTypes(), llvm::IsaPred<MemRefType>) &&
             llvm::none_of(loop->getResultTypes(), llvm::IsaPred<MemRefType>);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return hasParallelism(op) && llvm::none_of(branch->getResultTypes(), llvm::IsaPred<MemRefType>);
    return false;
  }

  static MutableArrayRef<Region> reductionsOf(scf::ParallelOp loop) {
    return cast<scf::ReduceOp>(loop.getBody()->getTerminator()).getReductions();
  }

  /// Replaces `op` by what it becomes. The pending operations go in front.
  LogicalResult lowerHere(Operation *&op, SmallVectorImpl<Operation *> &pending) {
    if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
      std::string const label = nest::labelOf(loop).str();
      nest::LoopKernelOp kernel = lowerParallel(loop);
      op = kernel;
      if (failed(flush(pending)))
        return failure();
      kernel.setLabel(!label.empty() ? label : nameOf(kernel)); // after those in front of it
      return success();
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      op = carryInMemory(loop, pending);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      op = branchInMemory(branch, pending);
    if (auto loop = dyn_cast<scf::WhileOp>(op); loop && isDecidedOnHost(loop))
      nameCarried(loop);
    else if (loop && !isDecidedInMemory(loop))
      op = decideInMemory(loop, pending);
    if (failed(flush(pending)))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(lowerBlock(block)))
          return failure();
    return success();
  }

  //===--- Kernels ---===//

  /// A kernel has reductions of one type over one loop: another loop with several becomes several loops, the last of
  /// which writes what it did.
  void splitReductions() {
    SmallVector<scf::ParallelOp> loops;
    entry.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
      bool const isKernel = loop.getNumLoops() == 1 && llvm::all_equal(loop.getResultTypes());
      if (loop.getNumResults() > 1 && !isKernel && readsBeforeItWrites(loop))
        loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ParallelOp loop : loops) {
      for (OpResult result : loop.getResults()) {
        scf::ParallelOp part = reductionAlone(loop, result.getResultNumber());
        result.replaceAllUsesWith(part.getResult(0));
        if (result.getResultNumber() + 1 < loop.getNumResults())
          eraseWrites(part);
      }
      rewriter.eraseOp(loop);
    }
  }

  /// Whether an iteration finds in memory what was there before the loop: loads of what it writes come first.
  static bool readsBeforeItWrites(scf::ParallelOp loop) {
    SmallVector<Value> written;
    bool isPlain = true;
    loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto store = dyn_cast<memref::StoreOp>(op)) {
        written.push_back(store.getMemref());
        isPlain &= op->getBlock() == loop.getBody();
      } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
        isPlain &= llvm::none_of(written, [&](Value memref) { return mayAlias(memref, load.getMemref()); });
      } else {
        isPlain &= isa<scf::ReduceOp, scf::ReduceReturnOp, scf::YieldOp, scf::IfOp, scf::ForOp>(op) || isPure(op);
      }
    });
    return isPlain || written.empty();
  }

  void eraseWrites(scf::ParallelOp loop) {
    SmallVector<memref::StoreOp> stores(loop.getBody()->getOps<memref::StoreOp>());
    for (memref::StoreOp store : stores)
      rewriter.eraseOp(store);
  }

  scf::ParallelOp reductionAlone(scf::ParallelOp loop, unsigned place) {
    rewriter.setInsertionPoint(loop);
    auto part = rewriter.create<scf::ParallelOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                                 loop.getStep(), ValueRange(loop.getInitVals()[place]));
    part->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    IRMapping values;
    for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), part.getBody()->getArguments())) {
      to.setLoc(from.getLoc());
      values.map(from, to);
    }
    rewriter.setInsertionPointToEnd(part.getBody());
    for (Operation &op : loop.getBody()->without_terminator())
      rewriter.clone(op, values);
    auto all = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
    auto reduce =
        rewriter.create<scf::ReduceOp>(all.getLoc(), ValueRange(values.lookupOrDefault(all.getOperands()[place])));
    Block &from = all.getReductions()[place].front(), &to = reduce.getReductions()[0].front();
    rewriter.setInsertionPointToEnd(&to);
    IRMapping joined;
    joined.map(from.getArguments(), to.getArguments());
    for (Operation &op : from)
      rewriter.clone(op, joined);
    return part;
  }

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
        replaceByLoads(result, into.back(), start ? std::nullopt : std::optional(combiner), initial,
                       locationOf(result));
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

  /// With the name of the result.
  Location named(Location location, StringRef verb, StringRef name) {
    return NameLoc::get(rewriter.getStringAttr((verb + " \"" + name + "\"").str()), location);
  }
  Location locationOf(OpResult result) {
    return result.getOwner()->getNumResults() == 1 ? result.getLoc()
                                                   : named(result.getLoc(), "reduction", nameOfReduction(result));
  }

  static std::string nameOrReduced(OpResult result) {
    std::string const name = nameOfReduction(result);
    return name.empty() ? "reduced" : name;
  }

  static std::string nameOf(Value value, StringRef otherwise) {
    std::string const name = nameInLocation(value.getLoc());
    return name.empty() ? otherwise.str() : name;
  }

  /// Every use of a kernel's scalar reads it from memory, where the use is.
  void replaceByLoads(Value value, Value memory, std::optional<Combiner> combiner = {}, Value initial = {},
                      std::optional<Location> location = {}) {
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value loaded = rewriter.create<memref::LoadOp>(location.value_or(value.getLoc()), memory);
      if (combiner && !isIdentity(*combiner, initial))
        loaded = nest::join(rewriter, value.getLoc(), *combiner, initial, loaded);
      use.set(loaded);
    }
  }

  /// The name of the layer, with its operation where another kernel has that; those of loop programs, and third ones of
  /// a layer, are called after what they write.
  std::string nameOf(nest::LoopKernelOp kernel) {
    std::string const layer = isNetwork ? nameFromLocation(kernel.getLoc()) : "";
    if (!layer.empty())
      for (std::string const &label : {layer, layer + "." + operationFromLocation(kernel.getLoc())})
        if (labels.take(label))
          return label;
    return labelFor(kernel, labels);
  }

  /// The pending operations become a kernel of one iteration, where the last of them stands.
  LogicalResult flush(SmallVectorImpl<Operation *> &pending) {
    if (pending.empty())
      return success();
    rewriter.setInsertionPointAfter(pending.back());
    Location const location = pending.front()->getLoc();
    auto kernel = rewriter.create<nest::LoopKernelOp>(
        location, rewriter.getStringAttr(""), nest::PolicyAttr::get(rewriter.getContext(), nest::Policy::Range),
        ValueRange(), ValueRange(), ValueRange(), rewriter.getArrayAttr({}), noteOf(pending), DenseBoolArrayAttr(),
        TypedAttr());
    rewriter.createBlock(&kernel.getBody());
    auto yield = rewriter.create<nest::YieldOp>(location, ValueRange());
    for (Operation *op : pending)
      rewriter.moveOpBefore(op, yield);
    kernel.setLabel(nameOf(kernel));
    for (Operation *op : pending)
      for (Value result : op->getResults())
        if (failed(spill(result, kernel)))
          return failure();
    pending.clear();
    return success();
  }

  static StringAttr noteOf(ArrayRef<Operation *> pending) {
    for (Operation *op : pending)
      if (auto note = op->getAttrOfType<StringAttr>("nest.note"))
        return note;
    return {};
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
    Value const memory = makeScalar(entry, value.getType(), nameOf(value, "scalar"));
    rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
    rewriter.create<memref::StoreOp>(value.getLoc(), value, memory, ValueRange());
    for (OpOperand *use : outside) {
      rewriter.setInsertionPoint(use->getOwner());
      use->set(rewriter.create<memref::LoadOp>(value.getLoc(), memory));
    }
    return success();
  }

  //===--- Loops on the host ---===//

  /// Scalars that a host loop carries live in memory; memrefs it may exchange.
  scf::ForOp carryInMemory(scf::ForOp loop, SmallVectorImpl<Operation *> &pending) {
    SmallVector<unsigned> scalars;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (!isa<MemRefType>(loop.getRegionIterArg(i).getType()))
        scalars.push_back(i);
    return scalars.empty() ? loop : carryInMemory(loop, scalars, pending);
  }

  scf::ForOp carryInMemory(scf::ForOp loop, ArrayRef<unsigned> scalars, SmallVectorImpl<Operation *> &pending) {
    SmallVector<Value> memories, kept, keptYields, keptResults;
    for (unsigned i : scalars) {
      Value const carried = loop.getRegionIterArg(i);
      memories.push_back(makeScalar(entry, carried.getType(), nameOf(carried, "carried")));
      rewriter.setInsertionPoint(loop);
      pending.push_back(
          rewriter.create<memref::StoreOp>(loop.getLoc(), loop.getInitArgs()[i], memories.back(), ValueRange()));
      onDevice.insert(pending.back());
      replaceByLoads(carried, memories.back());
      replaceByLoads(loop.getResult(i), memories.back());
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
      replacements.push_back(llvm::is_contained(scalars, i) ? lean.getInductionVar()
                                                            : Value(lean.getRegionIterArg(k++)));
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
  scf::IfOp branchInMemory(scf::IfOp branch, SmallVectorImpl<Operation *> &pending) {
    if (!isHost(branch.getCondition())) {
      Value const decision = makeScalar(entry, rewriter.getI1Type(), nameOf(branch.getCondition(), "decision"));
      storePending(branch.getCondition(), decision, branch, pending);
      rewriter.setInsertionPoint(branch);
      branch.getConditionMutable().assign(rewriter.create<memref::LoadOp>(branch.getLoc(), decision));
    }
    if (branch.getNumResults() == 0)
      return branch;
    for (OpResult result : branch.getResults()) {
      Value const memory = makeScalar(entry, result.getType(), nameOf(result, "chosen"));
      for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
        Operation *const yield = block->getTerminator();
        rewriter.setInsertionPoint(yield);
        rewriter.create<memref::StoreOp>(yield->getLoc(), yield->getOperand(result.getResultNumber()), memory);
      }
      replaceByLoads(result, memory);
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

  void storePending(Value value, Value memory, Operation *before, SmallVectorImpl<Operation *> &pending) {
    rewriter.setInsertionPoint(before);
    pending.push_back(rewriter.create<memref::StoreOp>(before->getLoc(), value, memory, ValueRange()));
    onDevice.insert(pending.back());
  }

  /// The memory of each value that the loop carries or hands from its condition to its body: one for both where they
  /// are the same.
  SmallVector<Value> memoriesOf(scf::WhileOp loop, ArrayRef<Value> carried) {
    return llvm::map_to_vector(llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments()), [&](auto pair) {
      auto const [passed, argument] = pair;
      auto const same = dyn_cast<BlockArgument>(passed);
      if (same && same.getOwner() == loop.getBeforeBody())
        return carried[same.getArgNumber()];
      return makeScalar(entry, passed.getType(), nameOf(argument, "passed"));
    });
  }

  /// A single number that kernels compute: the host could read it back.
  static bool isDeviceScalar(Value value) {
    auto load = value.getDefiningOp<memref::LoadOp>();
    return value.getDefiningOp<scf::ParallelOp>() || (load && load.getMemRefType().getRank() == 0);
  }

  /// Whether the host computes `value` from what it knows or carries, and from what it reads back.
  static bool isOfHost(Value value, scf::WhileOp loop, llvm::SmallDenseSet<Value> &readBack) {
    Type const type = value.getType();
    if (!type.isInteger(1) && !type.isInteger(32) && !type.isInteger(64) && !type.isF32() && !type.isF64() &&
        !type.isIndex())
      return false;
    if (auto const argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp()) || argument.getOwner()->getParentOp() == loop;
    if (isDeviceScalar(value))
      return readBack.insert(value).second || true;
    Operation *op = value.getDefiningOp();
    return (isHostScalar(op) || isHostCount(op)) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isOfHost(operand, loop, readBack); });
  }

  /// A loop whose numbers the host carries: a few of them come from kernels, and are read back once a round.
  static bool isDecidedOnHost(scf::WhileOp loop) {
    constexpr unsigned most = 4; // copies for one wait
    llvm::SmallDenseSet<Value> first, next, none;
    auto const all = [&](ValueRange values, llvm::SmallDenseSet<Value> &readBack) {
      return llvm::all_of(values, [&](Value value) { return isOfHost(value, loop, readBack); });
    };
    scf::ConditionOp condition = loop.getConditionOp();
    bool const passesOn = llvm::all_of(condition.getArgs(), [&](Value passed) {
      auto const argument = dyn_cast<BlockArgument>(passed);
      return argument && argument.getOwner() == loop.getBeforeBody();
    });
    bool const decides = llvm::all_of(loop.getBeforeBody()->without_terminator(), isPureOp);
    return loop.getNumResults() != 0 && passesOn && decides && all(loop.getInits(), first) &&
           all(loop.getYieldOp().getOperands(), next) && all(condition.getCondition(), none) && first.size() <= most &&
           !next.empty() && next.size() <= most && none.empty() && areDirect(loop.getInits(), first) &&
           areDirect(loop.getYieldOp().getOperands(), next);
  }

  /// What bufferization left without a name is called as it is at first.
  void nameCarried(scf::WhileOp loop) {
    for (auto [carried, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits()))
      if (std::string const name = nameInLocation(init.getLoc());
          !name.empty() && (carried.getLoc() == loop.getLoc() || nameInLocation(carried.getLoc()).empty()))
        carried.setLoc(named(carried.getLoc(), "argument", name));
  }

  static bool isPureOp(Operation &op) { return isPure(&op) && op.getNumRegions() == 0; }

  /// What is read back is carried as it is, by one of the values.
  static bool areDirect(ValueRange values, llvm::SmallDenseSet<Value> const &readBack) {
    return llvm::all_of(readBack, [&](Value value) { return llvm::count(values, value) == 1; }) &&
           llvm::all_of(values, [&](Value value) {
             Operation *op = value.getDefiningOp();
             return readBack.contains(value) || !op || isPure(op);
           });
  }

  static bool isDecidedInMemory(scf::WhileOp loop) {
    return loop.getInits().empty() && loop->getNumResults() == 0 &&
           isReadBack(loop.getConditionOp().getCondition().getDefiningOp());
  }

  /// Scalars and the condition of a host loop live in memory: kernels compute them, the host reads the condition back.
  scf::WhileOp decideInMemory(scf::WhileOp loop, SmallVectorImpl<Operation *> &pending) {
    SmallVector<Value> const carried = llvm::map_to_vector(loop.getBeforeArguments(), [&](BlockArgument argument) {
      return makeScalar(entry, argument.getType(), nameOf(argument, "carried"));
    });
    SmallVector<Value> const passed = memoriesOf(loop, carried);
    for (auto [init, memory] : llvm::zip(loop.getInits(), carried))
      storePending(init, memory, loop, pending);
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
      replaceByLoads(argument, memory);
    for (auto [argument, result, memory] : llvm::zip(loop.getAfterArguments(), loop.getResults(), passed)) {
      replaceByLoads(argument, memory);
      replaceByLoads(result, memory);
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

  func::FuncOp entry;
  bool isNetwork;
  IRRewriter rewriter;
  UniqueNames labels;
  DenseSet<Operation *> onDevice; ///< gathered into kernels
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
    }
    if (failed(Lowering(entry, isNetwork).run()))
      return signalPassFailure();
    if (isNetwork)
      return;
    foldScalars(entry);
    nameDims(entry);
    markOutputs(entry);
  }
};

} // namespace
} // namespace ml2k
