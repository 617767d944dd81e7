//===- GridAccesses.cpp - how the memory of a kernel lies along its loops -----------------------------------------===//

#include "passes/prepare/GridAccesses.h"
#include "passes/TripCount.h"
#include "passes/lower/loops/LinearForms.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/StoredRows.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {

static constexpr int64_t shortest = 16; ///< steps that fill a vector register of any type
static constexpr int64_t ofLoop = 4;    ///< iterations of a loop inside, where they are not known
static constexpr int64_t mostTimes = int64_t(1) << 20;

GridAccesses::GridAccesses(nest::LoopKernelOp kernel) : kernel(kernel) {
  Dependences loopsOf;
  unsigned const loops = kernel.getLowers().size();
  for (unsigned loop = 0; loop < loops; ++loop)
    loopsOf.try_emplace(kernel.getBody().getArgument(loop), loops).first->second.set(loop);
  visit(kernel.getBody().front(), loopsOf, 1);
}

/// What an operation makes depends on whatever its operands and what it reads inside depend on.
void GridAccesses::visit(Block &block, Dependences &loopsOf, int64_t times) {
  unsigned const loops = kernel.getLowers().size();
  for (Operation &op : block) {
    llvm::BitVector all(loops);
    auto const read = [&](ValueRange values) {
      for (Value value : values)
        if (auto found = loopsOf.find(value); found != loopsOf.end())
          all |= found->second;
    };
    read(op.getOperands());
    if (auto load = dyn_cast<memref::LoadOp>(op))
      add(load.getMemref(), load.getIndices(), loopsOf, times);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      add(store.getMemref(), store.getIndices(), loopsOf, 2 * times); // written lines are read, too
    int64_t inside = times;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      inside *= tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep()).value_or(ofLoop);
    inside = std::clamp<int64_t>(inside, 0, mostTimes);
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        for (BlockArgument const argument : inner.getArguments())
          loopsOf.try_emplace(argument, all);
        visit(inner, loopsOf, inside);
        read(inner.getTerminator()->getOperands());
      }
    for (Value const result : op.getResults())
      loopsOf.try_emplace(result, all);
  }
}

/// The dimension whose neighbours lie one behind the other; none if that is not known.
static std::optional<unsigned> contiguousDim(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(getStridesAndOffset(type, strides, offset)))
    return std::nullopt;
  for (unsigned dim = strides.size(); dim-- > 0;)
    if (strides[dim] == 1 && type.getDimSize(dim) != 1)
      return dim;
  return std::nullopt;
}

void GridAccesses::add(Value memref, ValueRange indices, Dependences const &loopsOf, int64_t weight) {
  if (memref.getDefiningOp<memref::AllocaOp>()) // of the iteration itself
    return;
  unsigned const loops = kernel.getLowers().size();
  llvm::BitVector others(loops);
  auto const addTo = [&](llvm::BitVector &to, Value value) {
    if (auto found = loopsOf.find(value); found != loopsOf.end())
      to |= found->second;
  };
  std::optional<unsigned> const dim = contiguousDim(cast<MemRefType>(memref.getType()));
  std::optional<unsigned> along;
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (d != dim) {
      addTo(others, index);
      continue;
    }
    for (auto [symbol, coefficient] : linearForm(index).terms) {
      auto const argument = dyn_cast<BlockArgument>(symbol);
      bool const isLoop = argument && argument.getOwner() == &kernel.getBody().front();
      if (isLoop && coefficient == 1 && !along)
        along = argument.getArgNumber();
      else if (coefficient != 0)
        addTo(others, symbol);
    }
  }
  if (along && others.test(*along))
    along.reset();
  accesses.push_back({along, std::move(others), weight});
}

bool GridAccesses::isLong(unsigned loop, int64_t least) const {
  nest::LoopKernelOp op = kernel;
  auto const lower = getConstantIntValue(op.getLowers()[loop]), upper = getConstantIntValue(op.getUppers()[loop]);
  return !lower || !upper || *upper - *lower >= least;
}

int64_t GridAccesses::score(unsigned loop) const {
  int64_t sum = 0;
  for (Access const &access : accesses)
    if (access.along == loop)
      sum += access.weight;
    else if (access.across.test(loop))
      sum -= access.weight;
  return sum;
}

unsigned GridAccesses::innermost() const {
  unsigned best = nest::LoopKernelOp(kernel).getLowers().size() - 1;
  for (unsigned loop = best; loop-- > 0;)
    if (isLong(loop, shortest) && score(loop) > score(best))
      best = loop;
  return best;
}

std::optional<unsigned> GridAccesses::crossing(unsigned inner) const {
  constexpr int64_t least = 8; // as of maps
  std::optional<unsigned> found;
  int64_t most = 0;
  if (!isLong(inner, least) || llvm::none_of(accesses, [&](Access const &access) { return access.along == inner; }))
    return found;
  for (unsigned loop = 0; loop < nest::LoopKernelOp(kernel).getLowers().size(); ++loop) {
    int64_t weight = 0;
    for (Access const &access : accesses)
      if (access.along == loop && access.across.test(inner))
        weight += access.weight;
    if (loop != inner && weight > most && isLong(loop, least)) {
      found = loop;
      most = weight;
    }
  }
  return found;
}

std::optional<unsigned> GridAccesses::tiled(unsigned inner) const {
  nest::LoopKernelOp op = kernel;
  bool const hasLoops =
      op.walk([](Operation *inside) {
          return isa<scf::ForOp, scf::WhileOp, nest::CallOp>(inside) ? WalkResult::interrupt() : WalkResult::advance();
        }).wasInterrupted();
  return hasLoops || !op.getInto().empty() ? std::nullopt : crossing(inner);
}

bool goesInTiles(nest::LoopKernelOp kernel) {
  unsigned const loops = kernel.getLowers().size();
  return loops > 1 && GridAccesses(kernel).tiled(loops - 1) == loops - 2;
}

int64_t columnsOfShortRows(nest::LoopKernelOp kernel) {
  constexpr int64_t few = 8, many = 64;
  auto const columns = getConstantIntValue(kernel.getUppers().back());
  int64_t rows = 1;
  for (auto [lower, upper] : llvm::zip(kernel.getLowers().drop_back(), kernel.getUppers().drop_back())) {
    auto const first = getConstantIntValue(lower), end = getConstantIntValue(upper);
    rows = llvm::SaturatingMultiply<uint64_t>(rows, first && end ? std::max<int64_t>(*end - *first, 0) : many);
  }
  bool const isShort = columns && *columns > 1 && *columns <= few && isConstantIntValue(kernel.getLowers().back(), 0);
  return isShort && rows >= many ? *columns : 0;
}

bool isPlainGrid(nest::LoopKernelOp kernel) {
  unsigned const loops = kernel.getLowers().size();
  bool const hasLoops =
      kernel.getBody()
          .walk([](Operation *op) {
            return isa<LoopLikeOpInterface, nest::CallOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return (loops == 2 || loops == 3) && !hasLoops && kernel.getInto().empty() && !kernel.getOrdered() &&
         !nest::scheduleOf(kernel) && !nest::storedRowsOf(kernel) && !nest::hasAtomicUpdates(kernel) &&
         llvm::is_contained({nest::Policy::Range, nest::Policy::MDRange}, kernel.getPolicy()) && !goesInTiles(kernel) &&
         columnsOfShortRows(kernel) == 0;
}

} // namespace ml2k
