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

bool isSmall(scf::ParallelOp loop) {
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
  return positions <= few && !loop.getBody()
                                  ->walk([](Operation *op) {
                                    return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
                                  })
                                  .wasInterrupted();
}

static bool isLoaded(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || isa<memref::DimOp>(op))
    return false;
  return isa<memref::LoadOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return isLoaded(operand, depth - 1); });
}

bool isLoaded(Value value) { return isLoaded(value, 8); }

} // namespace ml2k
