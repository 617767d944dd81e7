//===- JoinFolds.cpp - reductions along a short row that share terms as one loop ----------------------------------===//
//
// The outputs of an unrolled state space model, y_t = Σ_j c_t[j] h_t[j], are a reduction each, whose term repeats all
// states before: h_t[j] = a_t[j] h_t-1[j] + b_t[j]. One loop over j computes each state once.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"
#include "translator/ir/Nest.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINFOLDS
#include "passes/prepare/Passes.h.inc"

namespace {
constexpr size_t mostFolds = 32; ///< each has a sum in a register

/// Neighbouring folds of one kind.
struct Group {
  SmallVector<nest::FoldOp> folds;
  SmallVector<Operation *> moved; ///< what stands between them, which none of them makes
  DenseSet<Value> rows;           ///< that they read along
  DenseSet<Operation *> after;    ///< what needs a result of theirs

  bool isEmpty() const { return folds.empty(); }
};

/// The rows that a fold reads at its own position.
SmallVector<Value> rowsOf(nest::FoldOp fold) {
  SmallVector<Value> rows;
  for (auto get : fold.getOps<nest::GetOp>())
    if (get.getPosition() == fold.getBody().getArgument(0))
      rows.push_back(get.getRow());
  return rows;
}

/// Whether anything inside or of an operation comes from those.
bool needs(Operation &op, Block &body, DenseSet<Operation *> const &made) {
  return op
      .walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value operand) {
                              Operation *const from = operand.getDefiningOp();
                              return from && from->getBlock() == &body && made.contains(from);
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isScalarRead(Operation &op) { return isa<nest::GetOp>(op) || (isPure(&op) && op.getNumRegions() == 0); }

/// One fold in place of those of a group.
bool join(RewriterBase &rewriter, Group &group) {
  if (group.folds.size() < 2)
    return false;
  nest::FoldOp first = group.folds.front();
  for (Operation *op : group.moved)
    rewriter.moveOpBefore(op, first);
  SmallVector<Location> locations;
  SmallVector<Type> types;
  for (nest::FoldOp fold : group.folds) {
    locations.push_back(fold.getLoc());
    types.push_back(fold.getType());
  }
  rewriter.setInsertionPoint(first);
  auto joined = rewriter.create<nest::FoldOp>(rewriter.getFusedLoc(locations), types, first.getCombinerAttr(),
                                              first.getNameAttr());
  Block *body = rewriter.createBlock(&joined.getBody(), {}, {rewriter.getIndexType()}, {joined.getLoc()});
  SmallVector<Value> terms;
  for (auto [number, fold] : llvm::enumerate(group.folds)) {
    Block &part = fold.getBody().front();
    terms.push_back(part.getTerminator()->getOperand(0));
    rewriter.eraseOp(part.getTerminator());
    rewriter.inlineBlockBefore(&part, body, body->end(), body->getArgument(0));
    rewriter.replaceAllUsesWith(fold.getResult(), joined->getResult(number));
    rewriter.eraseOp(fold);
  }
  rewriter.setInsertionPointToEnd(body);
  rewriter.create<nest::YieldOp>(joined.getLoc(), terms);
  return true;
}

/// Goes through the block once: an operation joins the group, stands in front of it, needs it, or ends it.
bool joinFolds(RewriterBase &rewriter, Block &body) {
  Group group;
  bool changes = false;
  auto const close = [&] {
    changes |= join(rewriter, group);
    group = Group();
  };
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    auto fold = dyn_cast<nest::FoldOp>(op);
    if (group.isEmpty() && !fold)
      continue;
    if (!fold && !isScalarRead(op)) {
      close(); // a pass or a write: what folds read may be another value behind it
      continue;
    }
    bool const isAfter = needs(op, body, group.after);
    if (!fold) {
      if (isAfter)
        group.after.insert(&op);
      else
        group.moved.push_back(&op);
      continue;
    }
    SmallVector<Value> const rows = rowsOf(fold);
    if (!group.isEmpty() && (isAfter || group.folds.size() == mostFolds || fold.getNumResults() != 1 ||
                             fold.getCombiner() != group.folds.front().getCombiner() ||
                             fold.getNameAttr() != group.folds.front().getNameAttr() ||
                             llvm::none_of(rows, [&](Value row) { return group.rows.contains(row); })))
      close();
    if (fold.getNumResults() != 1)
      continue;
    group.folds.push_back(fold);
    group.after.insert(fold);
    group.rows.insert(rows.begin(), rows.end());
  }
  close();
  return changes;
}

struct JoinFolds : impl::JoinFoldsBase<JoinFolds> {
  void runOnOperation() override {
    getOperation().walk([](nest::RowOp row) {
      nest::ScheduleAttr const schedule = nest::scheduleOf(row);
      if (!schedule || schedule.getBlock() != nest::KernelBlock::ForEach)
        return;
      IRRewriter rewriter(row.getContext());
      if (!joinFolds(rewriter, row.getBody().front()))
        return;
      DominanceInfo dominance(row->getParentOp());
      eliminateCommonSubExpressions(rewriter, dominance, row);
    });
  }
};
} // namespace
} // namespace ml2k
