//===- Sweeps.cpp - loops over every other position of a row ------------------------------------------------------===//
//
// A sweep over the red or the black points of a checkerboard begins each row at one of two positions and goes by two.
// Rows of different lengths would be one thread's each; a grid with a branch is what ml2k-find-every-other knows.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Sweeps.h"
#include "passes/lower/loops/LinearForms.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

/// Where a row begins: at `first` where the sum of the positions of the loops around it and `sum` is even, else one
/// further.
struct Start {
  int64_t first = 0, sum = 0;
};

/// A loop and the parallel ones that it stands in directly, the outermost one first.
static SmallVector<scf::ParallelOp, 3> loopsFrom(scf::ParallelOp inner) {
  SmallVector<scf::ParallelOp, 3> loops;
  for (Operation *op = inner; isa<scf::ParallelOp>(op); op = op->getParentOp())
    loops.insert(loops.begin(), cast<scf::ParallelOp>(op));
  return loops;
}

static std::optional<Start> startOf(Value lower, ArrayRef<scf::ParallelOp> rows) {
  Linear const begin = linearForm(lower);
  SmallVector<Value> positions, lowers;
  for (scf::ParallelOp loop : rows) {
    llvm::append_range(positions, loop.getInductionVars());
    llvm::append_range(lowers, loop.getLowerBound());
    if (!llvm::all_of(loop.getStep(), [](Value step) { return isConstantIntValue(step, 1); }))
      return std::nullopt;
  }
  if (begin.terms.size() != 1 || begin.terms.front().second != 1 || !llvm::isInt<30>(begin.constant))
    return std::nullopt;
  Value const rest = begin.terms.front().first, number = halved(rest);
  if (!number)
    return std::nullopt;
  Linear const sum = linearForm(number);
  auto const isOdd = [&](Value position) { return sum.terms.lookup(position) % 2 != 0; };
  bool const mayBeBelow = bool(rest.getDefiningOp<arith::RemSIOp>());
  if (sum.terms.size() != positions.size() || !llvm::all_of(positions, isOdd) ||
      (mayBeBelow && !(isWide(number) && isNeverNegative(sum, positions, lowers))))
    return std::nullopt;
  return Start{begin.constant, sum.constant};
}

scf::ForOp sweepIn(scf::ParallelOp rows) {
  scf::ForOp found;
  for (Operation &op : rows.getBody()->without_terminator()) {
    bool const isIndex = isPure(&op) && op.getNumRegions() == 0 &&
                         llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
    auto loop = dyn_cast<scf::ForOp>(op);
    if (found || !(isIndex || loop))
      return {};
    found = loop;
  }
  SmallVector<scf::ParallelOp, 3> const loops = loopsFrom(rows);
  size_t places = 0;
  for (scf::ParallelOp loop : loops)
    places += loop.getNumLoops();
  if (!found || found.getNumResults() != 0 || rows.getNumResults() != 0 || places > 2 ||
      !isConstantIntValue(found.getStep(), 2) ||
      loops.front()->isAncestor(found.getUpperBound().getParentRegion()->getParentOp()))
    return {};
  bool const hasOthers =
      found.getBody()
          ->walk([](Operation *op) {
            return isa<LoopLikeOpInterface, nest::CallOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return !hasOthers && !nest::hasAtomicUpdates(found) && startOf(found.getLowerBound(), loops) ? found : scf::ForOp();
}

void goOverAll(scf::ParallelOp sweep) {
  auto rows = cast<scf::ParallelOp>(sweep->getParentOp());
  SmallVector<scf::ParallelOp, 3> loops = loopsFrom(rows);
  Start const start = *startOf(sweep.getLowerBound().front(), loops);
  Location const location = sweep.getLoc();
  OpBuilder builder(loops.front());
  Value const first = builder.create<arith::ConstantIndexOp>(location, start.first),
              zero = builder.create<arith::ConstantIndexOp>(location, 0),
              one = builder.create<arith::ConstantIndexOp>(location, 1),
              two = builder.create<arith::ConstantIndexOp>(location, 2);
  sweep.getLowerBoundMutable().assign(first);
  sweep.getStepMutable().assign(one);

  Block *const body = sweep.getBody();
  auto const opsOf = [](Block &block) {
    return llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
  };
  SmallVector<Operation *> const all = opsOf(*body);
  builder.setInsertionPointToStart(body);
  SmallVector<Value> positions;
  for (scf::ParallelOp loop : loops)
    llvm::append_range(positions, loop.getInductionVars());
  Value sum = positions.front();
  for (Value position : llvm::drop_begin(positions))
    sum = builder.create<arith::AddIOp>(location, sum, position);
  sum = builder.create<arith::AddIOp>(location, sum, sweep.getInductionVars().front());
  Value const rest = builder.create<arith::RemSIOp>(location, sum, two);
  bool const isOdd = (start.first + start.sum) & 1;
  auto const how = isOdd ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq;
  Value const isOne = builder.create<arith::CmpIOp>(location, how, rest, zero);
  auto branch = builder.create<scf::IfOp>(location, isOne, /*withElseRegion=*/false);
  for (Operation *op : all)
    op->moveBefore(branch.thenYield());

  SmallVector<Operation *> const before = opsOf(*rows.getBody()); // llvm::reverse keeps no temporary
  for (Operation *op : llvm::reverse(before))
    if (op != sweep && op->use_empty())
      op->erase();
    else if (op != sweep)
      op->moveBefore(&body->front()); // the nest is perfect
}

} // namespace ml2k
