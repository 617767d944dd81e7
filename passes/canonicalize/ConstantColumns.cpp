//===- ConstantColumns.cpp - products with columns that are one number --------------------------------------------===//
//
// Part of FoldWeights. A neural differential equation hands the time to its network as one more column: concat(x, t) *
// W, with another t for each stage of a Runge-Kutta method and the same W. The concatenation would be two kernels in
// front of each product; t times a row of W is one more term behind it, whether t is a constant or known at run time
// only. The rows of W are added up in double precision.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/ConstantColumns.h"
#include "passes/Constants.h"
#include "passes/Provenance.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;

namespace ml2k {
namespace {

/// Rows [first, first + size) of the weights meet columns that are all `value`, or the only element of `scalar`.
struct Constant {
  int64_t first, size;
  FloatAttr value;
  Value scalar;
};

/// A product of a concatenation and a matrix of weights.
struct Product {
  linalg::GenericOp op;
  tensor::ConcatOp concat;
  unsigned left, right; ///< operands: the concatenation and the weights
  SmallVector<Value> rest;
  SmallVector<Constant> constants;
};

constexpr size_t mostConstants = 4; ///< each is a term of the epilogue

/// The tensor of one element that all elements of `tensor` repeat, as a time that is known at run time.
Value repeatedBy(Value tensor) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumResults() != 1 || !generic.hasPureTensorSemantics() ||
      generic.getNumReductionLoops() != 0 ||
      generic.getBody()->getTerminator()->getOperand(0) != generic.getBody()->getArgument(0))
    return {};
  auto const source = dyn_cast<RankedTensorType>(generic.getInputs()[0].getType());
  return source && source.hasStaticShape() && source.getNumElements() == 1 ? generic.getInputs()[0] : Value();
}

/// The number that all elements of a tensor are.
FloatAttr numberOf(Value tensor) {
  if (Value const only = repeatedBy(tensor))
    tensor = only;
  if (auto const number = fillValue(tensor))
    return dyn_cast<FloatAttr>(*number);
  if (auto weight = weightBehind(tensor)) {
    auto const value = dyn_cast<DenseElementsAttr>(weight.getValue());
    return value && value.isSplat() ? dyn_cast<FloatAttr>(value.getSplatValue<Attribute>()) : FloatAttr();
  }
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  FloatAttr number;
  if (generic && generic.getNumDpsInputs() == 0 && generic.getNumResults() == 1 && generic.hasPureTensorSemantics() &&
      matchPattern(generic.getBody()->getTerminator()->getOperand(0), m_Constant(&number)))
    return number;
  return {};
}

/// The dimension of an operand that the only reduction runs along, and nothing else does.
std::optional<unsigned> reducedDim(linalg::GenericOp op, unsigned operand) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  AffineMap const map = op.getIndexingMapsArray()[operand];
  std::optional<unsigned> found;
  if (loops.size() != 1 || !map.isProjectedPermutation())
    return std::nullopt;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (expr == getAffineDimExpr(loops[0], op.getContext()))
      found = dim;
  return found;
}

/// The dimension of the result along which the outputs of the weights lie.
std::optional<unsigned> outputDim(Product &product) {
  auto const along = reducedDim(product.op, product.right);
  AffineMap const result = product.op.getMatchingIndexingMap(product.op.getDpsInitOperand(0));
  if (!along || !result.isProjectedPermutation())
    return std::nullopt;
  return result.getResultPosition(product.op.getIndexingMapsArray()[product.right].getResult(1 - *along));
}

std::optional<Product> productOf(linalg::GenericOp op, unsigned left) {
  Product product{op, op.getInputs()[left].getDefiningOp<tensor::ConcatOp>(), left, 1 - left, {}, {}};
  auto weight = op.getInputs()[product.right].getDefiningOp<nest::WeightOp>();
  auto const result = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  Type const type = result ? result.getElementType() : Type();
  if (!product.concat || !product.concat->hasOneUse() || !weight || !type || !(type.isF32() || type.isF64()) ||
      cast<ShapedType>(weight.getType()).getRank() != 2 || getElementTypeOrSelf(weight.getType()) != type ||
      reducedDim(op, left) != product.concat.getDim() || !reducedDim(op, product.right) || !outputDim(product))
    return std::nullopt;
  int64_t first = 0;
  for (Value input : product.concat.getInputs()) {
    int64_t const size = cast<RankedTensorType>(input.getType()).getDimSize(product.concat.getDim());
    if (ShapedType::isDynamic(size) || getElementTypeOrSelf(input.getType()) != type)
      return std::nullopt;
    FloatAttr const number = numberOf(input);
    Value const scalar = number ? Value() : repeatedBy(input);
    if (scalar || (number && number.getValue().isFinite()))
      product.constants.push_back({first, size, number, scalar});
    else
      product.rest.push_back(input);
    first += size;
  }
  bool const fits = first == cast<ShapedType>(weight.getType()).getDimSize(*reducedDim(op, product.right));
  if (!fits || product.rest.empty() || product.constants.empty() || product.constants.size() > mostConstants)
    return std::nullopt;
  return product;
}

bool haveSameRows(Product const &a, Product const &b) {
  return a.constants.size() == b.constants.size() && reducedDim(a.op, a.right) == reducedDim(b.op, b.right) &&
         llvm::all_of(llvm::zip(a.constants, b.constants), [](auto pair) {
           auto const &[one, other] = pair;
           return one.first == other.first && one.size == other.size;
         });
}

/// The parts of a matrix of weights.
struct Parts {
  Value rest;                               ///< a matrix of the rows that stay
  SmallVector<std::pair<Value, bool>> sums; ///< of the rows of each constant, and whether one is not zero
};

std::string nameOfPart(StringRef whole, int64_t first) {
  if (whole == unnamedWeight || whole.starts_with("onnx::"))
    return whole.str();
  auto const [layer, last] = whole.rsplit('.');
  return last.empty() ? (whole + "." + Twine(first)).str() : (layer + "." + Twine(first) + "." + last).str();
}

/// Null if a sum is no finite number.
std::optional<Parts> partsOf(OpBuilder &builder, nest::WeightOp weight, Product const &product) {
  auto const type = cast<RankedTensorType>(weight.getType());
  unsigned const along = *reducedDim(product.op, product.right), across = 1 - along;
  int64_t const outputs = type.getDimSize(across);
  SmallVector<int64_t> kept;
  int64_t next = 0;
  for (Constant const &constant : product.constants) {
    llvm::append_range(kept, llvm::seq(next, constant.first));
    next = constant.first + constant.size;
  }
  llvm::append_range(kept, llvm::seq(next, type.getDimSize(along)));
  std::vector<double> const values = constantDoubles(weight.getValue());
  auto const placeOf = [&](int64_t row, int64_t output) {
    return along == 0 ? row * outputs + output : output * type.getDimSize(along) + row;
  };
  SmallVector<std::vector<double>> sums;
  for (Constant const &constant : product.constants) {
    std::vector<double> &sum = sums.emplace_back(outputs, 0.);
    for (int64_t row = constant.first; row < constant.first + constant.size; ++row)
      for (int64_t output = 0; output < outputs; ++output)
        sum[output] += values[placeOf(row, output)];
    double const largest =
        type.getElementType().isF32() ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
    if (!llvm::all_of(sum, [&](double value) { return std::abs(value) <= largest; }))
      return std::nullopt;
  }
  builder.setInsertionPointAfter(weight);
  Parts parts;
  SmallVector<int64_t> shape(type.getShape());
  shape[along] = int64_t(kept.size());
  parts.rest = replacementWeight(builder, weight, gathered(weight.getValue(), shape, [&](ArrayRef<int64_t> at) {
                                   return std::optional(placeOf(kept[at[along]], at[across]));
                                 }));
  for (auto const &[constant, sum] : llvm::zip(product.constants, sums)) {
    auto vector = cast<nest::WeightOp>(
        replacementWeight(builder, weight, constantOf(RankedTensorType::get({outputs}, type.getElementType()), sum))
            .getDefiningOp());
    vector.setName(nameOfPart(weight.getName(), constant.first));
    parts.sums.push_back({vector, llvm::any_of(sum, [](double value) { return value != 0; })});
  }
  return parts;
}

/// The sum behind its bias, where that is all that reads it: biases lie with the weights.
Value withBias(Value sum) {
  auto bias = sum.hasOneUse() ? dyn_cast<linalg::GenericOp>(*sum.user_begin()) : linalg::GenericOp();
  if (!bias || bias.getNumDpsInputs() != 2 || bias.getNumResults() != 1 || !bias.hasPureTensorSemantics() ||
      bias.getNumReductionLoops() != 0 || bias.getBody()->getOperations().size() != 2 ||
      !isa<arith::AddFOp>(bias.getBody()->front()) || bias.getInputs()[0] != sum ||
      !bias.getInputs()[1].getDefiningOp<nest::WeightOp>() || bias.getResult(0).getType() != sum.getType() ||
      !bias.getIndexingMapsArray().back().isIdentity() || !bias.getIndexingMapsArray().front().isIdentity() ||
      bias.getBody()->front().getResult(0) != bias.getBody()->getTerminator()->getOperand(0))
    return sum;
  return bias.getResult(0);
}

/// sum + weight * scalar
Value withTerm(OpBuilder &builder, Location loc, Value sum, Value weight, AffineMap along, Value scalar) {
  auto const type = cast<RankedTensorType>(sum.getType());
  SmallVector<std::pair<Value, int64_t>> sources;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sources.push_back({sum, dim});
  AffineMap const identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineExpr> const zeros(cast<RankedTensorType>(scalar.getType()).getRank(),
                                      builder.getAffineConstantExpr(0));
  AffineMap const only = AffineMap::get(type.getRank(), 0, zeros, builder.getContext());
  auto generic = builder.create<linalg::GenericOp>(
      loc, type, ValueRange{sum, weight, scalar}, emptyLike(builder, loc, type, sources),
      ArrayRef<AffineMap>{identity, along, only, identity},
      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location at, ValueRange scalars) {
        Value const term = inside.create<arith::MulFOp>(at, scalars[1], scalars[2]);
        inside.create<linalg::YieldOp>(at, inside.create<arith::AddFOp>(at, scalars[0], term).getResult());
      });
  return generic.getResult(0);
}

void rewrite(OpBuilder &builder, Product &product, Parts const &parts) {
  Location const loc = product.op.getLoc();
  unsigned const output = *outputDim(product);
  builder.setInsertionPoint(product.op);
  Value rest = product.rest[0];
  if (product.rest.size() > 1)
    rest = builder.create<tensor::ConcatOp>(product.concat.getLoc(), product.concat.getDim(), product.rest);
  product.op.getInputsMutable()[product.left].set(rest);
  product.op.getInputsMutable()[product.right].set(parts.rest);
  Value sum = withBias(product.op.getResult(0));
  SmallVector<OpOperand *> const readers = llvm::map_to_vector(sum.getUses(), [](OpOperand &use) { return &use; });
  builder.setInsertionPointAfterValue(sum);
  auto const rank = cast<RankedTensorType>(sum.getType()).getRank();
  AffineMap const along = AffineMap::get(rank, 0, builder.getAffineDimExpr(output));
  for (auto const &[constant, part] : llvm::zip(product.constants, parts.sums)) {
    if (constant.scalar) {
      sum = withTerm(builder, loc, sum, part.first, along, constant.scalar);
      continue;
    }
    if (constant.value.getValue().isZero() || !part.second)
      continue;
    Value const number = builder.create<arith::ConstantOp>(loc, constant.value);
    sum = elementwise(builder, loc, sum, part.first, along, [&](OpBuilder &inside, Value total, Value weight) {
      Value const term = inside.create<arith::MulFOp>(loc, weight, number);
      return inside.create<arith::AddFOp>(loc, total, term).getResult();
    });
  }
  for (OpOperand *reader : readers)
    reader->set(sum);
}

} // namespace

void separateConstantColumns(Operation *root) {
  llvm::MapVector<nest::WeightOp, SmallVector<Product>> products;
  root->walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() != 1 || !op.hasPureTensorSemantics() || !isMultiplyAdd(op))
      return;
    for (unsigned const left : {0U, 1U})
      if (auto product = productOf(op, left))
        products[op.getInputs()[1 - left].getDefiningOp<nest::WeightOp>()].push_back(*product);
  });
  OpBuilder builder(root->getContext());
  for (auto &[key, readers] : products) {
    nest::WeightOp weight = key;
    auto const uses = llvm::range_size(weight->getUses());
    if (readers.size() != size_t(uses) ||
        !llvm::all_of(readers, [&](Product const &other) { return haveSameRows(readers.front(), other); }))
      continue;
    if (std::optional<Parts> const parts = partsOf(builder, weight, readers.front()))
      for (Product &product : readers)
        rewrite(builder, product, *parts);
  }
}

} // namespace ml2k
