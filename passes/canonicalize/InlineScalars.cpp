//===- InlineScalars.cpp - code computes its scalars instead of reading tensors made for them ---------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "translator/ir/Nest.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_INLINESCALARS
#include "passes/Passes.h.inc"

namespace {

/// What all elements of a weight are: exporters compute `zeros_like` and `ones` ahead.
std::optional<TypedAttr> valueOfWeight(Value tensor) {
  nest::WeightOp weight = weightBehind(tensor);
  auto const values = weight ? dyn_cast<DenseElementsAttr>(weight.getValue()) : nullptr;
  return values && values.isSplat() ? std::optional(cast<TypedAttr>(values.getSplatValue<Attribute>())) : std::nullopt;
}

/// True for an operand with an element for every iteration. One that repeats may be a parameter (a bias) that is
/// not trained yet: code should not depend on its values.
bool coversIterations(OpOperand &operand) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  return op.getNumReductionLoops() == 0 && op.getMatchingIndexingMap(&operand).isPermutation();
}

/// The one value that an operand holds, unless it is a scalar.
std::optional<TypedAttr> valueOf(OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return std::nullopt;
  std::optional<TypedAttr> const value = fillValue(operand.get());
  return value || !coversIterations(operand) ? value : valueOfWeight(operand.get());
}

/// True for an operand that holds one value.
bool isScalar(OpOperand &operand) { return !isa<RankedTensorType>(operand.get().getType()) || valueOf(operand); }

/// That value, as a scalar.
Value scalarFor(OpBuilder &builder, Location loc, OpOperand &operand) {
  std::optional<TypedAttr> const value = valueOf(operand);
  return value ? builder.create<arith::ConstantOp>(loc, *value).getResult() : operand.get();
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
      if (isScalar(*operand)) {
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
                                  scalarFor(rewriter, op.getLoc(), op->getOpOperand(number)));
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

/// An element of a tensor of copies, or of integers that little work makes, is computed where code asks for it: the
/// indices of a Scatter or Gather that exporters spread over all columns, or count from the end.
struct InlineElement : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr int mostOperations = 6;

  LogicalResult matchAndRewrite(tensor::ExtractOp extract, PatternRewriter &rewriter) const override {
    auto producer = extract.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!producer || !isCheap(producer))
      return failure();
    unsigned const result = cast<OpResult>(extract.getTensor()).getResultNumber();
    AffineMap const made = producer.getIndexingMapsArray()[producer.getNumDpsInputs() + result];
    if (!made.isPermutation())
      return failure();
    SmallVector<Value> position(made.getNumDims());
    for (auto [expr, index] : llvm::zip(made.getResults(), extract.getIndices()))
      position[cast<AffineDimExpr>(expr).getPosition()] = index;
    IRMapping values;
    for (OpOperand *operand : producer.getDpsInputOperands()) {
      SmallVector<Value> at;
      for (AffineExpr const expr : producer.getMatchingIndexingMap(operand).getResults()) {
        auto const dim = dyn_cast<AffineDimExpr>(expr);
        at.push_back(
            dim ? position[dim.getPosition()]
                : rewriter.create<arith::ConstantIndexOp>(extract.getLoc(), cast<AffineConstantExpr>(expr).getValue()));
      }
      values.map(producer.getMatchingBlockArgument(operand),
                 rewriter.create<tensor::ExtractOp>(extract.getLoc(), operand->get(), at));
    }
    for (Operation &op : producer.getBody()->without_terminator())
      if (auto index = dyn_cast<linalg::IndexOp>(op))
        values.map(index.getResult(), position[index.getDim()]);
      else
        rewriter.clone(op, values);
    rewriter.replaceOp(extract, values.lookupOrDefault(producer.getBody()->getTerminator()->getOperand(result)));
    return success();
  }

  static bool isCheap(linalg::GenericOp op) {
    bool const copies = llvm::hasSingleElement(*op.getBody());
    bool const integers = llvm::all_of(
        op.getResultTypes(), [](Type type) { return cast<ShapedType>(type).getElementType().isIntOrIndex(); });
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || !(copies || integers))
      return false;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.payloadUsesValueFromOperand(&init))
        return false;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (!isa<RankedTensorType>(operand->get().getType()) ||
          !llvm::all_of(op.getMatchingIndexingMap(operand).getResults(),
                        llvm::IsaPred<AffineDimExpr, AffineConstantExpr>))
        return false;
    auto const body = op.getBody()->without_terminator();
    return std::distance(body.begin(), body.end()) <= mostOperations && llvm::all_of(body, [](Operation &inner) {
             return isPure(&inner) && inner.getNumRegions() == 0 && !isa<tensor::ExtractOp>(inner);
           });
  }
};

/// What a loop adds to elements that an index array names (a count of neighbours) is a number.
struct InlineTerm : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, PatternRewriter &rewriter) const override {
    if (!extract->getParentOfType<scf::ForOp>() ||
        llvm::any_of(extract.getIndices(), [](Value index) { return index.getDefiningOp<nest::PositionOp>(); }))
      return failure(); // a position is checked
    std::optional<TypedAttr> const value = valueOfWeight(extract.getTensor());
    if (!value)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(extract, *value);
    return success();
  }
};

/// An element of a concatenation is one of the part that it lies in: indices of several dimensions, which exporters
/// make as columns.
struct ElementOfConcat : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, PatternRewriter &rewriter) const override {
    auto concat = extract.getTensor().getDefiningOp<tensor::ConcatOp>();
    APInt number;
    if (!concat || !matchPattern(extract.getIndices()[concat.getDim()], m_ConstantInt(&number)) || number.isNegative())
      return failure();
    int64_t at = number.getSExtValue();
    for (Value part : concat.getInputs()) {
      int64_t const extent = cast<RankedTensorType>(part.getType()).getDimSize(concat.getDim());
      if (ShapedType::isDynamic(extent))
        return failure();
      if (at < extent) {
        SmallVector<Value> indices(extract.getIndices());
        indices[concat.getDim()] = rewriter.create<arith::ConstantIndexOp>(extract.getLoc(), at);
        rewriter.replaceOpWithNewOp<tensor::ExtractOp>(extract, part, indices);
        return success();
      }
      at -= extent;
    }
    return failure();
  }
};

/// An element of integers before dimensions of extent 1 were added.
struct ElementBeforeUnits : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, PatternRewriter &rewriter) const override {
    auto expand = extract.getTensor().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !expand.getSrcType().getElementType().isInteger())
      return failure();
    SmallVector<Value> indices;
    for (ReassociationIndices const &group : expand.getReassociationIndices()) {
      auto const isLong = [&](int64_t dim) { return expand.getResultType().getDimSize(dim) != 1; };
      if (llvm::count_if(group, isLong) > 1)
        return failure();
      int64_t const *kept = llvm::find_if(group, isLong);
      indices.push_back(extract.getIndices()[kept == group.end() ? group.front() : *kept]);
    }
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(extract, expand.getSrc(), indices);
    return success();
  }
};

/// A loop that changes a tensor of equal elements starts from a fill, not from a copy of a weight.
struct FillStart : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OpOperand &init : loop.getInitArgsMutable()) {
      auto const type = dyn_cast<RankedTensorType>(init.get().getType());
      std::optional<TypedAttr> const value = type ? splatOf(init.get()) : std::nullopt;
      if (!value)
        continue;
      Location const loc = loop.getLoc();
      Value const empty = rewriter.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
      Value const scalar = rewriter.create<arith::ConstantOp>(loc, *value);
      auto fill = rewriter.create<linalg::FillOp>(loc, scalar, empty);
      rewriter.modifyOpInPlace(loop, [&] { init.set(fill.getResult(0)); });
      changed = true;
    }
    return success(changed);
  }

  static std::optional<TypedAttr> splatOf(Value tensor) {
    if (std::optional<TypedAttr> const value = valueOfWeight(tensor))
      return value;
    return tensor.getDefiningOp<linalg::FillOp>() ? std::nullopt : fillValue(tensor);
  }
};

struct InlineScalars : impl::InlineScalarsBase<InlineScalars> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<InlineOperands, InlineElement, ElementOfConcat, ElementBeforeUnits, InlineTerm, FillStart>(
        &getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
