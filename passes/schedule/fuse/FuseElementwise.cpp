//===- FuseElementwise.cpp - elementwise operations join those that read them -------------------------------------===//
//
// Upstream's fusion with our rule of what pays: nothing expensive is computed more often than before, and contiguous
// reads stay contiguous unless a copy vanishes.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/fuse/FusedPositions.h"
#include "passes/schedule/fuse/SparseOperands.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/Passes.h.inc"

namespace {
bool isCopy(linalg::GenericOp op) { return op.getBody()->getOperations().size() == 1; }

/// Cheap enough to be computed once per reader: one tensor read, one operation.
bool isTrivial(linalg::GenericOp op) {
  unsigned const tensors = llvm::count_if(op.getDpsInputs(), [](Value input) { return !isUniform(input); });
  return tensors <= 1 && op.getBody()->getOperations().size() <= 2 && !isExpensive(op) && op->getNumResults() == 1;
}

/// The distance that each loop of a sum of them moves, forwards or backwards; nothing for other subscripts.
std::optional<SmallVector<std::pair<int64_t, unsigned>>> stepsOf(AffineExpr expr) {
  if (auto const dim = dyn_cast<AffineDimExpr>(expr))
    return {{{1, dim.getPosition()}}};
  if (isa<AffineConstantExpr>(expr))
    return SmallVector<std::pair<int64_t, unsigned>>();
  auto const both = dyn_cast<AffineBinaryOpExpr>(expr);
  auto left = both ? stepsOf(both.getLHS()) : std::nullopt;
  if (!left)
    return std::nullopt;
  if (auto const factor = dyn_cast<AffineConstantExpr>(both.getRHS());
      factor && both.getKind() == AffineExprKind::Mul) {
    for (auto &[step, loop] : *left)
      if (llvm::MulOverflow(step, factor.getValue(), step) || step == std::numeric_limits<int64_t>::min())
        return std::nullopt;
      else
        step = std::abs(step);
    return left;
  }
  auto const right = both.getKind() == AffineExprKind::Add ? stepsOf(both.getRHS()) : std::nullopt;
  if (!right)
    return std::nullopt;
  llvm::append_range(*left, *right);
  return left;
}

/// Whether windows along a subscript overlap: a loop moves by no more than what the loops of smaller steps reach.
bool overlaps(AffineExpr expr, ArrayRef<int64_t> extents) {
  auto steps = stepsOf(expr);
  if (!steps)
    return false;
  llvm::sort(*steps);
  constexpr int64_t everything = std::numeric_limits<int64_t>::max();
  int64_t reach = 0;
  for (auto [step, loop] : *steps) {
    if (extents[loop] == 1)
      continue;
    if (step <= reach)
      return true;
    int64_t more = 0;
    if (ShapedType::isDynamic(extents[loop]) || llvm::MulOverflow(step, extents[loop] - 1, more) ||
        llvm::AddOverflow(reach, more, reach))
      reach = everything;
  }
  return false;
}

/// The reader asks for each element of its operand once: all of its loops of more than one step address it, and it
/// does not slide a window.
bool readsOnce(linalg::GenericOp reader, OpOperand &operand) {
  AffineMap const map = reader.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> const extents = reader.getStaticLoopRanges();
  if (llvm::any_of(map.getResults(), [&](AffineExpr expr) { return overlaps(expr, extents); }))
    return false;
  for (auto [loop, extent] : llvm::enumerate(reader.getStaticLoopRanges()))
    if (extent != 1 && !map.isFunctionOfDim(loop))
      return false;
  return true;
}

/// The last loop that walks through the operand also walks through the output's last dimension, or through nothing
/// else.
bool keepsOrder(linalg::GenericOp reader, OpOperand &operand) {
  AffineMap const in = reader.getMatchingIndexingMap(&operand);
  AffineMap const out = reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  auto const lastLoop = [](AffineMap map) -> std::optional<unsigned> {
    for (AffineExpr expr : llvm::reverse(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        return dim.getPosition();
    return std::nullopt;
  };
  return reader.getNumReductionLoops() != 0 || !lastLoop(in) || lastLoop(in) == lastLoop(out);
}

/// An operation or two on a tensor and numbers that many of its elements share: the distance from a mean.
bool isShift(linalg::GenericOp op) {
  int64_t const rank = op.getNumLoops();
  return op->getNumResults() == 1 && op.getBody()->getOperations().size() <= 3 &&
         llvm::all_of(op.getBody()->without_terminator(),
                      llvm::IsaPred<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>) &&
         llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
           return op.getMatchingIndexingMap(input).getNumResults() == rank && !isUniform(input->get());
         }) <= 1;
}

/// A variance reads each element's distance from the mean, and so does what is scaled by it: both compute it, rather
/// than one more kernel.
bool isComputedAgain(linalg::GenericOp reader, linalg::GenericOp producer, OpOperand &operand) {
  return reader.getNumReductionLoops() != 0 && isShift(producer) && !producer->getResult(0).hasOneUse() &&
         readsOnce(reader, operand);
}

bool pays(OpOperand &operand) {
  auto reader = dyn_cast<linalg::GenericOp>(operand.getOwner());
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  if (!reader || !isElementwise(producer) || !producer.hasPureTensorSemantics() || !reader.hasPureTensorSemantics() ||
      reader.isDpsInit(&operand) || producer->getBlock() != reader->getBlock() ||
      !fitOneKernel(*producer.getBody(), *reader.getBody()) || finishesTotal(producer, reader))
    return false;
  bool const single = producer->getNumResults() == 1 && producer->getResult(0).hasOneUse();
  // The other readers take the element from the fused operation: they come after it
  bool const everywhere = llvm::all_of(producer->getUsers(), [&](Operation *user) {
    return isa<linalg::GenericOp>(user) && user->getBlock() == reader->getBlock() &&
           (user == reader || reader->isBeforeInBlock(user));
  });
  // A reduction has one result, and the others want all elements
  bool const yieldsBoth =
      everywhere && reader.getNumReductionLoops() == 0 && reader.getMatchingIndexingMap(&operand).isPermutation();
  if (!single && !(yieldsBoth && isTrivial(producer) && readsOnce(reader, operand)) &&
      !isComputedAgain(reader, producer, operand))
    return false;
  if (!readsOnce(reader, operand) && (!isTrivial(producer) || isCopy(producer)))
    return false;
  return isCopy(producer) || keepsOrder(reader, operand);
}

struct Fuse : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!linalg::areElementwiseOpsFusable(&operand) || !pays(operand))
        continue;
      auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
      if (op.getNumReductionLoops() != 0 && !operand.get().hasOneUse()) // the others have theirs
        rewriter.modifyOpInPlace(op, [&] { operand.set(rewriter.clone(*producer)->getResult(0)); });
      Location const loc = rewriter.getFusedLoc({operand.get().getLoc(), op.getLoc()});
      auto fused = linalg::fuseElementwiseOps(rewriter, &operand);
      if (failed(fused))
        continue;
      fused->fusedOp->setLoc(loc);
      // It may read the producer through another operand, too
      for (auto [from, to] : fused->replacements)
        rewriter.replaceUsesWithIf(from, to, [&](OpOperand &use) { return use.getOwner() != fused->fusedOp; });
      rewriter.eraseOp(op);
      return success();
    }
    return failure();
  }
};

/// A copy that nothing else reads (a flip), and a transpose of it or of what it reads.
linalg::GenericOp copyOf(Value value) {
  auto copy = value.getDefiningOp<linalg::GenericOp>();
  return isElementwise(copy) && copy.hasPureTensorSemantics() && isCopy(copy) && copy.getNumDpsInputs() == 1 &&
                 copy->getNumResults() == 1 && copy->hasOneUse() && copy.getIndexingMapsArray()[1].isIdentity() &&
                 !copy.payloadUsesValueFromOperand(copy.getDpsInitOperand(0))
             ? copy
             : nullptr;
}

/// Where dimension i of the result is dimension permutation[i] of the input: the position in the input.
AffineMap inputOf(linalg::TransposeOp op) {
  return AffineMap::getPermutationMap(invertPermutationVector(op.getPermutation()), op.getContext());
}

/// One copy that changes the order and the places.
struct TransposeCopy : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    linalg::GenericOp copy = op.hasPureTensorSemantics() ? copyOf(op.getInput()) : nullptr;
    if (!copy)
      return failure();
    AffineMap const from = copy.getIndexingMapsArray()[0].compose(inputOf(op));
    auto joined = rewriter.create<linalg::GenericOp>(
        rewriter.getFusedLoc({copy.getLoc(), op.getLoc()}), TypeRange(op.getResult()), copy.getInputs(),
        ValueRange{op.getInit()}, ArrayRef{from, rewriter.getMultiDimIdentityMap(from.getNumDims())},
        copy.getIteratorTypesArray());
    rewriter.inlineRegionBefore(copy.getRegion(), joined.getRegion(), joined.getRegion().begin());
    rewriter.replaceOp(op, joined.getResults());
    rewriter.eraseOp(copy);
    return success();
  }
};

struct CopyTranspose : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp copy, PatternRewriter &rewriter) const override {
    if (!isElementwise(copy) || !copy.hasPureTensorSemantics() || !isCopy(copy) || copy.getNumDpsInputs() != 1)
      return failure();
    auto op = copy.getInputs()[0].getDefiningOp<linalg::TransposeOp>();
    if (!op || !op.hasPureTensorSemantics() || !op->hasOneUse())
      return failure();
    SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
    maps[0] = inputOf(op).compose(maps[0]);
    rewriter.modifyOpInPlace(copy, [&] {
      copy->setLoc(rewriter.getFusedLoc({op.getLoc(), copy.getLoc()}));
      copy.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      copy->setOperand(0, op.getInput());
    });
    return success();
  }
};

struct FuseElementwise : impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Fuse, TransposeCopy, CopyTranspose>(&getContext());
    if (!hasSparseOperands(getOperation()))
      linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    populateReadThroughReshape(patterns);
    populateFuseTerms(patterns);
    populateFusedPositions(patterns);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace ml2k
