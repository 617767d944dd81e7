//===- SmallLoops.cpp - parallel loops of a few iterations --------------------------------------------------------===//

#include "passes/lower/loops/SmallLoops.h"

#include "passes/TripCount.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ml2k {

/// A number that `value` is never below, as far as constants and the loops around say it.
static std::optional<int64_t> leastOf(Value value) {
  int64_t least = 0;
  for (;;) {
    Value base;
    std::optional<int64_t> more = getConstantIntValue(value);
    if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      base = add.getLhs();
      more = getConstantIntValue(add.getRhs());
    } else if (auto loop = scf::getForInductionVarOwner(value)) {
      base = loop.getLowerBound();
      more = getConstantIntValue(loop.getStep()).value_or(0) > 0 ? std::optional<int64_t>(0) : std::nullopt;
    }
    if (!more || llvm::AddOverflow(least, *more, least))
      return std::nullopt;
    if (!base)
      return least;
    value = base;
  }
}

static bool hasLoops(scf::ParallelOp loop) {
  return loop.getBody()
      ->walk(
          [](Operation *op) { return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

static bool isOfFew(scf::ParallelOp loop) {
  constexpr int64_t few = 32;
  int64_t positions = 1;
  for (auto [lower, upper, step] : llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    std::optional<int64_t> const least = leastOf(lower);
    std::optional<int64_t> const trips =
        least ? tripCount(Builder(loop.getContext()).getIndexAttr(*least), upper, step) : std::nullopt;
    if (!trips || *trips > few)
      return false;
    positions *= *trips;
  }
  return positions <= few;
}

bool isSmall(scf::ParallelOp loop) { return isOfFew(loop) && !hasLoops(loop); }

static bool isLoaded(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || isa<memref::DimOp>(op))
    return false;
  return isa<memref::LoadOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return isLoaded(operand, depth - 1); });
}

bool isLoaded(Value value) { return isLoaded(value, 8); }

/// Whether `value` differs among the kernel's positions, as far as it can be seen.
static bool isOfPositions(Value value, scf::ParallelOp kernel, unsigned depth = 8) {
  if (!kernel->isAncestor(value.getParentRegion()->getParentOp()))
    return false;
  Operation *op = value.getDefiningOp();
  return !op || depth == 0 ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return isOfPositions(operand, kernel, depth - 1); });
}

/// Whether `value` is computed of an element that each step of `loop` loads, one for all positions of the kernel.
static bool isChosenIn(scf::ForOp loop, scf::ParallelOp kernel, Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !loop->isProperAncestor(op) || op->getNumRegions() != 0)
    return false;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRefType().getRank() > 0 &&
           llvm::none_of(load.getIndices(), [&](Value index) { return isOfPositions(index, kernel); });
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isChosenIn(loop, kernel, operand, depth - 1); });
}

bool hasOnlyChosenRows(scf::ForOp loop) {
  bool found = false;
  WalkResult const walked = loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::WhileOp, memref::CopyOp>(op) || isa<nest::NestDialect>(op->getDialect()))
      return WalkResult::interrupt();
    auto kernel = dyn_cast<scf::ParallelOp>(op);
    if (!kernel)
      return WalkResult::advance();
    bool const isRow = isOfFew(kernel) || (kernel.getNumLoops() == 1 && !hasLoops(kernel));
    auto const isChosen = [&](Value index) { return isChosenIn(loop, kernel, index); };
    bool const choosesRow = kernel.getBody()
                                ->walk([&](Operation *access) {
                                  auto load = dyn_cast<memref::LoadOp>(access);
                                  auto store = dyn_cast<memref::StoreOp>(access);
                                  bool const is = (load && llvm::any_of(load.getIndices(), isChosen)) ||
                                                  (store && llvm::any_of(store.getIndices(), isChosen));
                                  return is ? WalkResult::interrupt() : WalkResult::advance();
                                })
                                .wasInterrupted();
    found = isRow && choosesRow;
    return found ? WalkResult::skip() : WalkResult::interrupt();
  });
  return found && !walked.wasInterrupted();
}

} // namespace ml2k
