//===- GatheredProducts.cpp - a product of gathered rows is a gather of products ----------------------------------===//
//
// The messages of a graph network multiply rows of its nodes, gathered for both ends of every edge and concatenated
// with the edge's own: [h[source], h[target], e] * W = (h * W1)[source] + (h * W2)[target] + e * W3. There are many
// more edges than nodes, so that the left way round multiplies each row of h many times.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/raise/GatheredProducts.h"
#include "passes/Constants.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr int64_t leastReuse = 2; ///< rows gathered per row that there is
constexpr unsigned mostParts = 8; ///< of a concatenation

/// Whether only the last index of the extraction depends on the column.
bool isOfRows(linalg::GenericOp generic, tensor::ExtractOp extract) {
  auto column = extract.getIndices()[1].getDefiningOp<linalg::IndexOp>();
  return column && column.getDim() == 1 && extract.getIndices()[0] != column.getResult() &&
         llvm::all_of(generic.getBody()->getOperations(), [&](Operation &op) {
           auto index = dyn_cast<linalg::IndexOp>(op);
           bool const isColumn = index && index.getDim() == 1;
           return op.getNumRegions() == 0 &&
                  (!isColumn || llvm::all_of(op.getUsers(), [&](Operation *user) { return user == extract; }));
         });
}

/// rows[i, j] = source[at(i), j]; the inputs of the linalg.generic, if there are any, are read at i.
struct Gather {
  linalg::GenericOp generic;
  tensor::ExtractOp extract;

  Value source() { return extract.getTensor(); }
  int64_t width() { return cast<ShapedType>(source().getType()).getDimSize(1); }

  static std::optional<Gather> of(Value rows) {
    auto generic = rows.getDefiningOp<linalg::GenericOp>();
    if (!generic || !generic->hasOneUse() || generic.getNumDpsInits() != 1 || generic.getNumLoops() != 2 ||
        generic.getNumParallelLoops() != 2 || !generic.hasPureTensorSemantics() ||
        !generic.getIndexingMapsArray().back().isIdentity() || !generic.getRegionOutputArgs()[0].use_empty() ||
        llvm::any_of(generic.getIndexingMapsArray(), [&](AffineMap map) {
          return map != generic.getIndexingMapsArray().back() && map.isFunctionOfDim(1);
        }))
      return std::nullopt;
    auto extract = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
    if (!extract || extract.getIndices().size() != 2 || extract->getBlock() != generic.getBody())
      return std::nullopt;
    auto const type = cast<ShapedType>(extract.getTensor().getType()), made = cast<ShapedType>(rows.getType());
    if (!isOfRows(generic, extract) || !type.hasStaticShape() || !made.hasStaticShape() ||
        type.getDimSize(1) != made.getDimSize(1) || made.getDimSize(0) / leastReuse < type.getDimSize(0))
      return std::nullopt;
    return Gather{generic, extract};
  }
};

/// A part of the concatenated rows: which columns, and what it gathers, if that.
struct Part {
  Value rows;
  int64_t first, width;
  std::optional<Gather> gather;
};

struct SplitGatheredProduct : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !isMultiplyAdd(op) || op.getNumLoops() != 3 || op.getNumReductionLoops() != 1)
      return failure();
    auto concat = op.getInputs()[0].getDefiningOp<tensor::ConcatOp>();
    auto weight = op.getInputs()[1].getDefiningOp<nest::WeightOp>();
    auto const start = fillValue(op.getOutputs()[0]);
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!concat || !concat->hasOneUse() || concat.getDim() != 1 || concat.getInputs().size() > mostParts || !weight ||
        !start || !isZero(*start) || !type.hasStaticShape() || !isWide(type.getElementType()) ||
        concat.getType().getElementType() != type.getElementType() || !isProduct(op) ||
        !llvm::all_of(concat.getInputs(), [](Value rows) { return cast<ShapedType>(rows.getType()).hasStaticShape(); }))
      return failure();
    SmallVector<Part> parts = partsOf(concat);
    Value const source = firstSource(parts);
    if (!source)
      return failure();
    bool const depthFirst = op.getIndexingMapsArray()[1].getResult(0) == rewriter.getAffineDimExpr(2);
    rewriter.setInsertionPoint(op);
    SmallVector<Part> gathered, rest;
    for (Part &part : parts)
      (part.gather && part.gather->source() == source ? gathered : rest).push_back(part);
    int64_t const columns = type.getDimSize(1);
    Value const products = productsOf(op, source, weightOf(weight, gathered, depthFirst, true, rewriter),
                                      int64_t(gathered.size()) * columns, rewriter);
    Value sum;
    if (!rest.empty())
      sum = productsOf(op, rowsOf(concat, rest, rewriter), weightOf(weight, rest, depthFirst, false, rewriter), columns,
                       rewriter);
    rewriter.replaceOp(op, sumOf(op, gathered, products, sum, rewriter));
    return success();
  }

private:
  /// Partial sums are stored in the type of the result.
  static bool isWide(Type type) { return type.isF32() || type.isF64(); }

  /// out[m, n] += rows[m, k] * weight[k, n] or weight[n, k]
  static bool isProduct(linalg::GenericOp op) {
    auto const maps = op.getIndexingMapsArray();
    AffineExpr m, n, k;
    bindDims(op.getContext(), m, n, k);
    auto const is = [&](AffineMap map, AffineExpr a, AffineExpr b) {
      return map.getNumResults() == 2 && map.getResult(0) == a && map.getResult(1) == b;
    };
    return op.getIteratorTypesArray()[2] == utils::IteratorType::reduction && is(maps[0], m, k) && is(maps[2], m, n) &&
           (is(maps[1], k, n) || is(maps[1], n, k));
  }

  static SmallVector<Part> partsOf(tensor::ConcatOp concat) {
    SmallVector<Part> parts;
    int64_t first = 0;
    for (Value rows : concat.getInputs()) {
      int64_t const width = cast<ShapedType>(rows.getType()).getDimSize(1);
      parts.push_back({rows, first, width, Gather::of(rows)});
      first += width;
    }
    return parts;
  }

  static Value firstSource(MutableArrayRef<Part> parts) {
    for (Part &part : parts)
      if (part.gather)
        return part.gather->source();
    return {};
  }

  /// The rows of the weight that the parts meet: of gathered ones side by side, as [width, parts * columns].
  static Value weightOf(nest::WeightOp weight, ArrayRef<Part> parts, bool depthFirst, bool sideBySide,
                        PatternRewriter &rewriter) {
    auto const type = cast<ShapedType>(weight.getType());
    int64_t const columns = type.getDimSize(depthFirst ? 1 : 0), depth = type.getDimSize(depthFirst ? 0 : 1);
    int64_t width = 0;
    SmallVector<int64_t> rows; // of the weight, one for each k that is left
    for (Part const &part : parts)
      llvm::append_range(rows, llvm::seq(part.first, part.first + part.width));
    width = sideBySide ? parts.front().width : int64_t(rows.size());
    int64_t const wide = sideBySide ? int64_t(parts.size()) * columns : columns;
    SmallVector<int64_t> const shape =
        depthFirst ? SmallVector<int64_t>{width, wide} : SmallVector<int64_t>{wide, width};
    DenseElementsAttr const value =
        gathered(weight.getValue(), shape, [&](ArrayRef<int64_t> at) -> std::optional<int64_t> {
          int64_t const k = at[depthFirst ? 0 : 1], n = at[depthFirst ? 1 : 0];
          int64_t const row = rows[sideBySide ? n / columns * width + k : k];
          return depthFirst ? row * columns + n % columns : n % columns * depth + row;
        });
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(weight);
    StringAttr const name = rewriter.getStringAttr(weight.getName() + (sideBySide ? ".gathered" : ".own"));
    return rewriter.create<nest::WeightOp>(weight.getLoc(), value.getType(), name, value, weight.getPackingAttr());
  }

  static Value rowsOf(tensor::ConcatOp concat, ArrayRef<Part> parts, PatternRewriter &rewriter) {
    if (parts.size() == 1)
      return parts.front().rows;
    SmallVector<Value> const rows = llvm::map_to_vector(parts, [](Part const &part) { return part.rows; });
    return rewriter.create<tensor::ConcatOp>(concat.getLoc(), 1, rows);
  }

  /// rows * weight
  static Value productsOf(linalg::GenericOp op, Value rows, Value weight, int64_t columns, PatternRewriter &rewriter) {
    Type const element = cast<ShapedType>(op->getResult(0).getType()).getElementType();
    int64_t const count = cast<ShapedType>(rows.getType()).getDimSize(0);
    Value const empty = rewriter.create<tensor::EmptyOp>(op.getLoc(), ArrayRef<int64_t>{count, columns}, element);
    Value const zero = rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getZeroAttr(element));
    Value const init = rewriter.create<linalg::FillOp>(op.getLoc(), zero, empty).getResult(0);
    auto product =
        rewriter.create<linalg::GenericOp>(op.getLoc(), TypeRange{init.getType()}, ValueRange{rows, weight},
                                           ValueRange{init}, op.getIndexingMapsArray(), op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op.getRegion(), product.getRegion(), product.getRegion().begin());
    return product->getResult(0);
  }

  /// sum[i, j] + products[at(i), j] + products[other(i), columns + j] + ...
  static Value sumOf(linalg::GenericOp op, MutableArrayRef<Part> gathered, Value products, Value sum,
                     PatternRewriter &rewriter) {
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    Location const loc = op.getLoc();
    Value const empty = rewriter.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
    SmallVector<AffineMap> maps(sum ? 1 : 0, rewriter.getMultiDimIdentityMap(2));
    SmallVector<utils::IteratorType> const loops(2, utils::IteratorType::parallel);
    SmallVector<Value> inputs(sum ? 1 : 0, sum);
    for (Part &part : gathered)
      for (OpOperand *input : part.gather->generic.getDpsInputOperands()) {
        inputs.push_back(input->get());
        maps.push_back(part.gather->generic.getMatchingIndexingMap(input));
      }
    maps.push_back(rewriter.getMultiDimIdentityMap(2));
    return rewriter
        .create<linalg::GenericOp>(loc, TypeRange{type}, inputs, ValueRange{empty}, maps, loops,
                                   [&](OpBuilder &inside, Location at, ValueRange scalars) {
                                     Value total = sum ? scalars[0] : Value();
                                     scalars = scalars.drop_front(sum ? 1 : 0);
                                     for (auto [number, part] : llvm::enumerate(gathered)) {
                                       unsigned const count = part.gather->generic.getNumDpsInputs();
                                       Value const term = elementOf(*part.gather, scalars.take_front(count), products,
                                                                    int64_t(number) * type.getDimSize(1), inside);
                                       scalars = scalars.drop_front(count);
                                       total = total ? inside.create<arith::AddFOp>(at, total, term).getResult() : term;
                                     }
                                     inside.create<linalg::YieldOp>(at, total);
                                   })
        ->getResult(0);
  }

  /// products[at(i), first + j] with the position that the gather computes.
  static Value elementOf(Gather &gather, ValueRange inputs, Value products, int64_t first, OpBuilder &inside) {
    IRMapping values;
    values.map(gather.generic.getRegionInputArgs(), inputs);
    for (Operation &each : gather.generic.getBody()->without_terminator())
      if (&each != gather.extract)
        inside.clone(each, values);
    Location const loc = gather.extract.getLoc();
    Value column = values.lookupOrDefault(gather.extract.getIndices()[1]);
    if (first != 0)
      column = inside.create<arith::AddIOp>(loc, column, inside.create<arith::ConstantIndexOp>(loc, first));
    Value const row = values.lookupOrDefault(gather.extract.getIndices()[0]);
    return inside.create<tensor::ExtractOp>(loc, products, ValueRange{row, column});
  }
};

} // namespace

void populateGatheredProducts(RewritePatternSet &patterns) {
  patterns.add<SplitGatheredProduct>(patterns.getContext());
}

} // namespace ml2k
