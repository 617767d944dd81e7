//===- Broadcasts.cpp - elementwise operations read what others only spread ---------------------------------------===//
//
// A bias that several layers have alike is spread over an image once, and added to each: as memory it would be written
// and read for nothing. Where one operation reads it the two become one kernel anyway.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/Broadcasts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {
namespace {

bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumParallelLoops() == op.getNumLoops();
}

/// Whether an operation writes a number to all of its result, or spreads its only input.
bool isSpreading(linalg::GenericOp op) {
  if (!isElementwise(op) || op.getNumResults() != 1 || op.getNumDpsInputs() > 1 ||
      !llvm::hasSingleElement(*op.getBlock()) || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return false;
  Value const yielded = op.getBlock()->getTerminator()->getOperand(0);
  if (op.getNumDpsInputs() == 0)
    return matchPattern(yielded, m_Constant());
  AffineMap const map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  return map.isProjectedPermutation() && map.getNumResults() < map.getNumDims() &&
         yielded == op.getBlock()->getArgument(0);
}

struct ReadSource : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp source, PatternRewriter &rewriter) const override {
    if (!isSpreading(source) || source->hasOneUse())
      return failure();
    Value const spread = source->getResult(0);
    bool isRead = false;
    for (Operation *user : SetVector<Operation *>(spread.user_begin(), spread.user_end()))
      if (auto op = dyn_cast<linalg::GenericOp>(user); op && isElementwise(op))
        while (OpOperand *input = inputOf(op, spread)) {
          read(op, *input, source, rewriter);
          isRead = true;
        }
    return success(isRead);
  }

private:
  static OpOperand *inputOf(linalg::GenericOp op, Value value) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == value)
        return input;
    return nullptr;
  }

  static void read(linalg::GenericOp op, OpOperand &input, linalg::GenericOp source, PatternRewriter &rewriter) {
    if (source.getNumDpsInputs() == 0) { // a number
      Value const number = source.getBlock()->getTerminator()->getOperand(0);
      rewriter.modifyOpInPlace(op, [&] { rewriter.replaceAllUsesWith(op.getMatchingBlockArgument(&input), number); });
      dropInput(op, input.getOperandNumber(), rewriter);
      return;
    }
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &map = maps[input.getOperandNumber()];
    map = source.getMatchingIndexingMap(source.getDpsInputOperand(0)).compose(map);
    rewriter.modifyOpInPlace(op, [&] {
      input.set(source.getInputs()[0]);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }

  static void dropInput(linalg::GenericOp op, unsigned number, PatternRewriter &rewriter) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.erase(maps.begin() + number);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().erase(number);
      op.getBlock()->eraseArgument(number);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
};

/// A vector that is spread and then takes another shape takes that first: biases of the groups of a convolution.
struct SpreadExpanded : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto source = op.getSrc().getDefiningOp<linalg::GenericOp>();
    RankedTensorType const type = op.getResultType();
    if (!source || !isSpreading(source) || source.getNumDpsInputs() != 1 || !type.hasStaticShape())
      return failure();
    SmallVector<ReassociationIndices> const groups = op.getReassociationIndices();
    AffineMap const map = source.getMatchingIndexingMap(source.getDpsInputOperand(0));
    SmallVector<ReassociationIndices> inputGroups;
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults()) {
      inputGroups.emplace_back();
      for (int64_t dim : groups[cast<AffineDimExpr>(expr).getPosition()]) {
        inputGroups.back().push_back(int64_t(shape.size()));
        shape.push_back(type.getDimSize(dim));
        exprs.push_back(rewriter.getAffineDimExpr(dim));
      }
    }
    Location const location = source.getLoc();
    Value input = source.getInputs()[0];
    if (shape.size() != inputGroups.size())
      input = rewriter.create<tensor::ExpandShapeOp>(location, RankedTensorType::get(shape, type.getElementType()),
                                                     input, inputGroups);
    Value const empty = rewriter.create<tensor::EmptyOp>(location, type.getShape(), type.getElementType());
    SmallVector<AffineMap> const maps = {AffineMap::get(type.getRank(), 0, exprs, op.getContext()),
                                         rewriter.getMultiDimIdentityMap(type.getRank())};
    SmallVector<utils::IteratorType> const loops(type.getRank(), utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, input, empty, maps, loops,
        [](OpBuilder &inside, Location at, ValueRange values) { inside.create<linalg::YieldOp>(at, values[0]); });
    return success();
  }
};

} // namespace

void populateBroadcasts(RewritePatternSet &patterns) {
  patterns.add<ReadSource, SpreadExpanded>(patterns.getContext());
}

} // namespace ml2k
