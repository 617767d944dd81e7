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
      map = AffineMap::get(op.getNumLoops(), 0, indices, getContext());
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
};

} // namespace

void populateReadThroughReshape(RewritePatternSet &patterns) {
  patterns.add<ReadThroughReshape>(patterns.getContext());
}

} // namespace ml2k
