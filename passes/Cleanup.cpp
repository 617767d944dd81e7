//===- Cleanup.cpp - canonicalization that knows what sizes at run time need --------------------------------------===//

#include "passes/Cleanup.h"
#include "passes/Passes.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

bool ml2k::isExtent(Value size, Value tensor, int64_t dim) {
  while (tensor) {
    if (auto known = size.getDefiningOp<tensor::DimOp>();
        known && known.getSource() == tensor && known.getConstantIndex() == dim)
      return true;
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
      return empty.getType().isDynamicDim(dim) && empty.getDynamicSize(dim) == size;
    auto kernel = tensor.getDefiningOp<DestinationStyleOpInterface>();
    tensor = kernel ? kernel.getTiedOpOperand(cast<OpResult>(tensor))->get() : Value();
  }
  return false;
}

namespace ml2k {
#define GEN_PASS_DEF_CLEANUP
#include "passes/Passes.h.inc"

namespace {

using tensor::CollapseShapeOp;
using tensor::ExpandShapeOp;

/// No group of an expansion has two extents that are known at run time only: its sizes follow from those of its source.
bool isInferable(ShapedType type, ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [&](ReassociationIndices const &group) {
    return llvm::count_if(group, [&](int64_t d) { return type.isDynamicDim(d); }) <= 1;
  });
}

template <class Expand> bool isInferable(Expand op) {
  return isInferable(op.getResultType(), op.getReassociationIndices());
}

template <class Expand> SmallVector<OpFoldResult> outputSizes(Expand op) {
  Builder builder(op.getContext());
  return getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder);
}

/// An expansion of an expansion with the sizes of the outer one.
template <class Expand> struct JoinExpansions : OpRewritePattern<Expand> {
  using OpRewritePattern<Expand>::OpRewritePattern;

  LogicalResult matchAndRewrite(Expand op, PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().template getDefiningOp<Expand>();
    if (!inner || hasNonIdentityLayout(inner.getSrc().getType()) || hasNonIdentityLayout(op.getType()))
      return failure();
    SmallVector<ReassociationIndices> groups;
    SmallVector<ReassociationIndices> const outer = op.getReassociationIndices();
    for (ReassociationIndices const &group : inner.getReassociationIndices()) {
      groups.emplace_back();
      for (int64_t d : group)
        llvm::append_range(groups.back(), outer[d]);
    }
    rewriter.replaceOpWithNewOp<Expand>(op, op.getResultType(), inner.getSrc(), groups, outputSizes(op));
    return success();
  }
};

/// The extent of an expansion is what it says; upstream divides by the other extents of the group, known or not.
template <class Dim, class Expand> struct ExtentOfExpand : OpRewritePattern<Dim> {
  explicit ExtentOfExpand(MLIRContext *context) : OpRewritePattern<Dim>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(Dim op, PatternRewriter &rewriter) const override {
    auto expand = op.getSource().template getDefiningOp<Expand>();
    if (!expand || !op.getConstantIndex())
      return failure();
    OpFoldResult const size = outputSizes(expand)[*op.getConstantIndex()];
    rewriter.replaceOp(op, getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size));
    return success();
  }
};

/// An expansion that undoes a collapse is nothing; where sizes can be inferred, upstream knows more.
struct JoinExpandOfCollapse : ComposeExpandOfCollapseOp<ExpandShapeOp, CollapseShapeOp> {
  using Base = ComposeExpandOfCollapseOp<ExpandShapeOp, CollapseShapeOp>;
  using Base::Base;

  LogicalResult matchAndRewrite(ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<CollapseShapeOp>();
    if (!collapse)
      return failure();
    if (isInferable(op) && isInferable(collapse.getSrcType(), collapse.getReassociationIndices()))
      return Base::matchAndRewrite(op, rewriter);
    if (collapse.getSrcType() != op.getResultType())
      return failure();
    for (auto [dim, size] : llvm::enumerate(outputSizes(op)))
      if (auto value = dyn_cast<Value>(size); value && !isExtent(value, collapse.getSrc(), dim))
        return failure();
    rewriter.replaceOp(op, collapse.getSrc());
    return success();
  }
};

struct JoinCollapseOfExpand
    : ComposeCollapseOfExpandOp<CollapseShapeOp, ExpandShapeOp, tensor::CastOp, tensor::DimOp, RankedTensorType> {
  using Base =
      ComposeCollapseOfExpandOp<CollapseShapeOp, ExpandShapeOp, tensor::CastOp, tensor::DimOp, RankedTensorType>;
  using Base::Base;

  LogicalResult matchAndRewrite(CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getSrc().getDefiningOp<ExpandShapeOp>();
    if (!expand)
      return failure();
    if (isInferable(expand))
      return Base::matchAndRewrite(op, rewriter);
    if (expand.getSrcType() != op.getResultType() || expand.getReassociation() != op.getReassociation())
      return failure();
    rewriter.replaceOp(op, expand.getSrc());
    return success();
  }
};

/// In memory: where sizes can be inferred only.
struct JoinMemoryExpandOfCollapse : ComposeExpandOfCollapseOp<memref::ExpandShapeOp, memref::CollapseShapeOp> {
  using Base = ComposeExpandOfCollapseOp<memref::ExpandShapeOp, memref::CollapseShapeOp>;
  using Base::Base;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<memref::CollapseShapeOp>();
    bool const fits =
        collapse && isInferable(op) && isInferable(collapse.getSrcType(), collapse.getReassociationIndices());
    return success(fits && succeeded(Base::matchAndRewrite(op, rewriter)));
  }
};

struct JoinMemoryCollapseOfExpand : ComposeCollapseOfExpandOp<memref::CollapseShapeOp, memref::ExpandShapeOp,
                                                              memref::CastOp, memref::DimOp, MemRefType> {
  using Base = ComposeCollapseOfExpandOp<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp, memref::DimOp,
                                         MemRefType>;
  using Base::Base;

  LogicalResult matchAndRewrite(memref::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getSrc().getDefiningOp<memref::ExpandShapeOp>();
    return success(expand && isInferable(expand) && succeeded(Base::matchAndRewrite(op, rewriter)));
  }
};

using Patterns = std::shared_ptr<FrozenRewritePatternSet const>;

/// The patterns of a context; to collect them takes longer than to apply them to a small model.
struct PatternCache : DialectInterface::Base<PatternCache> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PatternCache)
  explicit PatternCache(Dialect *dialect) : Base(dialect) {}

  Patterns patterns;
  size_t dialects = 0; ///< that were loaded then
};

Patterns patternsOf(MLIRContext *context) {
  auto *owner = context->getOrLoadDialect<nest::NestDialect>();
  if (!owner->getRegisteredInterface<PatternCache>())
    owner->addInterfaces<PatternCache>();
  auto &cache = const_cast<PatternCache &>(*owner->getRegisteredInterface<PatternCache>());
  size_t const dialects = context->getLoadedDialects().size();
  if (cache.patterns && cache.dialects == dialects)
    return cache.patterns;
  RewritePatternSet all(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(all);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(all, context);
  guardReshapes(all);
  cache.dialects = dialects;
  return cache.patterns = std::make_shared<FrozenRewritePatternSet const>(std::move(all));
}

/// Whether a pattern is one of these of upstream's.
template <class... Upstream> bool isOneOf(RewritePattern const &pattern) {
  return ((dynamic_cast<Upstream const *>(&pattern) != nullptr) || ...);
}

struct Cleanup : impl::CleanupBase<Cleanup> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = patternsOf(context);
    return success();
  }

  void runOnOperation() override { (void)applyPatternsAndFoldGreedily(getOperation(), *patterns); }

  Patterns patterns;
};

} // namespace

void guardReshapes(RewritePatternSet &patterns) {
  llvm::erase_if(patterns.getNativePatterns(), [](std::unique_ptr<RewritePattern> const &pattern) {
    return isOneOf<ComposeReassociativeReshapeOps<ExpandShapeOp, ReshapeOpKind::kExpand>, JoinExpandOfCollapse::Base,
                   JoinCollapseOfExpand::Base,
                   ComposeReassociativeReshapeOps<memref::ExpandShapeOp, ReshapeOpKind::kExpand>,
                   JoinMemoryExpandOfCollapse::Base, JoinMemoryCollapseOfExpand::Base>(*pattern);
  });
  patterns.add<ExtentOfExpand<tensor::DimOp, ExpandShapeOp>, ExtentOfExpand<memref::DimOp, memref::ExpandShapeOp>,
               JoinExpansions<ExpandShapeOp>, JoinExpandOfCollapse, JoinCollapseOfExpand,
               JoinExpansions<memref::ExpandShapeOp>, JoinMemoryExpandOfCollapse, JoinMemoryCollapseOfExpand>(
      patterns.getContext());
}

} // namespace ml2k
