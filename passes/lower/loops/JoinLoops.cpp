//===- JoinLoops.cpp - loops of a product that go along memory one behind the other become one --------------------===//
//
// A contraction of tensors, such as out(i, j, m, n) = Σ_k Σ_l a(i, j, k, l) * b(k, l, m, n), is a matrix product of the
// same memory: i and j are its rows, m and n its columns, k and l its terms. Two loops are one if every operand that
// either of them indexes is indexed by both, in neighbouring dimensions, of which the second is as long as its loop.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/SumKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
namespace {

class ProductLoops {
public:
  explicit ProductLoops(nest::LoopKernelOp kernel) : kernel(kernel), block(kernel.getBody().front()) {}

  /// Whether the kernel adds products of two elements in some inner loops, and stores the sum.
  bool read();

  /// Joins two of its loops, if there are such; the kernel is another one then.
  bool join(RewriterBase &rewriter);

  nest::LoopKernelOp kernel;

private:
  using Index = BlockArgument;
  bool readAccesses();
  Value end(Index index);
  std::optional<unsigned> placeIn(Operation *access, Index first, Index second);
  bool mayJoin(Index first, Index second);
  Value joined(RewriterBase &rewriter, Value memory, unsigned dim);
  void joinSums(RewriterBase &rewriter, Value upper, Index outer, Index inner);
  void joinIterations(Value upper, Index kept, Index gone);

  Block &block;
  SmallVector<scf::ForOp> sums; ///< from the outermost one
  SmallVector<Operation *> accesses;
  DenseMap<std::pair<Value, unsigned>, Value> views; ///< of memory with joined dimensions
};

MutableOperandRange indicesOf(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return load.getIndicesMutable();
  return cast<memref::StoreOp>(access).getIndicesMutable();
}

OpOperand &memoryOf(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return load.getMemrefMutable();
  return cast<memref::StoreOp>(access).getMemrefMutable();
}

/// The only loop of a block; null if there are none or more.
scf::ForOp loopIn(Block &block) {
  auto const loops = block.getOps<scf::ForOp>();
  return llvm::hasSingleElement(loops) ? *loops.begin() : scf::ForOp();
}

/// A loop whose only operation is another one, which goes on with what it carries.
bool isAround(scf::ForOp outer, scf::ForOp inner) {
  return inner && llvm::range_size(*outer.getBody()) == 2 && inner.getNumResults() == 1 &&
         inner.getInitArgs()[0] == outer.getRegionIterArg(0) && outer.getYieldedValues()[0] == inner.getResult(0);
}

bool ProductLoops::read() {
  if (kernel.getPolicy() == nest::Policy::Team || kernel.getPolicy() == nest::Policy::Strips || kernel.getOrdered() ||
      !kernel.getInto().empty() ||
      llvm::any_of(kernel.getLowers(), [](Value lower) { return !isConstantIntValue(lower, 0); }))
    return false;
  auto loop = loopIn(block);
  if (!loop || loop.getNumResults() != 1)
    return false;
  for (sums.push_back(loop); isAround(sums.back(), loopIn(*sums.back().getBody()));)
    sums.push_back(loopIn(*sums.back().getBody()));
  for (scf::ForOp sum : sums)
    if (!isConstantIntValue(sum.getLowerBound(), 0) || !isConstantIntValue(sum.getStep(), 1) ||
        kernel->isAncestor(sum.getUpperBound().getParentBlock()->getParentOp()))
      return false;
  auto add = sums.back().getYieldedValues()[0].getDefiningOp<arith::AddFOp>();
  if (!add || !nest::mayReassociate(add) || !readAccesses())
    return false;
  auto const isOf = [&](Operation *op) { return op->getBlock() == sums.back().getBody(); };
  // Where a running sum is stored, the order of the terms counts
  auto const isStoredInside = [&](Operation *op) { return isa<memref::StoreOp>(op) && op->getBlock() != &block; };
  return llvm::count_if(accesses, isOf) == 2 && llvm::none_of(accesses, isStoredInside) &&
         llvm::count_if(*sums.back().getBody(), [](Operation &op) { return isa<arith::MulFOp>(op); }) == 1;
}

/// All accesses; indices of loops have no other use.
bool ProductLoops::readAccesses() {
  bool areAll = true;
  kernel.getBody().walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      Value memory = memoryOf(op).get();
      areAll &= cast<MemRefType>(memory.getType()).getLayout().isIdentity() &&
                !kernel->isAncestor(memory.getParentBlock()->getParentOp());
      accesses.push_back(op);
    }
  });
  return areAll;
}

Value ProductLoops::end(Index index) {
  if (index.getOwner() == &block)
    return kernel.getUppers()[index.getArgNumber()];
  return cast<scf::ForOp>(index.getOwner()->getParentOp()).getUpperBound();
}

/// Where an access has both indices, one behind the other.
std::optional<unsigned> ProductLoops::placeIn(Operation *access, Index first, Index second) {
  MutableOperandRange const indices = indicesOf(access);
  for (unsigned place = 0; place + 1 < indices.size(); ++place)
    if (indices[place].get() == first && indices[place + 1].get() == second)
      return place;
  return std::nullopt;
}

bool ProductLoops::mayJoin(Index first, Index second) {
  unsigned uses = 0; // of both together
  for (Operation *access : accesses)
    if (std::optional<unsigned> const place = placeIn(access, first, second)) {
      if (!isExtentOf(end(second), memoryOf(access).get(), *place + 1))
        return false;
      uses += 1;
    }
  auto const count = [](Index index) { return llvm::range_size(index.getUses()); };
  return uses > 0 && count(first) == uses && count(second) == uses;
}

/// Memory whose dimension `dim` and the one behind it are one.
Value ProductLoops::joined(RewriterBase &rewriter, Value memory, unsigned dim) {
  Value &view = views[{memory, dim}];
  if (view)
    return view;
  SmallVector<ReassociationIndices> groups;
  for (unsigned own = 0; own < cast<MemRefType>(memory.getType()).getRank(); ++own)
    if (own == dim + 1)
      groups.back().push_back(own);
    else
      groups.push_back({own});
  rewriter.setInsertionPoint(kernel);
  return view = rewriter.create<memref::CollapseShapeOp>(kernel.getLoc(), memory, groups);
}

void ProductLoops::joinSums(RewriterBase &rewriter, Value upper, Index outer, Index inner) {
  auto loop = cast<scf::ForOp>(outer.getOwner()->getParentOp()),
       gone = cast<scf::ForOp>(inner.getOwner()->getParentOp());
  loop.setUpperBound(upper);
  Operation *yield = gone.getBody()->getTerminator();
  Value const total = yield->getOperand(0);
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(gone.getBody(), gone, {outer, gone.getInitArgs()[0]});
  rewriter.replaceOp(gone, total);
}

void ProductLoops::joinIterations(Value upper, Index kept, Index gone) {
  unsigned const place = gone.getArgNumber();
  kernel.getUppersMutable().slice(kept.getArgNumber(), 1).assign(upper);
  kernel.getUppersMutable().erase(place);
  kernel.getLowersMutable().erase(place);
  block.eraseArgument(place);
  if (block.getNumArguments() == 1)
    kernel.setPolicy(nest::Policy::Range);
}

bool ProductLoops::join(RewriterBase &rewriter) {
  SmallVector<SmallVector<Index>> kinds(2);
  llvm::append_range(kinds[0], block.getArguments());
  for (scf::ForOp sum : sums)
    kinds[1].push_back(cast<Index>(sum.getInductionVar()));
  for (ArrayRef<Index> indices : kinds)
    for (Index first : indices)
      for (Index second : indices) {
        if (first == second || !mayJoin(first, second))
          continue;
        bool const isSum = first.getOwner() != &block;
        auto const isInside = [&](Index a, Index b) {
          return isSum ? b.getOwner()->getParentOp()->isProperAncestor(a.getOwner()->getParentOp())
                       : a.getArgNumber() > b.getArgNumber();
        };
        Index const kept = isInside(second, first) ? first : second, gone = kept == first ? second : first;
        rewriter.setInsertionPoint(kernel);
        Value const upper = rewriter.createOrFold<arith::MulIOp>(kernel.getLoc(), end(first), end(second));
        for (Operation *access : accesses)
          if (std::optional<unsigned> const place = placeIn(access, first, second)) {
            OpOperand &memory = memoryOf(access);
            memory.set(joined(rewriter, memory.get(), *place));
            indicesOf(access).slice(*place, 1)[0].set(kept);
            indicesOf(access).erase(*place + 1);
          }
        if (isSum)
          joinSums(rewriter, upper, kept, gone);
        else
          joinIterations(upper, kept, gone);
        return true;
      }
  return false;
}

} // namespace

void joinLoops(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  entry.walk([&](nest::LoopKernelOp kernel) {
    for (bool isJoined = true; isJoined;) {
      ProductLoops loops(kernel);
      isJoined = loops.read() && loops.join(rewriter);
    }
  });
}

} // namespace ml2k
