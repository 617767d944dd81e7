//===- Broadcasts.cpp - elementwise operations read what others only spread ---------------------------------------===//
//
// A bias that is spread over an image is added as the vector that it is. Where several layers have it alike, the image
// would be memory, written and read for nothing; and an image is one more operand that changes of shape between the
// addition and its convolution would have to go through. A weight that is spread over a batch is one matrix again,
// which can be packed.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/Broadcasts.h"
#include "passes/schedule/Tensors.h"

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

/// Whether an operation only spreads its only input, which is read at number 0 along extents of 1.
bool spreadsUnits(linalg::GenericOp op) {
  if (!isElementwise(op) || op.getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
      !llvm::hasSingleElement(*op.getBlock()) || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      op.getBlock()->getTerminator()->getOperand(0) != op.getBlock()->getArgument(0))
    return false;
  AffineMap const map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  auto const type = cast<RankedTensorType>(op.getInputs()[0].getType());
  return map.isProjectedPermutation(/*allowZeroInResults=*/true) && !map.isProjectedPermutation() &&
         llvm::all_of(llvm::enumerate(map.getResults()), [&](auto indexed) {
           return isa<AffineDimExpr>(indexed.value()) || type.getDimSize(indexed.index()) == 1;
         });
}

/// A mean of each row, kept as [rows, 1], is spread as [rows].
struct SpreadWithoutUnits : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!spreadsUnits(op))
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<ReassociationIndices> groups;
    SmallVector<AffineExpr> exprs;
    for (auto [dim, expr] : llvm::enumerate(maps[0].getResults())) {
      bool const isKept = isa<AffineDimExpr>(expr);
      if (groups.empty() || (isKept && exprs.size() == groups.size()))
        groups.emplace_back();
      groups.back().push_back(int64_t(dim));
      if (isKept)
        exprs.push_back(expr);
    }
    if (exprs.empty())
      groups.clear();
    maps[0] = AffineMap::get(maps[0].getNumDims(), 0, exprs, op.getContext());
    Value const input = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), op.getInputs()[0], groups);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(input);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};

struct ReadSource : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp source, PatternRewriter &rewriter) const override {
    if (!isSpreading(source))
      return failure();
    Value const spread = source->getResult(0);
    bool isRead = false;
    for (Operation *user : SetVector<Operation *>(spread.user_begin(), spread.user_end()))
      if (auto op = dyn_cast<linalg::GenericOp>(user); op && (isElementwise(op) || isProductOf(op, source)))
        while (OpOperand *input = inputOf(op, spread)) {
          read(op, *input, source, rewriter);
          isRead = true;
        }
    return success(isRead);
  }

private:
  /// Whether it is a product with a matrix that all entries of a batch share: the loops along which it is spread are
  /// those of another operand, and none of the sum.
  static bool isProductOf(linalg::GenericOp op, linalg::GenericOp source) {
    Value const spread = source->getResult(0);
    if (source.getNumDpsInputs() != 1 || !op.hasPureTensorSemantics() || !isMultiplyAdd(op) ||
        llvm::count(op.getInputs(), spread) != 1)
      return false;
    AffineMap const kept = source.getMatchingIndexingMap(source.getDpsInputOperand(0));
    AffineMap const map = op.getMatchingIndexingMap(inputOf(op, spread));
    AffineMap const out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto indexed) {
      auto const [dim, expr] = indexed;
      return kept.isFunctionOfDim(dim) || (isa<AffineDimExpr>(expr) && llvm::is_contained(out.getResults(), expr));
    });
  }

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
  patterns.add<ReadSource, SpreadExpanded, SpreadWithoutUnits>(patterns.getContext());
}

} // namespace ml2k
