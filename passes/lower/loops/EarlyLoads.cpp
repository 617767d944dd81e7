//===- EarlyLoads.cpp - what both ways of a choice may read is read in front of it --------------------------------===//
//
// An upwind scheme reads other neighbours in each of two branches. A compiler cannot know that all of them are there:
// it reads under a mask, at positions that it computes under the mask, too, and gives vectors up. Where loops and
// extents prove that a position is inside, the element is read in any case. What both branches store then, each in the
// same element, is one store of a choice.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopSizes.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Reads in front of a choice cost less than its branches, up to so many.
constexpr size_t mostLoads = 16;

/// What has vectors under a mask: no call, nothing that ends the program for some values.
bool hasVectors(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp, scf::YieldOp, math::AbsFOp, math::AbsIOp, math::SqrtOp, math::FmaOp,
             math::FloorOp, math::CeilOp, math::CopySignOp>(op) ||
         (isa<arith::ArithDialect>(op->getDialect()) && isPure(op));
}

class EarlyLoads : LoopSizes {
public:
  using LoopSizes::LoopSizes;

  void run() {
    entry.walk([&](nest::LoopKernelOp kernel) {
      enterKernel(kernel);
      visit(kernel.getBody().front());
      leave(kernel.getLowers().size());
    });
  }

private:
  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        enter(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        visit(*loop.getBody());
        leave();
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        visitBranch(branch);
      }
    }
  }

  /// All loads of a choice go, or none: a single one under a mask would keep the loop from vectors.
  void visitBranch(scf::IfOp branch) {
    SmallVector<memref::LoadOp> loads;
    SmallVector<Value> written;
    bool canMove = true;
    branch->walk([&](Operation *op) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        loads.push_back(load);
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        written.push_back(store.getMemref());
      canMove &= isa<scf::IfOp>(op) || hasVectors(op);
    });
    auto const isKept = [&](memref::LoadOp load) {
      return llvm::any_of(written, [&](Value other) { return mayAlias(load.getMemref(), other); }) || !isInside(load);
    };
    if (!canMove || loads.size() > mostLoads || llvm::any_of(loads, isKept))
      return;
    for (memref::LoadOp load : loads) {
      for (Value index : load.getIndices())
        moveBefore(branch, index);
      load->moveBefore(branch);
    }
    // gcc takes them back into the branch, where it computes their positions as what may wrap: no vectors
    bool const readsNeighbours = llvm::any_of(loads, [](memref::LoadOp load) {
      return llvm::any_of(load.getIndices(), [](Value index) {
        return index.getDefiningOp<arith::AddIOp>() || index.getDefiningOp<arith::SubIOp>();
      });
    });
    bool const hasElse = branch.elseBlock() && !llvm::hasSingleElement(*branch.elseBlock());
    if (readsNeighbours && !hasElse && !branch.thenBlock()->getOps<memref::StoreOp>().empty())
      branch->setAttr(nest::earlyLoads, UnitAttr::get(branch.getContext()));
    SmallVector<scf::IfOp> choices; // inner ones first
    branch->walk([&](scf::IfOp choice) { choices.push_back(choice); });
    for (scf::IfOp choice : choices)
      joinStores(choice);
  }

  /// The only store of a branch, behind all else that it does.
  static memref::StoreOp lastStore(Block *block) {
    if (!block || block->getOperations().size() < 2 || !llvm::hasSingleElement(block->getOps<memref::StoreOp>()))
      return {};
    auto store = dyn_cast<memref::StoreOp>(*std::prev(block->getTerminator()->getIterator()));
    return store && store->getDiscardableAttrs().empty() ? store : memref::StoreOp();
  }

  /// `if (c) y(i) = a; else y(i) = b;` is `y(i) = c ? a : b;`.
  static void joinStores(scf::IfOp branch) {
    memref::StoreOp yes = lastStore(branch.thenBlock()), no = lastStore(branch.elseBlock());
    auto const isInside = [&](Value value) { return branch->isAncestor(value.getParentRegion()->getParentOp()); };
    bool const hasOthers = branch
                               ->walk([&](memref::StoreOp store) {
                                 return store == yes || store == no ? WalkResult::advance() : WalkResult::interrupt();
                               })
                               .wasInterrupted();
    if (branch.getNumResults() != 0 || !yes || !no || hasOthers || yes.getMemref() != no.getMemref() ||
        yes.getIndices() != no.getIndices() || isInside(yes.getMemref()) || llvm::any_of(yes.getIndices(), isInside))
      return;
    IRRewriter rewriter(branch.getContext());
    rewriter.setInsertionPoint(branch);
    auto chosen = rewriter.create<scf::IfOp>(branch.getLoc(), yes.getValue().getType(), branch.getCondition(),
                                             /*addThenBlock=*/true, /*addElseBlock=*/true);
    for (auto [store, to] : {std::pair(yes, chosen.thenBlock()), std::pair(no, chosen.elseBlock())}) {
      Block *const from = store->getBlock();
      to->getOperations().splice(to->end(), from->getOperations(), from->begin(), store->getIterator());
      rewriter.setInsertionPointToEnd(to);
      rewriter.create<scf::YieldOp>(store->getLoc(), store.getValue());
    }
    rewriter.setInsertionPointAfter(chosen);
    rewriter.create<memref::StoreOp>(yes.getLoc(), chosen.getResult(0), yes.getMemref(), yes.getIndices());
    rewriter.eraseOp(branch);
  }

  /// Whether an element is there for all positions of the loops around.
  bool isInside(memref::LoadOp load) {
    for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
      Value64 const position = polynomial(index);
      Value64 const least = extreme(position, false);
      Value64 const beyond = sum(sum(extreme(position, true), Polynomial(1), 1), extent(load.getMemref(), dim), -1);
      if (!least || !beyond || signOf(*least) <= 0 || !beyond->isConstant() || beyond->constant() > 0)
        return false;
    }
    return true;
  }

  /// The arithmetic of a position, which is sums and products: its polynomial is known.
  static void moveBefore(scf::IfOp branch, Value index) {
    Operation *op = index.getDefiningOp();
    if (!op || !branch->isProperAncestor(op))
      return;
    for (Value operand : op->getOperands())
      moveBefore(branch, operand);
    op->moveBefore(branch);
  }
};

} // namespace

void hoistLoads(func::FuncOp entry) { EarlyLoads(entry).run(); }

} // namespace ml2k
