//===- InlineScalars.cpp - tensors that hold one value become scalars in the code that uses them ------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_INLINESCALARS
#include "passes/Passes.h.inc"

namespace {

/// True for an operand that holds one value.
bool isScalar(Value operand) { return !isa<RankedTensorType>(operand.getType()) || fillValue(operand); }

/// That value, as a scalar.
Value scalarFor(OpBuilder &builder, Location loc, Value operand) {
  auto const value = isa<RankedTensorType>(operand.getType()) ? fillValue(operand) : std::nullopt;
  return value ? builder.create<arith::ConstantOp>(loc, *value).getResult() : operand;
}

/// Operands that hold one value leave the operation; their block arguments become that value.
struct InlineOperands : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    llvm::SmallBitVector inlined(op->getNumOperands());
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (isScalar(operand->get())) {
        inlined.set(operand->getOperandNumber());
      } else {
        inputs.push_back(operand->get());
        maps.push_back(op.getMatchingIndexingMap(operand));
      }
    }
    if (inlined.none() || !coversLoops(op, maps))
      return failure();
    rewriter.setInsertionPoint(op);
    for (unsigned const number : inlined.set_bits())
      rewriter.replaceAllUsesWith(op.getRegion().getArgument(number),
                                  scalarFor(rewriter, op.getLoc(), op->getOperand(number)));
    for (OpOperand &operand : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&operand));
    auto smaller = rewriter.create<linalg::GenericOp>(op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
                                                      op.getIteratorTypesArray());
    op.getRegion().front().eraseArguments(
        [&](BlockArgument argument) { return inlined.test(argument.getArgNumber()); });
    rewriter.inlineRegionBefore(op.getRegion(), smaller.getRegion(), smaller.getRegion().begin());
    rewriter.replaceOp(op, smaller.getResults());
    return success();
  }

  /// The extents of all loops must still follow from an operand.
  static bool coversLoops(linalg::GenericOp op, ArrayRef<AffineMap> inputs) {
    SmallVector<AffineMap> maps(inputs);
    for (OpOperand &operand : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&operand));
    return bool(inversePermutation(concatAffineMaps(maps)));
  }
};

struct InlineScalars : impl::InlineScalarsBase<InlineScalars> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<InlineOperands>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
