//===- FuseTerms.cpp - what a Scatter adds is computed where it is added ------------------------------------------===//

#include "passes/Rewrite.h"
#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Whether a nest of loops asks for each element once: its subscripts are the indices of all loops around it.
bool readsOnce(tensor::ExtractOp extract) {
  SmallVector<Value> loops;
  for (auto loop = extract->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    loops.push_back(loop.getInductionVar());
  llvm::SmallPtrSet<Value, 4> const subscripts(extract.getIndices().begin(), extract.getIndices().end());
  return !loops.empty() && extract.getIndices().size() == loops.size() &&
         llvm::all_of(loops, [&](Value loop) { return subscripts.contains(loop); });
}

/// Whether the loop only changes elements: nothing else waits for its terms.
bool isOfUpdate(tensor::ExtractOp extract) {
  return llvm::all_of(*extract->getBlock(),
                      [](Operation &op) {
                        return isa<tensor::InsertOp, scf::YieldOp>(op) || (isPure(&op) && op.getNumRegions() == 0);
                      }) &&
         llvm::hasSingleElement(extract->getBlock()->getOps<tensor::InsertOp>());
}

/// Elementwise work of a few operations that nothing else reads, gathers among them. Threads of a host share the
/// columns of updates only: what takes long is a kernel of its own.
linalg::GenericOp cheapProducer(Value tensor) {
  constexpr int64_t most = 8; // operations
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op->getNumResults() != 1 ||
      !op->hasOneUse() || isExpensive(op) || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getIndexingMapsArray().back().isPermutation())
    return nullptr;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (!isa<RankedTensorType>(operand->get().getType()) ||
        !llvm::all_of(op.getMatchingIndexingMap(operand).getResults(),
                      llvm::IsaPred<AffineDimExpr, AffineConstantExpr>))
      return nullptr;
  auto const body = op.getBody()->without_terminator();
  bool const isFew = std::distance(body.begin(), body.end()) <= most;
  return isFew && llvm::all_of(body, [](Operation &inner) { return isPure(&inner) && inner.getNumRegions() == 0; })
             ? op
             : nullptr;
}

struct FuseTerm : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, PatternRewriter &rewriter) const override {
    linalg::GenericOp producer = cheapProducer(extract.getTensor());
    if (!producer || !readsOnce(extract) || !isOfUpdate(extract))
      return failure();
    Location const loc = extract.getLoc();
    SmallVector<Value> loops(producer.getNumLoops());
    for (auto [expr, index] : llvm::zip(producer.getIndexingMapsArray().back().getResults(), extract.getIndices()))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    auto const element = [&](BlockArgument argument) -> Value {
      OpOperand &operand = producer->getOpOperand(argument.getArgNumber());
      SmallVector<Value> at;
      for (AffineExpr const expr : producer.getMatchingIndexingMap(&operand).getResults())
        if (auto const dim = dyn_cast<AffineDimExpr>(expr))
          at.push_back(loops[dim.getPosition()]);
        else
          at.push_back(rewriter.create<arith::ConstantIndexOp>(loc, cast<AffineConstantExpr>(expr).getValue()));
      return rewriter.create<tensor::ExtractOp>(loc, operand.get(), at);
    };
    BodyCopier copier(rewriter, producer, element, [&](int64_t loop) { return loops[loop]; });
    rewriter.replaceOp(extract, copier.copy(yielded(producer, 0)));
    rewriter.eraseOp(producer);
    return success();
  }
};

} // namespace

void populateFuseTerms(RewritePatternSet &patterns) { patterns.add<FuseTerm>(patterns.getContext()); }

} // namespace ml2k
