//===- ShareLoads.cpp - an iteration reads an element of the input once -------------------------------------------===//
//
// Upstream's elimination of common expressions, and C++ compilers, do not know that arguments never overlap: behind a
// store they read the same index again. What no store of a parallel loop writes is read once.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

class Sharing {
public:
  Sharing(RewriterBase &rewriter, scf::ParallelOp loop) : rewriter(rewriter) {
    loop->walk([&](Operation *op) {
      if (auto store = dyn_cast<memref::StoreOp>(op))
        written.push_back(store.getMemref());
      else if (!isa<memref::LoadOp, memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op) && !isPure(op) &&
               !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !op->hasTrait<OpTrait::IsTerminator>())
        isKnown = false;
    });
    if (isKnown)
      visit(*loop.getBody());
  }

private:
  bool isConstant(Value memref) const {
    return llvm::none_of(written, [&](Value other) { return mayAlias(memref, other); });
  }

  /// The operations of a block, behind those of the blocks around it.
  void visit(Block &block) {
    SmallVector<unsigned> own;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isShareable(&op)) {
        SmallVector<Operation *, 1> &known = seen[hashOf(&op)];
        auto *const same = llvm::find_if(known, [&](Operation *other) { return areSame(&op, other); });
        if (same != known.end()) {
          rewriter.replaceOp(&op, *same);
          continue;
        }
        known.push_back(&op);
        own.push_back(hashOf(&op));
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner);
    }
    for (unsigned hash : llvm::reverse(own))
      seen[hash].pop_back();
  }

  /// Loads, and what is computed of them.
  bool isShareable(Operation *op) const {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return isConstant(load.getMemref());
    return op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) && op->getNumOperands() > 0;
  }

  static unsigned hashOf(Operation *op) {
    return llvm::hash_combine(op->getName(), op->getResult(0).getType(),
                              llvm::hash_combine_range(op->operand_begin(), op->operand_end()));
  }

  /// Whatever the text calls them.
  static bool areSame(Operation *a, Operation *b) {
    return a->getName() == b->getName() && a->getOperands() == b->getOperands() &&
           a->getResultTypes() == b->getResultTypes() &&
           a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage());
  }

  RewriterBase &rewriter;
  SmallVector<Value> written;
  DenseMap<unsigned, SmallVector<Operation *, 1>> seen;
  bool isKnown = true;
};

} // namespace

void shareLoads(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  entry.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
    Sharing(rewriter, loop);
    return WalkResult::skip();
  });
}

} // namespace ml2k
