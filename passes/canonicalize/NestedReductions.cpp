//===- NestedReductions.cpp - a sum of sums is one sum ------------------------------------------------------------===//
//
// Exporters write a trace, or a mean over an image, one dimension after the other.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/NestedReductions.h"
#include "passes/Constants.h"
#include "passes/schedule/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {
namespace {

/// A reduction to one result whose terms, and result, stand in loops without arithmetic on them.
std::optional<Reduction> reductionOf(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumResults() != 1 || op.getNumReductionLoops() == 0 ||
      op.hasIndexSemantics() || !op.getIndexingMapsArray().back().isProjectedPermutation())
    return std::nullopt;
  return matchReduction(op, 0);
}

bool startsNeutral(linalg::GenericOp op, nest::Combiner combiner) {
  std::optional<TypedAttr> const start = fillValue(op.getOutputs()[0]);
  return start && *start == neutralOf(combiner, start->getType());
}

/// Whether the terms are elements of one of the inputs, each once. Those of a product of matrices are not, and a sum of
/// its results must leave it a product; nor are those of a convolution, whose loops no input alone gives the extents
/// of.
bool hasPlainTerms(linalg::GenericOp op) {
  SmallVector<AffineMap> const maps = op.getIndexingMapsArray();
  ArrayRef<AffineMap> const inputs = ArrayRef(maps).take_front(op.getNumDpsInputs());
  return llvm::all_of(inputs, [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::any_of(inputs, [&](AffineMap map) { return map.getNumResults() == op.getNumLoops(); });
}

struct JoinReductions : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    std::optional<Reduction> const outer = reductionOf(op);
    if (!outer || op.getNumDpsInputs() != 1 || outer->term != op.getBody()->getArgument(0))
      return failure();
    auto producer = op.getInputs()[0].getDefiningOp<linalg::GenericOp>();
    std::optional<Reduction> const inner = reductionOf(producer);
    AffineMap const read = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    if (!inner || !hasPlainTerms(producer) || inner->combiner != outer->combiner || !producer->hasOneUse() ||
        !read.isPermutation() || producer.getResult(0).getType() != op.getInputs()[0].getType() ||
        !startsNeutral(producer, inner->combiner))
      return failure();
    // A loop of the reader is the loop of the producer that addresses the same dimension between them
    AffineMap const made = producer.getIndexingMapsArray().back();
    SmallVector<AffineExpr> loops(op.getNumLoops());
    for (auto [of, by] : llvm::zip(read.getResults(), made.getResults()))
      loops[cast<AffineDimExpr>(of).getPosition()] = by;
    SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
    maps.back() = op.getIndexingMapsArray().back().replaceDimsAndSymbols(loops, {}, producer.getNumLoops(), 0);
    SmallVector<utils::IteratorType> kinds(producer.getNumLoops(), utils::IteratorType::reduction);
    for (AffineExpr const result : maps.back().getResults())
      kinds[cast<AffineDimExpr>(result).getPosition()] = utils::IteratorType::parallel;
    auto joined =
        rewriter.create<linalg::GenericOp>(rewriter.getFusedLoc({producer.getLoc(), op.getLoc()}), op.getResultTypes(),
                                           producer.getInputs(), op.getOutputs(), maps, kinds);
    rewriter.inlineRegionBefore(producer.getRegion(), joined.getRegion(), joined.getRegion().begin());
    rewriter.replaceOp(op, joined.getResults());
    rewriter.eraseOp(producer);
    return success();
  }
};

} // namespace

void populateNestedReductions(RewritePatternSet &patterns) { patterns.add<JoinReductions>(patterns.getContext()); }

} // namespace ml2k
