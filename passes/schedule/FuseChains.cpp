//===- FuseChains.cpp - elementwise operations join the one that uses them ------------------------------*- C++ -*-===//

#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FUSECHAINS
#include "passes/Passes.h.inc"

namespace {

/// True if nothing but `user` reads the value: joining computes nothing twice and leaves no buffer behind.
bool isReadOnlyBy(Value value, Operation *user) {
  return llvm::all_of(value.getUsers(), [&](Operation *other) { return other == user; });
}

struct FuseChains : impl::FuseChainsBase<FuseChains> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      // Reductions are joined later, by rows; here chains stay elementwise
      return consumer && consumer.getNumReductionLoops() == 0 && isReadOnlyBy(operand->get(), consumer);
    });
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
