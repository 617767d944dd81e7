//===- FoldWeights.cpp - changes of order and shape go into the constants -----------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/Rewrite.h"
#include "passes/canonicalize/ComputedWeights.h"
#include "passes/canonicalize/ConstantColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FOLDWEIGHTS
#include "passes/Passes.h.inc"

namespace {

bool isByteSized(ShapedType type) {
  return type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() % 8 == 0;
}

struct FoldTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto weight = op.getInput().getDefiningOp<nest::WeightOp>();
    if (!weight || !isByteSized(cast<ShapedType>(weight.getType())))
      return failure();
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, permuted(weight.getValue(), op.getPermutation())));
    return success();
  }
};

template <class Reshape> struct FoldReshape : OpRewritePattern<Reshape> {
  using OpRewritePattern<Reshape>::OpRewritePattern;
  LogicalResult matchAndRewrite(Reshape op, PatternRewriter &rewriter) const override {
    auto weight = op->getOperand(0).template getDefiningOp<nest::WeightOp>();
    auto const type = cast<RankedTensorType>(op.getType());
    if (!weight || !type.hasStaticShape() || !isByteSized(type))
      return failure();
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, reshaped(weight.getValue(), type.getShape())));
    return success();
  }
};

/// A weight with further dimensions of one element for elementwise operations: they read the weight itself.
bool isBroadcastForMaps(linalg::GenericOp op, AffineMap map) {
  auto const isMap = [](Operation *user) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && generic.getNumParallelLoops() == generic.getNumLoops();
  };
  return map.getNumResults() < map.getNumDims() && map.isProjectedPermutation() &&
         llvm::is_sorted(
             map.getResults(),
             [](AffineExpr a, AffineExpr b) {
               return cast<AffineDimExpr>(a).getPosition() < cast<AffineDimExpr>(b).getPosition();
             }) &&
         llvm::all_of(op->getUsers(), isMap);
}

/// A generic that puts every element of a weight in another place: a kernel that is mirrored.
struct FoldRearrangement : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops())
      return failure();
    if (!op.hasPureTensorSemantics())
      return failure();
    auto weight = op.getInputs()[0].getDefiningOp<nest::WeightOp>();
    auto const type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<AffineMap> const maps = op.getIndexingMapsArray();
    Block &body = op.getRegion().front();
    if (isBroadcastForMaps(op, maps[0]))
      return failure();
    if (!weight || !type || !isByteSized(type) || !type.hasStaticShape() || !maps[1].isIdentity() ||
        type.getNumElements() != weight.getValue().getNumElements() || body.getOperations().size() != 1 ||
        body.getTerminator()->getOperand(0) != body.getArgument(0))
      return failure();
    ArrayRef<int64_t> const shape = cast<ShapedType>(weight.getType()).getShape();
    auto const place = [&](ArrayRef<int64_t> position) -> std::optional<int64_t> {
      int64_t at = 0;
      for (auto [index, extent] : llvm::zip(maps[0].compose(position), shape))
        at = at * extent + index;
      return at;
    };
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, gathered(weight.getValue(), type.getShape(), place)));
    return success();
  }
};

/// An index of a loop, moved, mirrored or scaled; null for anything else.
AffineExpr exprOf(Value value, unsigned depth = 0) {
  MLIRContext *const context = value.getContext();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return getAffineConstantExpr(number.getSExtValue(), context);
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), context);
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || depth > 8 ||
      !matchPattern(op->getOperand(isa<arith::SubIOp>(op) ? 0 : 1), m_Constant()))
    return {};
  AffineExpr const a = exprOf(op->getOperand(0), depth + 1), b = exprOf(op->getOperand(1), depth + 1);
  return !a || !b ? AffineExpr() : isa<arith::AddIOp>(op) ? a + b : isa<arith::SubIOp>(op) ? a - b : a * b;
}

/// The same by looking up elements, as torch-mlir mirrors the kernel of a transposed convolution.
struct FoldLookUp : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    auto const type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : nullptr;
    if (!type || op.getNumDpsInputs() != 0 || op.getNumParallelLoops() != op.getNumLoops() || !type.hasStaticShape() ||
        !isByteSized(type) || !op.getIndexingMapsArray()[0].isIdentity())
      return failure();
    auto extract = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
    auto weight = extract ? extract.getTensor().getDefiningOp<nest::WeightOp>() : nest::WeightOp();
    if (!weight || type.getNumElements() > weight.getValue().getNumElements())
      return failure();
    SmallVector<AffineExpr> exprs =
        llvm::map_to_vector(extract.getIndices(), [](Value index) { return exprOf(index); });
    if (llvm::is_contained(exprs, AffineExpr()))
      return failure();
    AffineMap const map = AffineMap::get(type.getRank(), 0, exprs, op.getContext());
    ArrayRef<int64_t> const shape = cast<ShapedType>(weight.getType()).getShape();
    bool isInside = true;
    auto const place = [&](ArrayRef<int64_t> position) -> std::optional<int64_t> {
      int64_t at = 0;
      for (auto [index, extent] : llvm::zip(map.compose(position), shape)) {
        isInside &= index >= 0 && index < extent;
        at = at * extent + index;
      }
      return isInside ? std::optional(at) : std::nullopt;
    };
    DenseElementsAttr const value = gathered(weight.getValue(), type.getShape(), place);
    if (!isInside)
      return failure();
    rewriter.setInsertionPoint(weight);
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, value));
    return success();
  }
};

/// A matrix that is used in parts only becomes its parts: directions of a recurrent layer, gates.
struct FoldSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isConstant(Operation *op) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    return slice && !ShapedType::isDynamicShape(slice.getStaticOffsets()) && slice.getType().hasStaticShape() &&
           slice.hasUnitStride() && isInside(slice);
  }

  /// Nothing checks what constant operands become.
  static bool isInside(tensor::ExtractSliceOp slice) {
    return llvm::all_of(llvm::zip(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getSourceType().getShape()),
                        [](auto const &along) {
                          auto const [offset, size, extent] = along;
                          return offset >= 0 && size >= 0 && size <= extent && offset <= extent - size;
                        });
  }

  /// `lstm.1.R` of lstm.R and 1.
  static std::string withPart(StringRef whole, Twine const &part) {
    auto const [layer, last] = whole.rsplit('.');
    return last.empty() ? (whole + "." + part).str() : (layer + "." + part + "." + last).str();
  }

  static std::string nameOf(tensor::ExtractSliceOp slice, StringRef whole) {
    if (whole == unnamedWeight || whole.starts_with("onnx::"))
      return whole.str();
    for (auto [offset, size, extent] :
         llvm::zip(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getSourceType().getShape()))
      if (size != extent && size > 0 && offset % size == 0)
        return withPart(whole, Twine(offset / size));
      else if (size != extent)
        return withPart(whole, Twine(offset) + "_" + Twine(offset + size));
    return whole.str();
  }

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto weight = op.getSource().getDefiningOp<nest::WeightOp>();
    // Vectors are read at an offset
    if (!weight || op.getType().getRank() < 2 || !isByteSized(op.getType()) ||
        !llvm::all_of(weight->getUsers(), isConstant))
      return failure();
    int64_t count = 0;
    for (Operation *user : weight->getUsers())
      count += cast<tensor::ExtractSliceOp>(user).getType().getNumElements();
    if (count > weight.getValue().getNumElements()) // parts that overlap
      return failure();
    rewriter.setInsertionPoint(weight);
    auto const part =
        reshaped(sliced(weight.getValue(), op.getStaticOffsets(), op.getStaticSizes()), op.getType().getShape());
    auto own = cast<nest::WeightOp>(replacementWeight(rewriter, weight, part).getDefiningOp());
    own.setName(nameOf(op, weight.getName()));
    rewriter.replaceOp(op, own.getResult());
    return success();
  }
};

/// The weight whose parts, or which itself, a value is; its name is that of all of them.
nest::WeightOp sourceOf(Value value) {
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    value = slice.getSource();
  return weightBehind(value);
}

/// Parts of weights in another order, as exporters sort the gates of a GRU, are a weight.
struct FoldConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto const type = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0 || !isByteSized(type))
      return failure();
    int64_t elements = 0;
    llvm::SmallSetVector<Operation *, 4> weights;
    SmallVector<DenseElementsAttr> parts;
    for (Value input : op.getInputs()) {
      std::optional<DenseElementsAttr> const part = valueOf(input);
      if (!part)
        return failure();
      parts.push_back(*part);
      if (nest::WeightOp weight = sourceOf(input); weight && weights.insert(weight))
        elements += weight.getValue().getNumElements();
    }
    // What would be stored several times is put together when it runs
    if (weights.empty() || type.getNumElements() > elements ||
        !llvm::all_of(weights, [&](Operation *weight) { return isReadBy(weight, op); }))
      return failure();
    auto const weight = cast<nest::WeightOp>(weights.back());
    rewriter.setInsertionPoint(op);
    auto joined = cast<nest::WeightOp>(
        replacementWeight(rewriter, weight, concatenated(parts, type, op.getDim())).getDefiningOp());
    joined.setName(commonName(weights.getArrayRef()));
    rewriter.replaceOp(op, joined.getResult());
    return success();
  }

private:
  static std::optional<DenseElementsAttr> valueOf(Value value) {
    if (auto weight = value.getDefiningOp<nest::WeightOp>())
      return reshaped(weight.getValue(), cast<ShapedType>(value.getType()).getShape());
    Operation *op = value.getDefiningOp();
    auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
    if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op) ||
        (slice && !FoldSlice::isConstant(slice)))
      return std::nullopt;
    std::optional<DenseElementsAttr> const source = valueOf(op->getOperand(0));
    if (!source)
      return std::nullopt;
    ArrayRef<int64_t> const shape = cast<ShapedType>(value.getType()).getShape();
    return reshaped(slice ? sliced(*source, slice.getStaticOffsets(), slice.getStaticSizes()) : *source, shape);
  }

  /// All that is read of a weight goes into this concatenation: nothing is stored a second time.
  static bool isReadBy(Operation *weight, tensor::ConcatOp op) {
    return llvm::all_of(weight->getUsers(), [&](Operation *user) {
      while (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) && user->hasOneUse())
        user = *user->user_begin();
      return user == op;
    });
  }

  static DenseElementsAttr concatenated(ArrayRef<DenseElementsAttr> parts, RankedTensorType type, uint64_t dim) {
    std::vector<std::vector<char>> pieces;
    for (DenseElementsAttr const &part : parts)
      pieces.push_back(constantBytes(part));
    size_t rows = 1;
    for (int64_t const extent : type.getShape().take_front(dim))
      rows *= extent;
    std::vector<char> bytes;
    for (size_t row = 0; row < rows; ++row)
      for (std::vector<char> const &piece : pieces) {
        auto const size = std::ptrdiff_t(piece.size() / rows), first = size * std::ptrdiff_t(row);
        bytes.insert(bytes.end(), piece.begin() + first, piece.begin() + first + size);
      }
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }

  /// `lstm.R` of lstm.0.R and lstm.1.R, the parts of one weight; `qkv` of qkv_q and qkv_k; else the name of the first.
  static std::string commonName(ArrayRef<Operation *> weights) {
    StringRef common = cast<nest::WeightOp>(weights.front()).getName();
    std::optional<std::string> whole = wholeOf(common);
    for (Operation *weight : weights.drop_front()) {
      StringRef const name = cast<nest::WeightOp>(weight).getName();
      if (wholeOf(name) != whole)
        whole = std::nullopt;
      size_t length = 0;
      while (length < std::min(common.size(), name.size()) && common[length] == name[length])
        ++length;
      common = common.take_front(length);
    }
    StringRef const stem = weights.size() > 1 ? common.rtrim("._") : common;
    return whole ? *whole : stem.empty() ? cast<nest::WeightOp>(weights.front()).getName().str() : stem.str();
  }

  /// The weight that FoldSlice made a part of.
  static std::optional<std::string> wholeOf(StringRef part) {
    auto const [place, last] = part.rsplit('.');
    auto const [layer, number] = place.rsplit('.');
    if (number.empty() || number.find_first_not_of("0123456789_") != StringRef::npos)
      return std::nullopt;
    return (layer + "." + last).str();
  }
};

/// What an operation of float or double gives, rounded as the model rounds it; none of other operations.
std::optional<double> computed(Operation &op, ArrayRef<double> in) {
  std::optional<double> const value = llvm::TypeSwitch<Operation *, std::optional<double>>(&op)
                                          .Case<arith::AddFOp>([&](auto) { return in[0] + in[1]; })
                                          .Case<arith::SubFOp>([&](auto) { return in[0] - in[1]; })
                                          .Case<arith::MulFOp>([&](auto) { return in[0] * in[1]; })
                                          .Case<arith::DivFOp>([&](auto) { return in[0] / in[1]; })
                                          .Case<math::SqrtOp>([&](auto) { return std::sqrt(in[0]); })
                                          .Case<math::RsqrtOp>([&](auto) { return 1 / std::sqrt(in[0]); })
                                          .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return in[0]; })
                                          .Default([](auto) { return std::nullopt; });
  if (!value || op.getNumResults() != 1)
    return std::nullopt;
  Type const type = op.getResult(0).getType();
  return type.isF32() ? std::optional<double>(float(*value)) : type.isF64() ? value : std::nullopt;
}

/// Statistics that an exporter leaves as operations, such as 1 / sqrt(variance + epsilon): one element of a vector.
std::optional<double> elementOf(Block &body, ArrayRef<std::vector<double>> vectors, size_t place) {
  DenseMap<Value, double> values;
  for (auto [argument, vector] : llvm::zip(body.getArguments(), vectors))
    values[argument] = vector[place];
  for (Operation &op : body.without_terminator()) {
    SmallVector<double> in;
    for (Value operand : op.getOperands()) {
      APFloat number(0.);
      if (auto const found = values.find(operand); found != values.end())
        in.push_back(found->second);
      else if (matchPattern(operand, m_ConstantFloat(&number)))
        in.push_back(number.convertToDouble());
      else
        return std::nullopt;
    }
    auto const value = computed(op, in);
    if (!value)
      return std::nullopt;
    values[op.getResult(0)] = *value;
  }
  auto const found = values.find(body.getTerminator()->getOperand(0));
  return found == values.end() ? std::nullopt : std::optional<double>(found->second);
}

/// A vector that is computed from vectors of weights alone.
struct FoldVector : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() == 0 || op.getNumResults() != 1 || op.getNumLoops() != 1 ||
        op.getNumParallelLoops() != 1 || op.getRegion().front().getOperations().size() < 2 ||
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
      return failure();
    auto const type = cast<RankedTensorType>(op.getResult(0).getType());
    std::vector<std::vector<double>> vectors;
    for (Value input : op.getInputs()) {
      auto weight = input.getDefiningOp<nest::WeightOp>();
      if (!weight || input.getType() != type || !(type.getElementType().isF32() || type.getElementType().isF64()))
        return failure();
      vectors.push_back(constantDoubles(weight.getValue()));
    }
    std::vector<double> values;
    for (size_t i = 0; i < vectors[0].size(); ++i) {
      auto const value = elementOf(op.getRegion().front(), vectors, i);
      if (!value)
        return failure();
      values.push_back(*value);
    }
    auto weight = op.getInputs()[0].getDefiningOp<nest::WeightOp>();
    rewriter.setInsertionPoint(op); // behind all of them
    rewriter.replaceOp(op, replacementWeight(rewriter, weight, constantOf(type, values)));
    return success();
  }
};

struct FoldWeights : impl::FoldWeightsBase<FoldWeights> {
  void runOnOperation() override {
    computeWeights(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldSlice, FoldConcat, FoldTranspose, FoldRearrangement, FoldLookUp, FoldVector,
                 FoldReshape<tensor::ExpandShapeOp>, FoldReshape<tensor::CollapseShapeOp>>(&getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    separateConstantColumns(getOperation()); // whose weights lie as the products read them now
  }
};

} // namespace
} // namespace ml2k
