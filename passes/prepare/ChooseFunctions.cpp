//===- ChooseFunctions.cpp - which functions are computed in vectors ----------------------------------------------===//
//
// A library's exponential takes one number at a time, and so does then the loop around it: divisions and all. Ours is
// plain arithmetic, four times as fast in vectors, a little slower alone. A kernel gets it if nothing else in it
// keeps compilers from vectors.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/TripCount.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/Strips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CHOOSEFUNCTIONS
#include "passes/prepare/Passes.h.inc"

/// Loops of so few steps are unrolled inside of a vector.
static constexpr int64_t fewSteps = 8;

static bool isDouble(Operation *op) { return op->getNumResults() == 1 && op->getResult(0).getType().isF64(); }

/// A power of float, too, has no form that is as good for one number.
static bool hasVectorForm(Operation *op) {
  return (isa<math::ExpOp, math::LogOp, math::TanhOp, math::AtanOp, math::Atan2Op>(op) && isDouble(op)) ||
         (isa<math::PowFOp>(op) && (isDouble(op) || op->getResult(0).getType().isF32()));
}

/// Whether no compiler makes vectors of what stands around the operation: a call, a loop that data end.
static bool isScalar(Operation *op) {
  bool const isCall = isa<math::MathDialect>(op->getDialect()) && isDouble(op) && !hasVectorForm(op) &&
                      !isa<math::SqrtOp, math::RsqrtOp, math::AbsFOp, math::FmaOp, math::FloorOp, math::CeilOp,
                           math::TruncOp, math::CopySignOp>(op);
  bool const isRemainder = isa<arith::RemFOp>(op) && isDouble(op);
  return isCall || isRemainder || isa<scf::WhileOp, nest::CallOp, nest::PositionOp>(op);
}

/// Whether a loop of a kernel has a few steps, or goes along the columns of a strip.
static bool isInVector(scf::ForOp loop) {
  auto const lower = getConstantIntValue(loop.getLowerBound()), upper = getConstantIntValue(loop.getUpperBound()),
             step = getConstantIntValue(loop.getStep());
  return loop->hasAttr(nest::stripLoop) || (lower && upper && step && *upper - *lower <= *step * fewSteps);
}

/// Whether the threads of a team share the loops of the kernel, which go along registers then.
static bool isOfTeams(Operation *kernel) {
  auto loops = dyn_cast<nest::LoopKernelOp>(kernel);
  return loops && loops.getPolicy() == nest::Policy::Team;
}

/// Whether iterations of the kernel go along registers.
static bool hasLanes(Operation *kernel) {
  auto loops = dyn_cast<nest::LoopKernelOp>(kernel);
  return !loops || (!loops.getLowers().empty() && !isOfTeams(kernel));
}

static bool hasScalars(Operation *lanes) {
  return lanes->walk([](Operation *op) { return isScalar(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// `lanes`: what goes along registers around the function, the kernel or a loop in it.
static bool isInVectors(Operation *function, Operation *lanes) {
  int64_t copies = 1;
  for (auto loop = function->getParentOfType<scf::ForOp>(); loop && lanes->isAncestor(loop);
       loop = loop->getParentOfType<scf::ForOp>()) {
    if (!isInVector(loop))
      return false;
    if (std::optional<int64_t> const trips = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        trips && !loop->hasAttr(nest::stripLoop))
      copies *= std::max<int64_t>(*trips, 1);
    if (copies > fewSteps)
      return false;
  }
  return true;
}

static void choose(Operation *kernel) {
  DenseMap<Operation *, bool> plain; // without what is computed one by one
  auto const isPlain = [&](Operation *lanes) {
    auto const [place, isNew] = plain.try_emplace(lanes, false);
    if (isNew)
      place->second = !hasScalars(lanes);
    return place->second;
  };
  kernel->walk([&](Operation *op) {
    if (!hasVectorForm(op))
      return;
    Operation *lanes = hasLanes(kernel) ? kernel : nullptr;
    if (auto shared = op->getParentOfType<scf::ParallelOp>(); isOfTeams(kernel) && shared && kernel->isAncestor(shared))
      lanes = shared;
    if (lanes && isPlain(lanes) && isInVectors(op, lanes))
      op->setAttr(nest::inVectors, UnitAttr::get(op->getContext()));
    else
      op->removeAttr(nest::inVectors);
  });
}

namespace {
struct ChooseFunctions : impl::ChooseFunctionsBase<ChooseFunctions> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      if (!isa<nest::Kernel>(op))
        return WalkResult::advance();
      choose(op);
      return WalkResult::skip();
    });
  }
};
} // namespace
} // namespace ml2k
