//===- JoinUpdates.cpp - one branch for all that a condition changes ----------------------------------------------===//
//
// `if d < best: best = d; at = k` changes two variables. Where nothing is computed for one of them, canonicalization
// makes a choice of its own of it, and the text would ask the same question twice.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINUPDATES
#include "passes/prepare/Passes.h.inc"

/// What a loop carries that a value of its body is the next one of, and of nothing else.
static BlockArgument carriedBefore(Value next) {
  auto yield = next.hasOneUse() ? dyn_cast<scf::YieldOp>(*next.user_begin()) : scf::YieldOp();
  if (!yield || next.getParentBlock() != yield->getBlock())
    return {};
  unsigned const place = next.use_begin()->getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
    return loop.getRegionIterArg(place);
  auto decided = dyn_cast<scf::WhileOp>(yield->getParentOp());
  if (!decided)
    return {};
  for (auto [value, argument] : llvm::zip(decided.getConditionOp().getArgs(), decided.getAfterArguments()))
    if (value == decided.getBeforeArguments()[place])
      return argument;
  return {};
}

/// Whether a branch has no other side, but leaves what the loop carries as it is.
static bool isUpdate(scf::IfOp branch) {
  if (branch.getElseRegion().empty())
    return true;
  auto const isKept = [&](OpResult result) {
    BlockArgument const carried = carriedBefore(result);
    return carried && branch.elseYield().getOperand(result.getResultNumber()) == carried;
  };
  return llvm::hasSingleElement(*branch.elseBlock()) && llvm::all_of(branch->getResults(), isKept);
}

/// Whether a choice changes what the loop carries, or leaves it, and could do so at a place of the body.
static bool changesAt(arith::SelectOp choice, Operation *place) {
  BlockArgument const carried = carriedBefore(choice.getResult());
  auto const isBefore = [&](Operation *op) {
    return op->getBlock() != place->getBlock() || op->isBeforeInBlock(place);
  };
  auto const isMade = [&](Value value) { return !value.getDefiningOp() || isBefore(value.getDefiningOp()); };
  return carried && (choice.getFalseValue() == carried || choice.getTrueValue() == carried) &&
         isMade(choice.getTrueValue()) && isMade(choice.getFalseValue()) &&
         llvm::all_of(carried.getUsers(), [&](Operation *user) {
           Operation *const here = place->getBlock()->findAncestorOpInBlock(*user);
           return user == choice || here == place || isBefore(here);
         });
}

static void joinInto(RewriterBase &rewriter, scf::IfOp branch, ArrayRef<arith::SelectOp> choices) {
  SmallVector<Type> types(branch.getResultTypes());
  for (arith::SelectOp choice : choices)
    types.push_back(choice.getType());
  rewriter.setInsertionPoint(branch);
  auto all = rewriter.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(), /*addThenBlock=*/false,
                                        /*addElseBlock=*/false);
  all->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(branch.getThenRegion(), all.getThenRegion(), all.getThenRegion().end());
  if (branch.getElseRegion().empty()) {
    rewriter.createBlock(&all.getElseRegion());
    rewriter.create<scf::YieldOp>(branch.getLoc());
  } else
    rewriter.inlineRegionBefore(branch.getElseRegion(), all.getElseRegion(), all.getElseRegion().end());
  for (arith::SelectOp choice : choices) {
    all.thenYield()->insertOperands(all.thenYield()->getNumOperands(), choice.getTrueValue());
    all.elseYield()->insertOperands(all.elseYield()->getNumOperands(), choice.getFalseValue());
  }
  rewriter.replaceOp(branch, all.getResults().drop_back(choices.size()));
  for (auto [choice, result] : llvm::zip(choices, all.getResults().take_back(choices.size())))
    rewriter.replaceOp(choice, result);
}

/// Two choices and more by one condition become a branch where the last one of them stands.
static void joinChoices(RewriterBase &rewriter, Block &body) {
  llvm::MapVector<Value, SmallVector<arith::SelectOp>> byCondition;
  for (auto choice : body.getOps<arith::SelectOp>())
    if (carriedBefore(choice.getResult()))
      byCondition[choice.getCondition()].push_back(choice);
  for (auto &[condition, choices] : byCondition) {
    Operation *const last = choices.back();
    llvm::erase_if(choices, [&](arith::SelectOp choice) { return !changesAt(choice, last); });
    if (choices.size() < 2)
      continue;
    rewriter.setInsertionPoint(last);
    auto branch = rewriter.create<scf::IfOp>(last->getLoc(), TypeRange(), condition, /*withElseRegion=*/false);
    joinInto(rewriter, branch, choices);
  }
}

namespace {
struct JoinUpdates : impl::JoinUpdatesBase<JoinUpdates> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> branches;
    SmallVector<Block *> bodies;
    getOperation().walk([&](Operation *op) {
      if (!op->getParentOfType<nest::LoopKernelOp>())
        return;
      auto branch = dyn_cast<scf::IfOp>(op);
      if (branch && isa<scf::ForOp, scf::WhileOp>(branch->getParentOp()) && isUpdate(branch))
        branches.push_back(branch);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        bodies.push_back(loop.getBody());
      else if (auto decided = dyn_cast<scf::WhileOp>(op))
        bodies.push_back(decided.getAfterBody());
    });
    IRRewriter rewriter(&getContext());
    for (scf::IfOp branch : branches) {
      SmallVector<arith::SelectOp> choices;
      for (auto choice : branch->getBlock()->getOps<arith::SelectOp>())
        if (choice.getCondition() == branch.getCondition() &&
            choice.getFalseValue() == carriedBefore(choice.getResult()) && changesAt(choice, branch))
          choices.push_back(choice);
      if (!choices.empty())
        joinInto(rewriter, branch, choices);
    }
    for (Block *body : bodies)
      joinChoices(rewriter, *body);
  }
};
} // namespace

} // namespace ml2k
