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
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_GENERALIZE
#include "passes/Passes.h.inc"

namespace {

struct NamedToGeneric : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::MapOp, linalg::FillOp, linalg::TransposeOp>(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// linalg.map has no argument for the element that it replaces.
struct MapToGeneric : OpRewritePattern<linalg::MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::MapOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    auto generic = rewriter.create<linalg::GenericOp>(op.getLoc(), op->getResultTypes(), op.getInputs(), op.getInit(),
                                                      op.getIndexingMapsArray(), op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getMapper(), generic.getRegion(), generic.getRegion().begin());
    auto const type = cast<RankedTensorType>(op.getInit().getType());
    generic.getBody()->addArgument(type.getElementType(), op.getLoc());
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

struct SoftmaxToLoops : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> const parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    takeMaximum(rewriter, parts->front());
    rewriter.replaceOp(op, *parts);
    return success();
  }

  /// Upstream takes arith.maxnumf from the lowest number; with arith.maximumf from -infinity, which is the spelling of
  /// exporters, rows with NaN or of -infinity alone become NaN all the same.
  static void takeMaximum(PatternRewriter &rewriter, Value quotient) {
    auto const inputOf = [](Value value, unsigned i) {
      auto generic = value ? value.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
      return generic && i < generic.getInputs().size() ? generic.getInputs()[i] : Value();
    };
    Value const largest = inputOf(inputOf(quotient, 0), 1);
    auto reduction = largest ? largest.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
    auto fill = reduction ? reduction.getOutputs()[0].getDefiningOp<linalg::FillOp>() : linalg::FillOp();
    auto join = reduction ? dyn_cast<arith::MaxNumFOp>(reduction.getBody()->front()) : arith::MaxNumFOp();
    if (!fill || !join)
      return;
    rewriter.setInsertionPoint(fill);
    auto type = cast<FloatType>(join.getType());
    Value const lowest = rewriter.create<arith::ConstantOp>(
        fill.getLoc(), FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true)));
    Value const start = rewriter.create<linalg::FillOp>(fill.getLoc(), lowest, fill.getOutputs()[0]).getResult(0);
    rewriter.modifyOpInPlace(reduction, [&] { reduction.getOutputsMutable().assign(start); });
    rewriter.setInsertionPoint(join);
    rewriter.replaceOpWithNewOp<arith::MaximumFOp>(join, join.getLhs(), join.getRhs());
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

/// TOSA reads the one position of a dimension of extent 1 as position 0, others as that of the loop: the latter.
struct OnePosition : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<int64_t> const extents = op.getStaticLoopRanges();
    AffineMap const out = maps.back();
    bool changed = false;
    for (AffineMap &map : MutableArrayRef<AffineMap>(maps).drop_back()) {
      if (map.getNumResults() != out.getNumResults())
        continue;
      SmallVector<AffineExpr> positions(map.getResults());
      for (auto [position, own] : llvm::zip(positions, out.getResults())) {
        auto const zero = dyn_cast<AffineConstantExpr>(position);
        auto const loop = dyn_cast<AffineDimExpr>(own);
        if (!zero || !loop || extents[loop.getPosition()] != 1 || map.isFunctionOfDim(loop.getPosition()))
          continue;
        position = loop;
        changed = true;
      }
      map = AffineMap::get(map.getNumDims(), 0, positions, op.getContext());
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
    return success();
  }
};

/// Integers are widened in front of a product, not in it: what multiplies them need not know which ones have a sign.
struct WidenFactors : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    Operation *multiply = op.hasPureTensorSemantics() && op.getNumReductionLoops() != 0 ? multiplication(op) : nullptr;
    if (!multiply)
      return failure();
    bool changed = false;
    for (Value const factor : llvm::to_vector(multiply->getOperands())) {
      Operation *extension = factor.getDefiningOp();
      if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension))
        continue;
      auto argument = dyn_cast<BlockArgument>(extension->getOperand(0));
      if (!argument || argument.getOwner() != op.getBody() || !argument.hasOneUse() || argument.getArgNumber() > 1)
        continue;
      OpOperand &input = op->getOpOperand(argument.getArgNumber());
      rewriter.setInsertionPoint(op);
      Value const wide = widened(rewriter, op.getLoc(), input.get(), extension);
      rewriter.modifyOpInPlace(op, [&] {
        input.set(wide);
        argument.setType(factor.getType());
      });
      rewriter.replaceOp(extension, argument);
      changed = true;
    }
    return success(changed);
  }

private:
  static Value widened(PatternRewriter &rewriter, Location loc, Value tensor, Operation *extension) {
    Type const to = extension->getResult(0).getType();
    auto const type = cast<RankedTensorType>(cast<RankedTensorType>(tensor.getType()).clone(to));
    DenseElementsAttr constant;
    if (matchPattern(tensor, m_Constant(&constant))) {
      auto const value = constant.mapValues(to, [&](APInt const &x) {
        unsigned const bits = to.getIntOrFloatBitWidth();
        return isa<arith::ExtUIOp>(extension) ? x.zext(bits) : x.sext(bits);
      });
      return rewriter.create<arith::ConstantOp>(tensor.getLoc(), type, value);
    }
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      sources.push_back({tensor, dim});
    SmallVector<AffineMap> const maps(2, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> const loops(type.getRank(), utils::IteratorType::parallel);
    return rewriter
        .create<linalg::GenericOp>(loc, type, tensor, emptyLike(rewriter, loc, type, sources), maps, loops,
                                   [&](OpBuilder &inside, Location at, ValueRange values) {
                                     Operation *own = inside.clone(*extension);
                                     own->setOperand(0, values[0]);
                                     inside.create<linalg::YieldOp>(at, own->getResults());
                                   })
        .getResult(0);
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
    patterns
        .add<NamedToGeneric, MapToGeneric, SoftmaxToLoops, CopyToTranspose, OnePosition, WidenFactors, SeparateInit>(
            &getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
