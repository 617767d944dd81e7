//===- Lines.cpp - between convolutions over lines, images of one row stay images ---------------------------------===//
//
// Patterns of PropagateLayout. A convolution N W C is one of images N 1 W C. What stands between two of them is done on
// the images, too: it becomes an epilogue of the one and is written into the border of the other.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k {
namespace {

/// N 1 W C from and to N W C.
SmallVector<ReassociationIndices> rows() { return {{0, 1}, {2}, {3}}; }

bool isOfOneRow(Value image) {
  auto const type = dyn_cast<RankedTensorType>(image.getType());
  return type && type.getRank() == 4 && type.getDimSize(1) == 1;
}

bool isImageKernel(Operation *op) { return isa_and_nonnull<nest::ConvOp, nest::WindowOp>(op); }

/// The image of one row that a line is; null if it is none that a kernel makes.
Value imageOf(Value line) {
  auto collapse = line.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || !llvm::equal(collapse.getReassociationIndices(), rows()) || !isOfOneRow(collapse.getSrc()))
    return {};
  Operation *maker = collapse.getSrc().getDefiningOp();
  return isImageKernel(maker) || isa_and_nonnull<linalg::GenericOp, tensor::ConcatOp>(maker) ? collapse.getSrc()
                                                                                             : Value();
}

bool isReadAsImage(Value image) { return llvm::any_of(image.getUsers(), isImageKernel); }

/// Whether a convolution or a pool reads the line.
bool becomesImage(Value line) {
  return llvm::any_of(line.getUsers(), [](Operation *user) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
    return expand && llvm::equal(expand.getReassociationIndices(), rows()) && isOfOneRow(expand.getResult()) &&
           isReadAsImage(expand.getResult());
  });
}

RankedTensorType imageType(Type line) {
  auto const type = cast<RankedTensorType>(line);
  return type.clone({type.getDimSize(0), 1, type.getDimSize(1), type.getDimSize(2)});
}

/// Whether a map over n, w, c reads the element of an image N 1 W C that stands there; a 0 is one where there is one
/// only.
bool readsInPlace(AffineMap map, ArrayRef<int64_t> shape) {
  if (map.getNumResults() != 4 || map.getNumDims() != 3)
    return false;
  std::optional<unsigned> const loops[] = {0, std::nullopt, 1, 2};
  return llvm::all_of(llvm::seq(4), [&](unsigned d) {
    AffineExpr const index = map.getResult(d);
    return (shape[d] == 1 && index == 0) || (loops[d] && index == getAffineDimExpr(*loops[d], map.getContext()));
  });
}

/// Elementwise work on lines as the same on images; other operands are read as they are.
struct ElementwiseOnImages : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumLoops() != 3 || op.getNumParallelLoops() != 3 || op->getNumResults() != 1 || !isPlain(op) ||
        op.hasIndexSemantics() || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return failure();
    auto const shape = imageType(op->getResult(0).getType()).getShape();
    auto const imageRead = [&](OpOperand *input) -> Value {
      AffineMap const map = op.getMatchingIndexingMap(input);
      if (map.isIdentity())
        return imageOf(input->get());
      bool const isImage = isImageKernel(input->get().getDefiningOp()) && isOfOneRow(input->get()) &&
                           cast<RankedTensorType>(input->get().getType()).getShape() == shape;
      return isImage && readsInPlace(map, shape) ? input->get() : Value();
    };
    if (llvm::none_of(op.getDpsInputOperands(), imageRead) && !becomesImage(op->getResult(0)))
      return failure();
    AffineMap const identity = rewriter.getMultiDimIdentityMap(4);
    SmallVector<AffineExpr> const loops{identity.getResult(0), identity.getResult(2), identity.getResult(3)};
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value const image = imageRead(input);
      inputs.push_back(image ? image : input->get());
      maps.push_back(image ? identity : op.getMatchingIndexingMap(input).replaceDimsAndSymbols(loops, {}, 4, 0));
    }
    maps.push_back(identity);
    auto sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getDpsInits()[0]);
    sizes.insert(sizes.begin() + 1, rewriter.getIndexAttr(1));
    auto const type = imageType(op->getResult(0).getType());
    Value const init = rewriter.create<tensor::EmptyOp>(op.getLoc(), sizes, type.getElementType());
    SmallVector<utils::IteratorType> const parallel(4, utils::IteratorType::parallel);
    auto made = rewriter.create<linalg::GenericOp>(op.getLoc(), type, inputs, init, maps, parallel);
    rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, made->getResult(0), rows());
    return success();
  }
};

/// Work on an image of one row reads another one as it is, not its row 0, nor the line that it is.
struct ReadImages : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumLoops() != 4 || op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
        !isOfOneRow(op->getResult(0)) || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return failure();
    AffineMap const identity = rewriter.getMultiDimIdentityMap(4);
    AffineExpr const n = identity.getResult(0), w = identity.getResult(2), c = identity.getResult(3);
    auto const line = AffineMap::get(4, 0, {n, w, c}, rewriter.getContext());
    auto const row = AffineMap::get(4, 0, {n, rewriter.getAffineConstantExpr(0), w, c}, rewriter.getContext());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool changed = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap &map = maps[input->getOperandNumber()];
      Value const image = map == line                              ? imageOf(input->get())
                          : map == row && isOfOneRow(input->get()) ? input->get()
                                                                   : Value();
      if (!image)
        continue;
      rewriter.modifyOpInPlace(op, [&] { input->set(image); });
      map = identity;
      changed = true;
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
    return success();
  }
};

/// concat(line(a), line(b)) = line(concat(a, b))
struct ConcatImages : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> const images = llvm::map_to_vector(op.getInputs(), imageOf);
    if (op.getResultType().getRank() != 3 || !llvm::all_of(images, [](Value image) { return bool(image); }))
      return failure();
    auto const dim = op.getDim() == 0 ? 0 : op.getDim() + 1;
    Value const made = rewriter.create<tensor::ConcatOp>(op.getLoc(), imageType(op.getResultType()), dim, images);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, made, rows());
    return success();
  }
};

/// An argument that is turned for a convolution is turned as an image; other transposes may yet cancel.
struct TurnImage : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    if (!transpose || !isa<BlockArgument>(transpose.getInput()) ||
        transpose.getPermutation() != ArrayRef<int64_t>({0, 2, 1}) ||
        !llvm::equal(op.getReassociationIndices(), rows()) || !isOfOneRow(op.getResult()) ||
        !isReadAsImage(op.getResult()))
      return failure();
    bool const isOnlyReader =
        llvm::all_of(transpose->getUsers(), [&](Operation *user) { return user == op || isa<tensor::DimOp>(user); });
    if (!isOnlyReader)
      return failure();
    for (Operation *user : llvm::make_early_inc_range(transpose->getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) // asks for no elements
        rewriter.modifyOpInPlace(dim, [&] { dim.getSourceMutable().set(transpose.getInit()); });
    auto sizes = tensor::getMixedSizes(rewriter, op.getLoc(), transpose.getInit());
    sizes.insert(sizes.begin() + 1, rewriter.getIndexAttr(1));
    auto const type = op.getResultType();
    Value const init = rewriter.create<tensor::EmptyOp>(op.getLoc(), sizes, type.getElementType());
    AffineMap const identity = rewriter.getMultiDimIdentityMap(4);
    auto const turned = AffineMap::get(4, 0, {identity.getResult(0), identity.getResult(3), identity.getResult(2)},
                                       rewriter.getContext());
    SmallVector<utils::IteratorType> const parallel(4, utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange(type), transpose.getInput(), init, ArrayRef<AffineMap>{turned, identity}, parallel,
        [](OpBuilder &inside, Location at, ValueRange scalars) { inside.create<linalg::YieldOp>(at, scalars[0]); });
    return success();
  }
};

} // namespace

void populateLines(RewritePatternSet &patterns) {
  patterns.add<ElementwiseOnImages, ReadImages, ConcatImages, TurnImage>(patterns.getContext());
}

} // namespace ml2k
