//===- FormStrips.cpp - kernels that go down the rows of a matrix with many columns at once -----------------------===//
//
// An iteration that walks down a column touches a line of memory at each step and uses one element of it; its
// neighbours want the others. Where they may, all columns of a strip take each step together: the loop over them goes
// inside, along memory. What a column carries from step to step, or one statement leaves for another, gets memory of
// its own for each column. The iterations of a kernel do not depend on each other, so any order of theirs is as good.
//
// An iteration whose every step waits for the one before it, a sum in order along a row or a recurrence, leaves most of
// a processor idle: a few such iterations, side by side, take their steps together. Those are strips, too, whose
// columns have a register each.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/prepare/Prepare.h"
#include "passes/prepare/StripCandidate.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/StoredRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORMSTRIPS
#include "passes/prepare/Passes.h.inc"

static constexpr int mostAccesses = 64; ///< of a loop inside: each is compared with each

//===--- Which kernels --------------------------------------------------------------------------------------------===//

namespace {
/// Whether iterations of the kernel may be changed at all.
bool isPlain(nest::LoopKernelOp kernel) {
  return kernel.getInto().empty() && !kernel.getOrdered() && kernel.getPolicy() != nest::Policy::Team &&
         !nest::scheduleOf(kernel) && !nest::storedRowsOf(kernel) && !nest::hasAtomicUpdates(kernel);
}

void mark(ArrayRef<scf::ForOp> loops) {
  for (scf::ForOp loop : loops)
    loop->setAttr(nest::stripLoop, UnitAttr::get(loop.getContext()));
}

//===--- Memory of each column ------------------------------------------------------------------------------------===//

class Strips {
public:
  explicit Strips(Operation *owner) : owner(owner), rewriter(owner->getContext()) {}

  void form() {
    SmallVector<scf::ForOp> loops;
    owner->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (loop->hasAttr(nest::stripLoop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) // from outside: a loop inside may go on with what the one around it carries
      keepCarried(loop);
    numberSegments(owner->getRegion(0).front());
    keepArrays();
    values.emplace(owner);
    keepResults();
  }

private:
  /// Memory for `value` of each column.
  Value makeCell(Value value, Operation *before) {
    rewriter.setInsertionPoint(before);
    auto cell = rewriter.create<memref::AllocaOp>(locationOfCell(value), MemRefType::get({}, value.getType()));
    cell->setAttr(nest::ofColumns, rewriter.getUnitAttr());
    return cell;
  }

  /// `argument "sum"` names a value that a loop carries, `alloca "sum"` its memory.
  Location locationOfCell(Value value) {
    auto const location = dyn_cast<NameLoc>(value.getLoc());
    StringRef const text = location ? location.getName().getValue() : "";
    size_t const quote = text.find(" \"");
    if (quote == StringRef::npos)
      return value.getLoc();
    StringRef const name = text.substr(quote + 2).drop_back(), base = name.rtrim("0123456789");
    bool const isNumbered = base.size() < name.size() && base.size() > 1 && base.ends_with("_"); // a value of `base`
    return NameLoc::get(rewriter.getStringAttr("alloca \"" + (isNumbered ? base.drop_back() : name) + "\""),
                        location.getChildLoc());
  }

  /// The memory of what the loop in front has carried, or of what the one around carries, if this one goes on with that
  /// and nobody else does.
  Value cellBefore(scf::ForOp loop, unsigned place) {
    auto load = loop.getInitArgs()[place].getDefiningOp<memref::LoadOp>();
    if (load && ends.contains(load) && load->hasOneUse() && load->getBlock() == loop->getBlock())
      return load.getMemref();
    Value const result = loop.getResult(place);
    auto store = result.hasOneUse() ? dyn_cast<memref::StoreOp>(*result.user_begin()) : memref::StoreOp();
    auto const cell = load ? load.getMemref().getDefiningOp<memref::AllocaOp>() : memref::AllocaOp();
    bool const goesOn = cell && cell->hasAttr(nest::ofColumns) && store && load->hasOneUse() &&
                        store.getMemref() == load.getMemref() && load->getBlock() == loop->getBlock() &&
                        store->getBlock() == loop->getBlock();
    if (!goesOn)
      return {};
    rewriter.eraseOp(store);
    return load.getMemref();
  }

  void keepCarried(scf::ForOp loop) {
    if (loop.getNumResults() == 0)
      return;
    SmallVector<Value> cells;
    SmallVector<bool> areOwn;
    for (unsigned place = 0; place < loop.getNumResults(); ++place) {
      BlockArgument const carried = loop.getRegionIterArg(place);
      Value cell = cellBefore(loop, place);
      areOwn.push_back(!cell || ends.contains(loop.getInitArgs()[place].getDefiningOp()));
      if (!cell) {
        cell = makeCell(carried, loop);
        rewriter.create<memref::StoreOp>(loop.getLoc(), loop.getInitArgs()[place], cell);
      }
      cells.push_back(cell);
    }
    rewriter.setInsertionPoint(loop);
    auto bare = rewriter.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    bare->setAttrs(loop->getAttrs());
    rewriter.eraseOp(bare.getBody()->getTerminator());
    SmallVector<Value> arguments = {bare.getInductionVar()};
    SmallVector<memref::LoadOp> loads;
    rewriter.setInsertionPointToStart(bare.getBody());
    for (Value cell : cells) {
      loads.push_back(rewriter.create<memref::LoadOp>(loop.getLoc(), cell));
      arguments.push_back(loads.back());
    }
    bare.getInductionVar().setLoc(loop.getInductionVar().getLoc());
    Operation *const old = loop.getBody()->getTerminator();
    rewriter.mergeBlocks(loop.getBody(), bare.getBody(), arguments);
    SmallVector<Value> const yielded(old->getOperands());
    rewriter.setInsertionPoint(old);
    for (auto [place, value, cell] : llvm::enumerate(yielded, cells))
      if (value != loads[place].getResult())
        rewriter.create<memref::StoreOp>(loop.getLoc(), value, cell);
    rewriter.setInsertionPoint(old);
    rewriter.create<scf::YieldOp>(loop.getLoc());
    rewriter.eraseOp(old);
    for (auto [result, cell, isOwn] : llvm::zip(loop.getResults(), cells, areOwn)) {
      if (result.use_empty())
        continue;
      rewriter.setInsertionPointAfter(bare);
      auto end = rewriter.create<memref::LoadOp>(loop.getLoc(), cell);
      rewriter.replaceAllUsesWith(result, end);
      if (isOwn)
        ends.insert(end);
    }
    rewriter.eraseOp(loop);
    if (cells.size() == 1)
      storeEarly(loads[0], yielded[0], cells[0]);
    for (memref::LoadOp load : loads)
      if (load->use_empty())
        rewriter.eraseOp(load);
  }

  /// `sum += x; y = sum` instead of `y = sum + x; sum = sum + x`, of a loop that carries nothing else.
  void storeEarly(memref::LoadOp load, Value value, Value cell) {
    Operation *const change = value.getDefiningOp();
    memref::StoreOp own, other;
    for (Operation *user : value.getUsers())
      if (auto store = dyn_cast<memref::StoreOp>(user); store && store.getValue() == value)
        (store.getMemref() == cell ? own : other) = store;
    bool const isPair = llvm::range_size(value.getUses()) == 2 && own && other;
    if (!change || !isPair || change->getBlock() != load->getBlock() || other->getBlock() != load->getBlock() ||
        change->getNumRegions() > 0 || llvm::any_of(load->getUsers(), [&](Operation *user) {
          return user->getBlock() != load->getBlock() || change->isBeforeInBlock(user);
        }))
      return;
    rewriter.moveOpBefore(own, other);
    rewriter.setInsertionPoint(other);
    other.getValueMutable().assign(rewriter.create<memref::LoadOp>(load.getLoc(), cell));
  }

  //===--- What one statement leaves for another ---===//

  /// Statements between two loops of the strip are a segment: one loop over its columns.
  void numberSegments(Block &block) {
    ++segment;
    for (Operation &op : block) {
      if (op.hasAttr(nest::stripLoop)) {
        numberSegments(*cast<scf::ForOp>(op).getBody());
        ++segment;
      } else {
        op.walk([&](Operation *inner) { segments[inner] = segment; });
      }
    }
  }

  /// Arrays that several segments use.
  void keepArrays() {
    owner->walk([&](memref::AllocaOp array) {
      if (!nest::isStripLevel(array->getBlock(), owner))
        return;
      auto const isElsewhere = [&](Operation *user) { return segments.lookup(user) != segments.lookup(array); };
      if (llvm::any_of(array->getUsers(), isElsewhere))
        array->setAttr(nest::ofColumns, rewriter.getUnitAttr());
    });
  }

  /// i + 1: computed again rather than kept.
  bool isPosition(Value value) const {
    Operation *op = value.getDefiningOp();
    return value.getType().isIntOrIndex() && isPure(op) && op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return operand == nest::columnOf(owner) || values->isShared(operand); });
  }

  void keepResults() {
    SmallVector<Operation *> operations;
    owner->walk([&](Operation *op) {
      if (op != owner && nest::isStripLevel(op->getBlock(), owner) && !op->hasAttr(nest::stripLoop) &&
          !isa<memref::AllocaOp>(op))
        operations.push_back(op);
    });
    for (Operation *op : operations)
      for (Value result : op->getResults())
        if (!values->isShared(result))
          keep(result);
  }

  void keep(Value value) {
    unsigned const own = segments.lookup(value.getDefiningOp());
    SmallVector<OpOperand *> others;
    for (OpOperand &use : value.getUses())
      if (segments.lookup(use.getOwner()) != own)
        others.push_back(&use);
    if (others.empty())
      return;
    Value cell;
    if (!isPosition(value) && !ends.contains(value.getDefiningOp())) {
      cell = makeCell(value, value.getDefiningOp());
      rewriter.setInsertionPointAfter(value.getDefiningOp());
      segments[rewriter.create<memref::StoreOp>(value.getLoc(), value, cell)] = own;
    }
    for (OpOperand *use : others) {
      rewriter.setInsertionPoint(use->getOwner());
      use->set(cell ? rewriter.create<memref::LoadOp>(value.getLoc(), cell).getResult()
                    : rewriter.clone(*value.getDefiningOp())->getResult(0));
      segments[use->get().getDefiningOp()] = segments.lookup(use->getOwner());
    }
  }

  Operation *owner;
  IRRewriter rewriter;
  std::optional<nest::StripValues> values; ///< once loops carry nothing
  DenseSet<Operation *> ends;              ///< loads of what a loop carried last, which nothing changes behind it
  unsigned segment = 0;
  DenseMap<Operation *, unsigned> segments;
};

/// Whether a loop has so little in it that the proof for it takes no time.
bool isSmall(scf::ForOp loop) {
  int operations = 0, accesses = 0;
  auto const stops = [&](Operation *op) {
    accesses += isa<memref::LoadOp, memref::StoreOp>(op);
    return ++operations > mostOperationsOfStrips || accesses > mostAccesses;
  };
  return !loop.walk([&](Operation *op) { return stops(op) ? WalkResult::interrupt() : WalkResult::advance(); })
              .wasInterrupted();
}

/// Loops inside an iteration of a kernel whose own iterations are columns: independent, long ones. Outer loops first.
void formInside(nest::LoopKernelOp kernel) {
  SmallVector<scf::ForOp> found;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !isSmall(loop))
      return WalkResult::advance();
    SmallVector<scf::ForOp> const together = stripLoopsOf(loop);
    if (together.empty() || !dependenceOf(loop).empty())
      return WalkResult::advance();
    mark(together);
    found.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ForOp loop : found) {
    Strips(loop).form();
    loop->setAttr(nest::stripColumns, Builder(loop.getContext()).getI64IntegerAttr(nest::columnsOfStrip(loop)));
  }
}

struct FormStrips : impl::FormStripsBase<FormStrips> {
  void runOnOperation() override {
    if (getOperation()->hasAttr("nest.naive"))
      return;
    getOperation().walk([](nest::LoopKernelOp kernel) {
      if (!isPlain(kernel))
        return;
      if (isScanOfColumns(kernel)) {
        kernel.getBody().front().front().setAttr(nest::columnScan, UnitAttr::get(kernel.getContext()));
      } else if (auto const together = stripLoopsOf(kernel); !together.empty()) {
        mark(together);
        Strips(kernel).form();
        kernel.setPolicy(nest::Policy::Strips);
      } else if (kernel.getLowers().size() <= 1) {
        formInside(kernel);
      }
    });
  }
};
} // namespace

} // namespace ml2k
