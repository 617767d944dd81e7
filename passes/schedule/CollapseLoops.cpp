//===- CollapseLoops.cpp - elementwise work on a reshaped result happens before the reshape -----------------------===//
//
// A contraction makes [rows, n]; what follows it in the model has more dimensions. Expansions move down through
// generics so that bias, activation and residual meet the contraction in its own shape. Dimensions of extent 1 do not
// stand in the way.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_COLLAPSELOOPS
#include "passes/Passes.h.inc"

namespace {

struct CollapseLoops : impl::CollapseLoopsBase<CollapseLoops> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, [](OpOperand *) { return true; });
    populateReadThroughReshape(patterns);
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
