//===- GatherOrder.cpp - what gathers its elements takes over the order in which they lie -------------------------===//

#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

linalg::TransposeOp turnBehind(Value value) { return value.getDefiningOp<linalg::TransposeOp>(); }

/// Whether what a generic reads in its loops are tables of one dimension. An image that is resized with weights of its
/// rows and columns is such a one: it may be made in any order.
bool readsTablesOnly(linalg::GenericOp op) {
  return op && op.getNumDpsInits() == 1 && op.getNumParallelLoops() == op.getNumLoops() &&
         op.hasPureTensorSemantics() && op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) { return op.getMatchingIndexingMap(input).getNumResults() <= 1; });
}

/// Such a generic with its result in another order, stored in `init`; its body moves there.
linalg::GenericOp inOrder(PatternRewriter &rewriter, linalg::GenericOp op, ArrayRef<int64_t> permutation, Value init) {
  SmallVector<int64_t> const now = inverse(permutation);
  auto const renamed =
      llvm::map_to_vector(now, [&](int64_t loop) -> AffineExpr { return rewriter.getAffineDimExpr(loop); });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap &map : maps)
    map = map.replaceDimsAndSymbols(renamed, {}, map.getNumDims(), 0);
  maps.back() = rewriter.getMultiDimIdentityMap(op.getNumLoops());
  auto moved = rewriter.create<linalg::GenericOp>(op.getLoc(), init.getType(), op.getInputs(), init, maps,
                                                  op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
  for (linalg::IndexOp index : llvm::to_vector(moved.getRegion().getOps<linalg::IndexOp>()))
    rewriter.modifyOpInPlace(index, [&] { index.setDim(now[index.getDim()]); });
  return moved;
}

/// transpose(generic(...)), used nowhere else: the generic writes the new order itself.
struct HoistIntoProducer : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto generic = op.getInput().getDefiningOp<linalg::GenericOp>();
    if (!readsTablesOnly(generic))
      return failure();
    auto const asksForSize = [](Operation *user) { return isa<tensor::DimOp>(user); };
    for (Operation *user : generic->getUsers())
      if (user != op && !asksForSize(user))
        return failure();
    for (Operation *user : llvm::make_early_inc_range(generic->getUsers()))
      if (asksForSize(user))
        rewriter.modifyOpInPlace(user, [&] { user->setOperand(0, generic.getOutputs()[0]); });
    rewriter.replaceOp(op, inOrder(rewriter, generic, op.getPermutation(), op.getInit()));
    rewriter.eraseOp(generic);
    return success();
  }
};

/// The order that all lie in that a generic gathers from, and that may be the order of its result; null if there is
/// none.
linalg::TransposeOp orderOfGathers(linalg::GenericOp op) {
  linalg::TransposeOp leading;
  if (!readsTablesOnly(op))
    return nullptr;
  for (tensor::ExtractOp extract : op.getBody()->getOps<tensor::ExtractOp>()) {
    auto transpose = turnBehind(extract.getTensor());
    if (!transpose || (leading && leading.getPermutation() != transpose.getPermutation()))
      return nullptr;
    leading = transpose;
  }
  return leading && leading.getPermutation().size() == op.getNumLoops() ? leading : nullptr;
}

void readInOrder(PatternRewriter &rewriter, tensor::ExtractOp op, linalg::TransposeOp transpose) {
  SmallVector<Value> position;
  for (int64_t d : inverse(transpose.getPermutation()))
    position.push_back(op.getIndices()[d]);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, transpose.getInput(), position);
}

/// extract(transpose(x))[i...] in scalar code reads x itself.
struct ExtractThrough : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp op, PatternRewriter &rewriter) const override {
    auto transpose = turnBehind(op.getTensor());
    auto generic = dyn_cast<linalg::GenericOp>(op->getParentOp());
    if (!transpose || (generic && orderOfGathers(generic)))
      return failure();
    readInOrder(rewriter, op, transpose);
    return success();
  }
};

/// resize(transpose(x)) = transpose(resize(x)), for what gathers from one order only.
struct GatherThrough : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    linalg::TransposeOp leading = orderOfGathers(op);
    if (!leading)
      return failure();
    auto const old = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<int64_t> const permutation(leading.getPermutation()), back = inverse(permutation);
    SmallVector<int64_t> shape;
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t d : back) {
      shape.push_back(old.getDimSize(d));
      sources.push_back({op.getOutputs()[0], d});
    }
    auto const type = RankedTensorType::get(shape, old.getElementType());
    linalg::GenericOp moved = inOrder(rewriter, op, back, emptyLike(rewriter, op.getLoc(), type, sources));
    for (tensor::ExtractOp extract : llvm::to_vector(moved.getBody()->getOps<tensor::ExtractOp>()))
      readInOrder(rewriter, extract, turnBehind(extract.getTensor()));
    rewriter.setInsertionPointAfter(moved);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), moved.getResult(0), permutation));
    return success();
  }
};

} // namespace

void populateGathersInOrder(RewritePatternSet &patterns) {
  patterns.add<ExtractThrough, GatherThrough, HoistIntoProducer>(patterns.getContext());
}

} // namespace ml2k
