//===- SelectedColumns.cpp - parts of a concatenation that differ only in the columns they read -------------------===//
//
// Polynomial features are the products of all pairs, triples, ... of the columns of a matrix. Converters write a
// selection, a product and an operand of a concatenation for each of them: hundreds of kernels that do the same with
// other constants. As one kernel over a table of columns they are a line of code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/SelectedColumns.h"

#include "passes/Cleanup.h"
#include "passes/Constants.h"
#include "passes/Provenance.h"
#include "passes/schedule/Combiners.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr size_t fewestParts = 4;
constexpr int64_t mostColumns = 16; ///< of a part: more of them are better copied than looked up

/// Positions of a tensor along one dimension, and what joins the elements that lie there, if anything does.
struct Columns {
  Value source;
  SmallVector<int64_t> positions;
  std::optional<nest::Combiner> combiner;

  bool isAlike(Columns const &other) const {
    return source == other.source && combiner == other.combiner &&
           (!combiner || positions.size() == other.positions.size());
  }
};

/// Whether a size is that of a dimension of a tensor.
bool isWhole(OpFoldResult size, Value tensor, int64_t dim) {
  if (auto value = dyn_cast<Value>(size))
    return isExtent(value, tensor, dim);
  return getConstantIntValue(size) == cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// The columns that a slice takes; nothing if it takes a part of other dimensions, too, or many.
std::optional<Columns> columnsOf(tensor::ExtractSliceOp slice, unsigned dim) {
  RankedTensorType const type = slice.getType();
  int64_t const first = slice.getStaticOffsets()[dim], count = type.getDimSize(dim);
  if (type.getRank() != slice.getSourceType().getRank() || !slice.hasUnitStride() || ShapedType::isDynamic(first) ||
      count < 1 || count > mostColumns)
    return std::nullopt;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != dim && (slice.getStaticOffsets()[d] != 0 || !isWhole(slice.getMixedSizes()[d], slice.getSource(), d)))
      return std::nullopt;
  return Columns{slice.getSource(), llvm::to_vector(llvm::seq(first, first + count)), std::nullopt};
}

/// Those that a gather by constant positions takes.
std::optional<Columns> columnsOf(linalg::GenericOp op, unsigned dim) {
  if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 || op.getNumReductionLoops() != 0)
    return std::nullopt;
  auto weight = op.getInputs()[0].getDefiningOp<nest::WeightOp>();
  auto empty = op.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  auto extract = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  SmallVector<AffineMap> const maps = op.getIndexingMapsArray();
  if (!weight || !empty || !extract || !maps[1].isIdentity() ||
      maps[1].getNumResults() != extract.getIndices().size() ||
      maps[0] != AffineMap::get(op.getNumLoops(), 0, getAffineDimExpr(dim, op.getContext())))
    return std::nullopt;
  auto const positions = dyn_cast<DenseIntElementsAttr>(weight.getValue());
  auto const source = cast<RankedTensorType>(extract.getTensor().getType());
  if (!positions || positions.empty() || positions.getNumElements() > mostColumns || source.isDynamicDim(dim))
    return std::nullopt;
  for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    auto cast = index.getDefiningOp<arith::IndexCastOp>();
    if (d == dim ? !cast || cast.getIn() != op.getBody()->getArgument(0)
                 : !loop || loop.getDim() != d || !isWhole(empty.getMixedSizes()[d], extract.getTensor(), d))
      return std::nullopt;
  }
  Columns columns{extract.getTensor(), {}, std::nullopt};
  for (APInt const &position : positions.getValues<APInt>()) {
    if (position.isNegative() || position.sge(source.getDimSize(dim)))
      return std::nullopt;
    columns.positions.push_back(position.getSExtValue());
  }
  return columns;
}

std::optional<Columns> selectedBy(Value value, unsigned dim) {
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return columnsOf(slice, dim);
  if (auto generic = value.getDefiningOp<linalg::GenericOp>())
    return columnsOf(generic, dim);
  return std::nullopt;
}

/// The columns that an operand of a concatenation is made of: a selection, or one that is reduced to a column.
std::optional<Columns> partOf(Value value, unsigned dim) {
  if (auto columns = selectedBy(value, dim))
    return columns;
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  auto reduce = expand ? expand.getSrc().getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  if (!reduce || reduce.getNumDpsInputs() != 1 || reduce.getNumResults() != 1 || reduce.hasIndexSemantics())
    return std::nullopt;
  auto const type = expand.getResultType();
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  kept.erase(kept.begin() + dim);
  auto const loops = AffineMap::getMultiDimIdentityMap(type.getRank(), reduce.getContext());
  SmallVector<AffineMap> const maps = reduce.getIndexingMapsArray();
  if (reduce.getNumLoops() != type.getRank() || type.getDimSize(dim) != 1 || !maps[0].isIdentity() ||
      maps[1] != loops.getSubMap(SmallVector<unsigned>(kept.begin(), kept.end())))
    return std::nullopt;
  for (auto [d, extent] : llvm::enumerate(expand.getSrcType().getShape()))
    if (extent != type.getDimSize(kept[d]))
      return std::nullopt;
  std::optional<Reduction> const reduction = matchReduction(reduce, 0);
  std::optional<TypedAttr> const start = fillValue(reduce.getOutputs()[0]);
  auto columns = selectedBy(reduce.getInputs()[0], dim);
  if (!columns || !reduction || reduction->term != reduce.getBody()->getArgument(0) || !start ||
      *start != neutralOf(reduction->combiner, start->getType()))
    return std::nullopt;
  // A product of one factor is that factor; a sum is not, where that is a negative zero
  if (columns->positions.size() != 1 || reduction->combiner != nest::Combiner::Prod)
    columns->combiner = reduction->combiner;
  return columns;
}

/// One operand in the place of alike ones.
class Joined {
public:
  Joined(PatternRewriter &rewriter, tensor::ConcatOp op, ArrayRef<Columns> parts)
      : rewriter(rewriter), op(op), location(op.getLoc()), source(parts.front().source), dim(op.getDim()),
        combiner(parts.front().combiner), depth(parts.front().positions.size()) {
    for (Columns const &part : parts)
      llvm::append_range(positions, part.positions);
  }

  Value value() { return combiner ? reduction() : isRun() ? slice() : selection(); }

private:
  bool isRun() const {
    for (auto [i, position] : llvm::enumerate(positions))
      if (position != positions.front() + int64_t(i))
        return false;
    return true;
  }

  Value slice() {
    auto const type = cast<RankedTensorType>(source.getType());
    if (int64_t(positions.size()) == type.getDimSize(dim))
      return source;
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, location, source);
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
        strides(type.getRank(), rewriter.getIndexAttr(1));
    sizes[dim] = rewriter.getIndexAttr(int64_t(positions.size()));
    offsets[dim] = rewriter.getIndexAttr(positions.front());
    return rewriter.create<tensor::ExtractSliceOp>(location, source, offsets, sizes, strides);
  }

  Value selection() {
    auto const map = AffineMap::get(rank(), 0, rewriter.getAffineDimExpr(dim));
    return generic(table({int64_t(positions.size())}), map, empty(positions.size()), rank());
  }

  Value reduction() {
    auto const count = int64_t(positions.size() / depth);
    Type const element = cast<RankedTensorType>(source.getType()).getElementType();
    Value const neutral = rewriter.create<arith::ConstantOp>(location, neutralOf(*combiner, element));
    Value const start = rewriter.create<linalg::FillOp>(location, neutral, empty(count)).getResult(0);
    auto const map = AffineMap::get(rank() + 1, 0, {rewriter.getAffineDimExpr(dim), rewriter.getAffineDimExpr(rank())},
                                    rewriter.getContext());
    return generic(table({count, int64_t(depth)}), map, start, rank() + 1);
  }

  unsigned rank() const { return cast<RankedTensorType>(source.getType()).getRank(); }

  Value table(ArrayRef<int64_t> shape) {
    auto const type = RankedTensorType::get(shape, rewriter.getI64Type());
    std::string const name = nameFromLocation(location);
    return rewriter.create<nest::WeightOp>(location, type,
                                           rewriter.getStringAttr(name.empty() ? unnamedWeight : name + ".columns"),
                                           DenseElementsAttr::get(type, ArrayRef(positions)), nullptr);
  }

  Value empty(int64_t count) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, location, source);
    sizes[dim] = rewriter.getIndexAttr(count);
    return rewriter.create<tensor::EmptyOp>(location, sizes, cast<RankedTensorType>(source.getType()).getElementType());
  }

  Value generic(Value table, AffineMap read, Value init, unsigned loops) {
    SmallVector<utils::IteratorType> kinds(rank(), utils::IteratorType::parallel);
    kinds.resize(loops, utils::IteratorType::reduction);
    AffineMap const written =
        AffineMap::getMinorIdentityMap(loops, loops, rewriter.getContext()).getMajorSubMap(rank());
    auto made = rewriter.create<linalg::GenericOp>(
        location, init.getType(), table, init, ArrayRef{read, written}, kinds,
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          SmallVector<Value> indices;
          for (unsigned d = 0; d < rank(); ++d)
            indices.push_back(
                d == dim ? builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), arguments[0]).getResult()
                         : builder.create<linalg::IndexOp>(loc, d).getResult());
          Value const element = builder.create<tensor::ExtractOp>(loc, source, indices);
          builder.create<linalg::YieldOp>(loc,
                                          combiner ? combine(builder, loc, *combiner, arguments[1], element) : element);
        });
    return made.getResult(0);
  }

  PatternRewriter &rewriter;
  tensor::ConcatOp op;
  Location location;
  Value source;
  unsigned dim;
  std::optional<nest::Combiner> combiner;
  size_t depth;
  SmallVector<int64_t> positions;
};

struct SelectedColumns : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto const type = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!type || op.getInputs().size() < fewestParts)
      return failure();
    unsigned const dim = op.getDim();
    SmallVector<Value> operands;
    SmallVector<Columns> run;
    size_t begin = 0, joined = 0;
    rewriter.setInsertionPoint(op);
    auto const close = [&](size_t end) {
      if (end - begin >= fewestParts) {
        operands.push_back(Joined(rewriter, op, run).value());
        joined += end - begin;
      } else
        llvm::append_range(operands, op.getInputs().slice(begin, end - begin));
      run.clear();
      begin = end;
    };
    for (auto [at, input] : llvm::enumerate(op.getInputs())) {
      std::optional<Columns> const part = partOf(input, dim);
      if (!run.empty() && (!part || !part->isAlike(run.front())))
        close(at);
      if (part)
        run.push_back(*part);
      else
        close(at + 1);
    }
    close(op.getInputs().size());
    if (joined == 0)
      return failure();
    rewriter.replaceOp(op, operands.size() == 1 && operands.front().getType() == type
                               ? operands.front()
                               : rewriter.create<tensor::ConcatOp>(op.getLoc(), type, dim, operands).getResult());
    return success();
  }
};

} // namespace

void populateSelectedColumns(RewritePatternSet &patterns) { patterns.add<SelectedColumns>(patterns.getContext()); }

} // namespace ml2k
