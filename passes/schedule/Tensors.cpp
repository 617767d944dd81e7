//===- Tensors.cpp - small builders shared by the schedule passes -------------------------------------------------===//

#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// An extent as the program says it: a question would be one more reader of the value, which keeps a kernel from taking
/// in what follows.
static Value extentOf(OpBuilder &builder, Location loc, Value value, int64_t d) {
  constexpr unsigned farthest = 64; // kernels: time must not grow with the square of the program
  for (unsigned steps = 0; steps < farthest; ++steps)
    if (auto kernel = value.getDefiningOp<DestinationStyleOpInterface>())
      value = kernel.getTiedOpOperand(cast<OpResult>(value))->get();
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSize(d);
  return builder.create<tensor::DimOp>(loc, value, d);
}

Value ml2k::emptyLike(OpBuilder &builder, Location loc, RankedTensorType type,
                      ArrayRef<std::pair<Value, int64_t>> sources) {
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(extentOf(builder, loc, sources[d].first, sources[d].second));
  return builder.create<tensor::EmptyOp>(loc, type, sizes);
}

SmallVector<int64_t> ml2k::inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    result[from] = to;
  return result;
}

bool ml2k::isIdentity(ArrayRef<int64_t> permutation) { return llvm::is_sorted(permutation); }

Value ml2k::transposed(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return value;
  auto const type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  SmallVector<std::pair<Value, int64_t>> sources;
  for (int64_t d : permutation) {
    shape.push_back(type.getDimSize(d));
    sources.push_back({value, d});
  }
  Value const init = emptyLike(builder, loc, RankedTensorType::get(shape, type.getElementType()), sources);
  return builder.create<linalg::TransposeOp>(loc, value, init, permutation)->getResult(0);
}

Operation *ml2k::multiplication(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || body.getNumArguments() != 3)
    return nullptr;
  Operation *add = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return nullptr;
  Value const accumulator = body.getArgument(2);
  if (add->getOperand(0) != accumulator && add->getOperand(1) != accumulator)
    return nullptr;
  Value const term = add->getOperand(0) == accumulator ? add->getOperand(1) : add->getOperand(0);
  Operation *multiply = term.getDefiningOp();
  return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply) ? multiply : nullptr;
}

/// The value before a widening conversion.
static Value narrow(Value value) {
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  return wide ? wide.getIn() : value;
}

bool ml2k::isMultiplyAdd(linalg::LinalgOp op) {
  Operation *multiply = multiplication(op);
  if (!multiply)
    return false;
  Block &body = *op.getBlock();
  Value const a = narrow(multiply->getOperand(0)), b = narrow(multiply->getOperand(1));
  return (a == body.getArgument(0) && b == body.getArgument(1)) ||
         (a == body.getArgument(1) && b == body.getArgument(0));
}

Value ml2k::elementwise(OpBuilder &builder, Location loc, Value first, Value second, AffineMap secondMap,
                        function_ref<Value(OpBuilder &, Value, Value)> make) {
  auto const type = cast<RankedTensorType>(first.getType());
  AffineMap const identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<std::pair<Value, int64_t>> sources;
  for (int64_t d = 0; d < type.getRank(); ++d)
    sources.push_back({first, d});
  Value const init = emptyLike(builder, loc, type, sources);
  SmallVector<utils::IteratorType> const loops(type.getRank(), utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(
      loc, type, ValueRange{first, second}, init, ArrayRef<AffineMap>{identity, secondMap, identity}, loops,
      [&](OpBuilder &inside, Location at, ValueRange scalars) {
        inside.create<linalg::YieldOp>(at, make(inside, scalars[0], scalars[1]));
      });
  return generic.getResult(0);
}
