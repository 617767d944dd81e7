//===- FuseChains.cpp - elementwise operations join the one that uses them ----------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"
#include "translator/ir/Nest.h"

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

bool isKernel(Operation *op) { return isa_and_nonnull<nest::ConvOp, nest::ContractOp, nest::WindowOp>(op); }

/// What follows one kernel belongs to that kernel, even if its reader joins the results of two: a bias stays with its
/// convolution.
bool isEpilogueBeforeJoin(linalg::GenericOp producer, linalg::GenericOp reader) {
  bool const followsKernel = llvm::any_of(
      producer.getDpsInputs(), [](Value input) { return isKernel(input.getDefiningOp()) && input.hasOneUse(); });
  unsigned const joined = llvm::count_if(reader.getDpsInputs(), [](Value input) {
    return !isUniform(input) && !isa_and_nonnull<nest::WeightOp>(input.getDefiningOp());
  });
  return followsKernel && joined > 1;
}

struct FuseChains : impl::FuseChainsBase<FuseChains> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      // Reductions are joined later, by rows; here chains stay elementwise
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      return consumer && producer && consumer.getNumReductionLoops() == 0 && isReadOnlyBy(operand->get(), consumer) &&
             !isEpilogueBeforeJoin(producer, consumer);
    });
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
