//===- Generalize.cpp - named operations become linalg.generic ----------------------------------------------------===//
//
// One spelling for later passes: every structured operation is a linalg.generic, except linalg.fill (an initial value)
// and linalg.transpose (a change of layout, which the layout pass moves and cancels).
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_GENERALIZE
#include "passes/Passes.h.inc"

namespace {

struct NamedToGeneric : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp>(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

struct SoftmaxToLoops : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> const parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

/// A generic that only copies its one full-rank input in another order of dimensions is a linalg.transpose.
struct CopyToTranspose : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
        !op.hasPureTensorSemantics())
      return failure();
    AffineMap const in = op.getIndexingMapsArray()[0], out = op.getIndexingMapsArray()[1];
    Block &body = op.getRegion().front();
    if (!in.isPermutation() || !out.isPermutation() || &body.front() != &body.back() ||
        body.back().getOperand(0) != body.getArgument(0))
      return failure();
    // out dimension i is loop out(i), which is in dimension in⁻¹(out(i))
    AffineMap const inverse = inversePermutation(in);
    SmallVector<int64_t> permutation;
    for (AffineExpr expr : out.getResults())
      permutation.push_back(inverse.getDimPosition(cast<AffineDimExpr>(expr).getPosition()));
    if (op.getInputs()[0].getType() == op.getResult(0).getType() && llvm::is_sorted(permutation))
      rewriter.replaceOp(op, op.getInputs()[0]);
    else
      rewriter.replaceOpWithNewOp<linalg::TransposeOp>(op, op.getInputs()[0], op.getOutputs()[0], permutation);
    return success();
  }
};

/// A sum of products that starts from anything but zero is a sum from zero and an addition, which can be an epilogue.
struct SeparateInit : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || !isMultiplyAdd(op))
      return failure();
    Value const init = op.getOutputs()[0];
    auto const start = fillValue(init);
    auto const type = cast<RankedTensorType>(init.getType());
    if (start && isZero(*start))
      return failure();
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sources.push_back({init, d});
    Location const loc = op.getLoc();
    Value const zero = rewriter.create<arith::ConstantOp>(loc, rewriter.getZeroAttr(type.getElementType()));
    Value const zeros =
        rewriter.create<linalg::FillOp>(loc, zero, emptyLike(rewriter, loc, type, sources)).getResult(0);
    rewriter.modifyOpInPlace(op, [&] { op.getOutputsMutable().assign(zeros); });
    rewriter.setInsertionPointAfter(op);
    SmallVector<OpOperand *> uses; // not those of the addition: it asks the sum for its sizes
    for (OpOperand &use : op->getUses())
      uses.push_back(&use);
    AffineMap const identity = rewriter.getMultiDimIdentityMap(type.getRank());
    Value const sum =
        elementwise(rewriter, loc, op.getResult(0), init, identity, [&](OpBuilder &inside, Value a, Value b) {
          return isa<FloatType>(a.getType()) ? inside.create<arith::AddFOp>(loc, a, b).getResult()
                                             : inside.create<arith::AddIOp>(loc, a, b).getResult();
        });
    for (OpOperand *use : uses)
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(sum); });
    return success();
  }
};

struct Generalize : impl::GeneralizeBase<Generalize> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NamedToGeneric, SoftmaxToLoops, CopyToTranspose, SeparateInit>(&getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
