//===- ReadThroughReshape.cpp - dimensions of extent 1 that were added only to be read along ----------------------===//
//
// A pattern that several passes use: what keepdims adds behind a reduction is a detail of spelling.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k {
namespace {

/// An input that only has dimensions of extent 1 added or dropped is read as it was before.
struct ReadThroughReshape : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (!isUnitReshape(operand->get().getDefiningOp()))
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      AffineMap &map = maps[operand->getOperandNumber()];
      SmallVector<AffineExpr> loops, indices;
      for (unsigned i = 0; i < op.getNumLoops(); ++i)
        loops.push_back(rewriter.getAffineDimExpr(i));
      indices = indicesOf(map, cast<ShapedType>(operand->get().getType()), loops);
      Value const root = throughUnitReshapes(operand->get(), indices);
      map = AffineMap::get(op.getNumLoops(), 0, withUnitLoops(indices, op.getStaticLoopRanges()), getContext());
      if (!inversePermutation(concatAffineMaps(maps)))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(root);
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }

private:
  /// Index 0 is that of a loop of one iteration beside its neighbour's, if there is one: loops that the other operands
  /// join, a batch of one with the rows of an image, can be joined in this one, too.
  static SmallVector<AffineExpr> withUnitLoops(SmallVector<AffineExpr> indices, ArrayRef<int64_t> extents) {
    auto const loopOf = [&](int64_t at) {
      auto const loop = at >= 0 && at < int64_t(indices.size()) ? dyn_cast<AffineDimExpr>(indices[at]) : nullptr;
      return loop ? int64_t(loop.getPosition()) : -1;
    };
    auto const isFree = [&](int64_t loop) {
      return loop >= 0 && loop < int64_t(extents.size()) && extents[loop] == 1 &&
             llvm::none_of(indices, [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
    };
    for (int64_t at = indices.size(); at-- > 0;) {
      if (indices[at] != getAffineConstantExpr(0, indices[at].getContext()))
        continue;
      int64_t const before = loopOf(at + 1) - 1, after = loopOf(at - 1) < 0 ? -1 : loopOf(at - 1) + 1;
      if (int64_t const loop = isFree(before) ? before : after; isFree(loop))
        indices[at] = getAffineDimExpr(loop, indices[at].getContext());
    }
    return indices;
  }
};

} // namespace

void populateReadThroughReshape(RewritePatternSet &patterns) {
  patterns.add<ReadThroughReshape>(patterns.getContext());
}

} // namespace ml2k
