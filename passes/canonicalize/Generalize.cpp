//===- Generalize.cpp - named operations become linalg.generic ----------------------------------------------*- C++ -*-===//
//
// One spelling for later passes: every structured operation is a linalg.generic, except linalg.fill (an initial value) and
// linalg.transpose (a change of layout, which the layout pass moves and cancels).
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

struct Generalize : impl::GeneralizeBase<Generalize> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NamedToGeneric, SoftmaxToLoops, CopyToTranspose>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
