//===- Teams.cpp - what the threads of a team do together, and one of them alone ----------------------------------===//

#include "translator/ir/Teams.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ml2k::nest;

template <class... Ops> static bool holds(Operation *op) {
  auto const stopAt = [](Operation *inner) {
    return isa<Ops...>(inner) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(stopAt).wasInterrupted();
}

TeamPart ml2k::nest::teamPartOf(Operation *op) {
  if (isa<scf::ParallelOp>(op))
    return TeamPart::Shared;
  if (isa<BarrierOp>(op))
    return TeamPart::Barrier;
  if (holds<scf::ParallelOp, BarrierOp>(op))
    return TeamPart::Control;
  return holds<memref::StoreOp, cf::AssertOp, vector::PrintOp>(op) ? TeamPart::Once : TeamPart::All;
}

//===--- The team of a device -------------------------------------------------------------------------------------===//

static constexpr int64_t widestVector = 32;    ///< of a thread
static constexpr int64_t largestTeam = 1024;   ///< lanes
static constexpr int64_t usualTeam = 256;      ///< lanes, where nothing asks for more
static constexpr int64_t lanesOfUnknown = 128; ///< where the length of loops is not known

static memref::AllocaOp valuesOfThreads(Operation *kernel) {
  memref::AllocaOp found;
  kernel->walk([&](memref::AllocaOp array) {
    if (array->hasAttr(ofThreads))
      found = array;
  });
  return found;
}

/// The memory that a view shows a part of.
static Value memoryOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// Whether all threads read, outside of their loops, what the kernel writes: loops along rows end with a barrier, such
/// reads do not.
static bool readsWhatItWrites(LoopKernelOp kernel) {
  DenseSet<Value> written;
  kernel.walk([&](memref::StoreOp store) { written.insert(memoryOf(store.getMemref())); });
  auto const isOfAll = [&](Operation *op) {
    for (; op != kernel.getOperation(); op = op->getParentOp())
      if (TeamPart const part = teamPartOf(op); part == TeamPart::Shared || part == TeamPart::Once)
        return false;
    return true;
  };
  auto const stops = [&](memref::LoadOp load) {
    bool const meets = written.contains(memoryOf(load.getMemref())) && isOfAll(load);
    return meets ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(stops).wasInterrupted();
}

bool ml2k::nest::isOfRows(LoopKernelOp kernel) {
  if (kernel.getPolicy() != Policy::Team || kernel->hasAttr(teamLoop) || readsWhatItWrites(kernel))
    return false;
  auto const isKnown = [&](Value length) {
    return matchPattern(length, m_Constant()) || !kernel.getBody().isAncestor(length.getParentRegion());
  };
  bool hasLoops = false;
  auto const stops = [&](Operation *op) {
    auto loop = dyn_cast<scf::ParallelOp>(op);
    hasLoops |= bool(loop);
    if (loop && (loop.getNumLoops() != 1 || !isConstantIntValue(loop.getLowerBound()[0], 0) ||
                 !isKnown(loop.getUpperBound()[0])))
      return true;
    return isa<memref::AllocaOp>(op) && !op->getParentOfType<scf::ParallelOp>();
  };
  bool const isOther =
      kernel.walk([&](Operation *op) { return stops(op) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  return hasLoops && !isOther;
}

static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  return value;
}

bool ml2k::nest::isFirstPlace(scf::ParallelOp loop) {
  if (loop.getNumLoops() != 1 || loop.getNumResults() != 1 || !isConstantIntValue(loop.getLowerBound()[0], 0))
    return false;
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  auto choice = reduce.getOperands()[0].getDefiningOp<arith::SelectOp>();
  Value const end = loop.getUpperBound()[0];
  return choice && choice->hasOneUse() && combinerOf(reduce.getReductions()[0]) == Combiner::MinSI &&
         withoutCasts(choice.getTrueValue()) == loop.getInductionVars()[0] &&
         withoutCasts(choice.getFalseValue()) == end && withoutCasts(loop.getInitVals()[0]) == end;
}

bool ml2k::nest::hasValuesOfThreads(Operation *kernel) { return bool(valuesOfThreads(kernel)); }

/// Vector lanes along the last dimension of several.
static TeamShape shapeOf(ArrayRef<std::optional<int64_t>> extents) {
  if (extents.size() == 1)
    return {std::clamp<int64_t>(extents[0].value_or(lanesOfUnknown), 1, usualTeam), 1};
  std::optional<int64_t> const width = extents.back();
  TeamShape shape{1, width ? int64_t(llvm::PowerOf2Ceil(std::clamp<int64_t>(*width, 1, widestVector))) : widestVector};
  for (std::optional<int64_t> extent : extents.drop_back())
    shape.threads =
        std::min(shape.threads * std::clamp<int64_t>(extent.value_or(largestTeam), 1, largestTeam), largestTeam);
  bool const isKnown = llvm::all_of(extents, [](std::optional<int64_t> extent) { return extent.has_value(); });
  if (!isKnown || shape.threads * shape.lanes > largestTeam)
    shape.threads = std::max<int64_t>(1, std::min(shape.threads, usualTeam / shape.lanes));
  return shape;
}

TeamShape ml2k::nest::teamShapeOf(LoopKernelOp kernel) {
  if (memref::AllocaOp array = valuesOfThreads(kernel)) {
    ArrayRef<int64_t> const shape = array.getType().getShape();
    int64_t const lanes = shape.size() < 2 ? 1 : shape.back();
    return {array.getType().getNumElements() / lanes, lanes};
  }
  TeamShape largest;
  kernel.walk([&](scf::ParallelOp loop) {
    SmallVector<std::optional<int64_t>> extents;
    for (auto [lower, upper] : llvm::zip(loop.getLowerBound(), loop.getUpperBound())) {
      std::optional<int64_t> const begin = getConstantIntValue(lower), end = getConstantIntValue(upper);
      extents.push_back(begin && end ? std::optional(*end - *begin) : std::nullopt);
    }
    TeamShape const own = shapeOf(extents);
    if (own.threads * own.lanes > largest.threads * largest.lanes ||
        (own.threads * own.lanes == largest.threads * largest.lanes && own.lanes > largest.lanes))
      largest = own;
  });
  return largest;
}

//===--- Checks ---------------------------------------------------------------------------------------------------===//

static LogicalResult verifyShared(scf::ParallelOp loop) {
  if (loop.getNumResults() > 1)
    return loop.emitOpError("of a team's threads has several reductions");
  for (Value step : loop.getStep())
    if (!isConstantIntValue(step, 1))
      return loop.emitOpError("of a team's threads has a step");
  Block &body = *loop.getBody(); // which is verified later
  auto reduce = body.empty() ? scf::ReduceOp() : dyn_cast<scf::ReduceOp>(body.back());
  if (!reduce)
    return loop.emitOpError("of a team's threads has no scf.reduce at its end");
  for (Region &reduction : reduce.getReductions())
    if (!combinerOf(reduction))
      return loop.emitOpError("joins values by no single known operation");
  for (Operation &op : *loop.getBody())
    if (holds<scf::ParallelOp, BarrierOp>(&op))
      return op.emitOpError("stands in a loop of a team's threads");
  return success();
}

static LogicalResult verifyTeamBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    switch (teamPartOf(&op)) {
    case TeamPart::Shared:
      if (failed(verifyShared(cast<scf::ParallelOp>(op))))
        return failure();
      break;
    case TeamPart::Once:
      if (!op.use_empty())
        return op.emitOpError("has results for all threads of a team, but one of them runs it");
      break;
    case TeamPart::Control:
      if (!isa<scf::ForOp, scf::IfOp>(op))
        return op.emitOpError("cannot stand around loops of a team's threads");
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (failed(verifyTeamBlock(inner)))
            return failure();
      break;
    case TeamPart::All:
    case TeamPart::Barrier:
      break;
    }
  return success();
}

LogicalResult ml2k::nest::verifyTeam(LoopKernelOp kernel) { return verifyTeamBlock(kernel.getBody().front()); }

LogicalResult BarrierOp::verify() {
  auto kernel = (*this)->getParentOfType<LoopKernelOp>();
  if (!kernel || kernel.getPolicy() != Policy::Team)
    return emitOpError("stands outside of a kernel of teams");
  return success(); // the kernel looks where it stands
}
