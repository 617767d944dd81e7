//===- KeepSums.cpp - an element that a sequential loop changes stays in a register meanwhile ---------------------===//
//
// `for k: c(i, j) += a(i, k) * b(k, j)` reads and writes c in every step. In a loop that one thread runs, in an
// iteration of a parallel loop or by itself, the element is loaded in front of the loop, carried by it and stored
// behind it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/ElementTouches.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/Scans.h"
#include "translator/ir/AtomicUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Rounding to a narrower type in every step is a part of what the program says.
bool isKept(Type type) { return type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64); }

/// Whether the element is one of the iteration's own, which forward() makes sure that memory has: at the indices of all
/// parallel loops around it, and at others that data do not decide.
bool isOwnElement(scf::ForOp loop, AccessedElement const &element) {
  SmallVector<Value> parallel;
  for (Operation *op = loop->getParentOp(); op && !isa<func::FuncOp>(op); op = op->getParentOp()) {
    if (auto around = dyn_cast<scf::ParallelOp>(op))
      llvm::append_range(parallel, around.getInductionVars());
    else if (!isa<scf::ForOp>(op))
      return false; // under a condition
  }
  return !parallel.empty() &&
         llvm::all_of(parallel, [&](Value index) { return llvm::is_contained(element.indices, index); }) &&
         llvm::all_of(element.indices, [](Value index) {
           auto const argument = dyn_cast<BlockArgument>(index);
           auto around = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
           return around ? index == around.getInductionVar() : argument || getConstantIntValue(index);
         });
}

/// Whether the element may be loaded and stored where the loop does not run: it is accessed beside it anyway, or nobody
/// else's.
bool isAccessed(scf::ForOp loop, AccessedElement const &element) {
  auto const lower = getConstantIntValue(loop.getLowerBound()), upper = getConstantIntValue(loop.getUpperBound());
  if ((lower && upper && *lower < *upper) || isOwnElement(loop, element))
    return true;
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode())
    if (auto const other = elementOf(op); other && *other == element)
      return true;
  unsigned left = 16; // operations behind it
  for (Operation *op = loop->getNextNode(); op && left; op = op->getNextNode(), --left)
    if (auto const other = elementOf(op); other && *other == element)
      return true;
  return false;
}

/// The loads of what `store`, of the loop's own body, changes; none where it has to be in memory in between.
SmallVector<memref::LoadOp> loadsFor(scf::ForOp loop, memref::StoreOp store, unsigned &proofs) {
  AccessedElement const element = *elementOf(store);
  bool const isFixed =
      llvm::all_of(store.getIndices(), [&](Value index) { return loop.isDefinedOutsideOfLoop(index); });
  if (nest::isAtomic(store) || !isFixed || !loop.isDefinedOutsideOfLoop(element.memref) ||
      !isKept(store.getMemRefType().getElementType()) || !isAccessed(loop, element))
    return {};
  SmallVector<memref::LoadOp> loads;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && *elementOf(load) == element && load->isBeforeInBlock(store))
      loads.push_back(load);
    else if (&op != store.getOperation() && mayTouch(&op, element, loop, proofs))
      return {};
  }
  return loads;
}

/// What a loop that makes `changed` of an element carries: with a name that says it.
Location locationOf(Value changed, memref::LoadOp load) {
  auto loop = changed.getDefiningOp<scf::ForOp>();
  if (loop)
    return loop.getRegionIterArg(cast<OpResult>(changed).getResultNumber()).getLoc();
  bool const isSum =
      isa_and_nonnull<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(changed.getDefiningOp());
  auto const name = StringAttr::get(load.getContext(), "argument \"total\"");
  return isSum ? Location(NameLoc::get(name, load.getLoc())) : load.getLoc();
}

/// One element of the loop; whether there was any.
bool keepOne(RewriterBase &rewriter, scf::ForOp &loop, unsigned &proofs) {
  for (auto store : llvm::make_early_inc_range(loop.getBody()->getOps<memref::StoreOp>())) {
    SmallVector<memref::LoadOp> loads = loadsFor(loop, store, proofs);
    if (loads.empty())
      continue;
    rewriter.setInsertionPoint(loop);
    Value const before = rewriter.create<memref::LoadOp>(loads.front().getLoc(), store.getMemref(), store.getIndices());
    rewriter.setInsertionPointAfter(loop);
    auto after = cast<memref::StoreOp>(rewriter.clone(*store));
    Value const changed = store.getValue();
    auto const yields = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return SmallVector<Value>{changed}; };
    SmallVector<Location> locations =
        llvm::map_to_vector(loop.getBody()->getArguments(), [](BlockArgument argument) { return argument.getLoc(); });
    locations.push_back(locationOf(changed, loads.front()));
    FailureOr<LoopLikeOpInterface> made =
        cast<LoopLikeOpInterface>(loop.getOperation())
            .replaceWithAdditionalYields(rewriter, before, /*replaceInitOperandUsesInLoop=*/false, yields);
    if (failed(made)) {
      rewriter.eraseOp(after);
      return false;
    }
    loop = cast<scf::ForOp>(made->getOperation());
    for (auto [argument, location] : llvm::zip(loop.getBody()->getArguments(), locations))
      argument.setLoc(location);
    for (memref::LoadOp load : loads)
      rewriter.replaceOp(load, loop.getRegionIterArgs().back());
    rewriter.eraseOp(store);
    rewriter.modifyOpInPlace(after, [&] { after.getValueMutable().assign(loop->getResults().back()); });
    return true;
  }
  return false;
}

/// What a block has just stored is not loaded again, and not stored where it is stored anew. `updated`: memory with
/// atomic updates, of which loads are a part.
void forwardStores(RewriterBase &rewriter, Block &block, DenseSet<Value> const &updated) {
  constexpr unsigned most = 16; // that are remembered: time must not grow with the square of the block
  unsigned proofs = 64;
  SmallVector<memref::StoreOp> known;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto const element = elementOf(&op);
    auto const same = [&](memref::StoreOp store) { return element && *elementOf(store) == *element; };
    auto *const found = llvm::find_if(known, same);
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && found != known.end() && !updated.contains(load.getMemref())) {
      rewriter.replaceOp(load, found->getValue());
      continue;
    }
    auto store = dyn_cast<memref::StoreOp>(op);
    if (store && found != known.end()) {
      rewriter.eraseOp(*found);
      known.erase(found);
    }
    llvm::erase_if(known, [&](memref::StoreOp earlier) { return mayTouch(&op, *elementOf(earlier), &op, proofs); });
    if (store && !nest::isAtomic(store))
      known.push_back(store);
    if (known.size() > most)
      known.erase(known.begin());
  }
}

/// Memory of an iteration that nothing reads goes, with the stores.
void dropUnread(RewriterBase &rewriter, Operation *array) {
  SmallVector<Operation *> stores;
  for (Operation *user : array->getUsers())
    if (auto store = dyn_cast<memref::StoreOp>(user); store && store.getMemref() == array->getResult(0))
      stores.push_back(store);
    else if (isa<memref::DeallocOp>(user))
      stores.push_back(user);
    else
      return;
  for (Operation *store : stores)
    rewriter.eraseOp(store);
  rewriter.eraseOp(array);
}

} // namespace

void keepSums(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<scf::ForOp> loops;
  DenseSet<Value> updated;
  DenseSet<Operation *> around;   // loops around parallel ones, which the host runs
  entry.walk([&](Operation *op) { // innermost first
    auto loop = dyn_cast<scf::ForOp>(op);
    if (auto store = dyn_cast<memref::StoreOp>(op); store && nest::isAtomic(store))
      updated.insert(store.getMemref());
    if (isa<scf::ParallelOp>(op) || around.contains(op))
      around.insert(op->getParentOp());
    if (loop && (!around.contains(loop) || loop->getParentOfType<scf::ParallelOp>()) && !loop->hasAttr(scanLoop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    bool any = false;
    unsigned proofs = 32;
    while (keepOne(rewriter, loop, proofs))
      any = true;
    if (any)
      forwardStores(rewriter, *loop->getBlock(), updated);
    forwardStores(rewriter, *loop.getBody(), updated);
  }
  SmallVector<Operation *> arrays;
  entry.walk([&](scf::ParallelOp loop) {
    forwardStores(rewriter, *loop.getBody(), updated);
    for (Operation &op : *loop.getBody())
      if (isa<memref::AllocOp, memref::AllocaOp>(op))
        arrays.push_back(&op);
  });
  for (Operation *array : arrays)
    dropUnread(rewriter, array);
}

} // namespace ml2k
