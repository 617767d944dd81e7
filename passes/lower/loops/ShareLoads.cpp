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
      else if (!isa<memref::LoadOp>(op) && !isPure(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
               !op->hasTrait<OpTrait::IsTerminator>())
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
    size_t const outside = seen.size();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (Operation *const same = isShareable(&op) ? findSame(&op) : nullptr)
        rewriter.replaceOp(&op, same);
      else if (isShareable(&op))
        seen.push_back(&op);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner);
    }
    seen.truncate(outside);
  }

  /// Loads, and what is computed of them.
  bool isShareable(Operation *op) const {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return isConstant(load.getMemref());
    return op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) && op->getNumOperands() > 0;
  }

  Operation *findSame(Operation *op) const {
    constexpr size_t most = 32; // that are remembered: time must not grow with the square of the block
    for (Operation *other : llvm::reverse(ArrayRef(seen).take_back(most)))
      if (areSame(op, other))
        return other;
    return nullptr;
  }

  /// Whatever the text calls them.
  static bool areSame(Operation *a, Operation *b) {
    return a->getName() == b->getName() && a->getOperands() == b->getOperands() &&
           a->getResultTypes() == b->getResultTypes() &&
           a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage());
  }

  RewriterBase &rewriter;
  SmallVector<Value> written;
  SmallVector<Operation *> seen;
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
