//===- TorchForms.cpp - torch-mlir's own operations in terms of other ones ----------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/Nest.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/Parts.h"
#include "translator/ir/SortRoom.h"
#include "translator/ir/TmTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace ml2k;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value yieldedBy(Region &body) { return body.front().getTerminator()->getOperand(0); }

/// The body's value for these arguments.
Value inlined(OpBuilder &builder, Region &body, ValueRange arguments) {
  IRMapping values;
  values.map(body.getArguments(), arguments);
  for (Operation &op : body.front().without_terminator())
    builder.clone(op, values);
  return values.lookupOrDefault(yieldedBy(body));
}

/// The operation on both arguments of a body that does nothing else, if their order does not matter; null otherwise.
Operation *combinerOf(Region &body) {
  Operation *op = yieldedBy(body).getDefiningOp();
  Block &block = body.front();
  if (!op || op->getBlock() != &block || !op->hasTrait<OpTrait::IsCommutative>() || op->getNumOperands() != 2 ||
      block.getOperations().size() != 2 || op->getOperand(0) == op->getOperand(1) ||
      !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>))
    return nullptr;
  return op;
}

/// Loops over positions below `uppers`, from the first one on.
Value loops(OpBuilder &builder, Location loc, ArrayRef<Value> uppers, Value start,
            llvm::function_ref<Value(OpBuilder &, ValueRange, Value)> body) {
  Value const zero = builder.create<arith::ConstantIndexOp>(loc, 0),
              one = builder.create<arith::ConstantIndexOp>(loc, 1);
  SmallVector<Value> const lowers(uppers.size(), zero), steps(uppers.size(), one);
  if (uppers.empty())
    return body(builder, {}, start);
  return scf::buildLoopNest(builder, loc, lowers, uppers, steps, start,
                            [&](OpBuilder &inside, Location, ValueRange at, ValueRange carried) -> scf::ValueVector {
                              return {body(inside, at, carried[0])};
                            })
      .results[0];
}

SmallVector<Value> extentsOf(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<Value> extents;
  for (int64_t d = 0; d < typeOf(tensor).getRank(); ++d)
    extents.push_back(builder.createOrFold<tensor::DimOp>(loc, tensor, d));
  return extents;
}

/// Uninitialised, with these extents where the type leaves them open.
Value emptyOf(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<Value> extents) {
  SmallVector<Value> open;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      open.push_back(extents[d]);
  return builder.create<tensor::EmptyOp>(loc, type, open);
}

//===--- Scan -----------------------------------------------------------------------------------------------------===//

/// Rows are independent of each other: of the loops only the last has an order; it carries the value. torch-mlir says
/// nothing of the order in which terms are added.
LogicalResult lowerScan(tm_tensor::ScanOp op) {
  Operation *combiner = combinerOf(op.getBody());
  std::optional<TypedAttr> const neutral = combiner ? arith::getNeutralElement(combiner) : std::nullopt;
  if (!neutral)
    return op.emitOpError("has a body that is no sum, product, minimum or maximum");
  if (!op.getResult(1).use_empty())
    return op.emitOpError("gives away its last value; only the running values are read");
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  Value const in = op.getInputs()[0], start = op.getOutputs()[1];
  int64_t const along = op.getDimension();
  SmallVector<Value> extents = extentsOf(builder, loc, in);
  Value const length = extents[along];
  Value const out = emptyOf(builder, loc, typeOf(in), extents);
  extents.erase(extents.begin() + along);
  Value const running =
      loops(builder, loc, extents, out, [&](OpBuilder &row, ValueRange others, Value carried) -> Value {
        Value const zero = row.create<arith::ConstantIndexOp>(loc, 0), one = row.create<arith::ConstantIndexOp>(loc, 1);
        Value const first = op.getInclusive() ? row.create<arith::ConstantOp>(loc, *neutral).getResult()
                                              : row.create<tensor::ExtractOp>(loc, start, others).getResult();
        auto const step = [&](OpBuilder &inside, Location, Value i, ValueRange values) {
          SmallVector<Value> at(others);
          at.insert(at.begin() + along, i);
          Value const term = inside.create<tensor::ExtractOp>(loc, in, at);
          Value const next = inlined(inside, op.getBody(), {values[1], term});
          if (auto add = next.getDefiningOp<arith::AddFOp>())
            add.setFastmath(arith::FastMathFlags::reassoc);
          Value const stored =
              inside.create<tensor::InsertOp>(loc, op.getInclusive() ? next : values[1], values[0], at);
          inside.create<scf::YieldOp>(loc, ValueRange{stored, next});
        };
        return row.create<scf::ForOp>(loc, zero, length, one, ValueRange{carried, first}, step).getResult(0);
      });
  op.getResult(0).replaceAllUsesWith(running);
  op.erase();
  return success();
}

//===--- Sort and the first elements ------------------------------------------------------------------------------===//

struct Order {
  bool isDescending, isUnsigned;
};

/// What a body says of its first two arguments; nothing if that is no comparison of them.
std::optional<Order> orderOf(Region &body) {
  Value const a = body.getArgument(0), b = body.getArgument(1);
  Operation *compare = yieldedBy(body).getDefiningOp();
  if (!isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(compare) || !a.getType().isIntOrFloat())
    return std::nullopt;
  bool const isTurned = compare->getOperand(0) == b && compare->getOperand(1) == a;
  if (!isTurned && !(compare->getOperand(0) == a && compare->getOperand(1) == b))
    return std::nullopt;
  bool isGreater, isUnsigned = false;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare)) {
    using P = arith::CmpFPredicate;
    P const predicate = floats.getPredicate();
    isGreater = llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, predicate);
    if (!isGreater && !llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, predicate))
      return std::nullopt;
  } else {
    using P = arith::CmpIPredicate;
    P const predicate = cast<arith::CmpIOp>(compare).getPredicate();
    isGreater = llvm::is_contained({P::sgt, P::sge, P::ugt, P::uge}, predicate);
    isUnsigned = llvm::is_contained({P::ugt, P::uge, P::ult, P::ule}, predicate);
    if (predicate == P::eq || predicate == P::ne)
      return std::nullopt;
  }
  return Order{isGreater != isTurned, isUnsigned};
}

/// The elements in order, as many as `kept`, and their positions.
std::pair<Value, Value> sorted(OpBuilder &builder, Location loc, Value in, int64_t along, Order order, int64_t kept) {
  SmallVector<int64_t> shape(typeOf(in).getShape());
  shape[along] = kept;
  SmallVector<Value> const extents = extentsOf(builder, loc, in);
  SmallVector<Value> outputs;
  for (Type const element : {typeOf(in).getElementType(), Type(builder.getI64Type())})
    outputs.push_back(emptyOf(builder, loc, RankedTensorType::get(shape, element), extents));
  outputs.push_back(nest::roomForSort(builder, loc, in));
  auto sort = builder.create<nest::SortOp>(loc, TypeRange(ValueRange(outputs)), "sort",
                                           order.isDescending ? nest::Order::Descending : nest::Order::Ascending,
                                           order.isUnsigned, /*slices=*/false, along, in, ValueRange(), outputs);
  return {sort->getResult(0), sort->getResult(1)};
}

/// Elementwise on one tensor of the shape of `type`: its element and position become one of `type`.
Value mapped(OpBuilder &builder, Location loc, RankedTensorType type, Value in,
             llvm::function_ref<Value(OpBuilder &, Value)> body) {
  Value const out = emptyOf(builder, loc, type, extentsOf(builder, loc, in));
  SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> const parallel(type.getRank(), utils::IteratorType::parallel);
  return builder
      .create<linalg::GenericOp>(loc, type, in, out, maps, parallel,
                                 [&](OpBuilder &inside, Location, ValueRange values) {
                                   inside.create<linalg::YieldOp>(loc, body(inside, values[0]));
                                 })
      .getResult(0);
}

/// Positions, of which `type` has the element type.
Value placesAs(OpBuilder &builder, Location loc, RankedTensorType type, Value places) {
  unsigned const wanted = type.getElementTypeBitWidth();
  if (wanted == 64)
    return places;
  auto const own = RankedTensorType::get(typeOf(places).getShape(), type.getElementType());
  return mapped(builder, loc, own, places, [&](OpBuilder &inside, Value place) -> Value {
    if (wanted > 64)
      return inside.create<arith::ExtSIOp>(loc, type.getElementType(), place);
    return inside.create<arith::TruncIOp>(loc, type.getElementType(), place);
  });
}

/// Whether every element is its own position along a dimension.
bool countsAlong(Value value, int64_t along) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInits() != 1 || generic.getNumParallelLoops() != generic.getNumLoops() ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity())
    return false;
  auto cast = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::IndexCastOp>();
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  return index && int64_t(index.getDim()) == along;
}

/// How many of each row are read: all uses are the same first elements.
int64_t countRead(tm_tensor::SortOp op) {
  int64_t const along = op.getDimension(), all = typeOf(op.getOutputs()[0]).getDimSize(along);
  int64_t most = 0;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice.getStaticStrides()[along] != 1 || slice.getStaticOffsets()[along] != 0 ||
        ShapedType::isDynamic(slice.getStaticSizes()[along]))
      return all;
    most = std::max(most, slice.getStaticSizes()[along]);
  }
  return std::min(std::max<int64_t>(most, 1), all);
}

LogicalResult lowerSort(tm_tensor::SortOp op) {
  std::optional<Order> const order = orderOf(op.getBody());
  if (!order)
    return op.emitOpError("has a body that does not compare two elements of the first output");
  if (op.use_empty())
    return op.erase(), success();
  int64_t const along = op.getDimension(), kept = countRead(op);
  if (ShapedType::isDynamic(typeOf(op.getOutputs()[0]).getDimSize(along)))
    return op.emitOpError("sorts rows of an extent that is known at run time only; give it by --dim");
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  auto const [values, places] = sorted(builder, loc, op.getOutputs()[0], along, *order, kept);
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    auto const type = RankedTensorType::get(typeOf(values).getShape(), typeOf(output).getElementType());
    Value const made = i == 0 ? values
                       : countsAlong(output, along)
                           ? placesAs(builder, loc, type, places)
                           : mapped(builder, loc, type, places, [&, output = output](OpBuilder &inside, Value place) {
                               SmallVector<Value> at;
                               for (int64_t d = 0; d < type.getRank(); ++d)
                                 at.push_back(inside.create<linalg::IndexOp>(loc, d));
                               at[along] = inside.create<arith::IndexCastOp>(loc, inside.getIndexType(), place);
                               return inside.create<tensor::ExtractOp>(loc, output, at).getResult();
                             });
    if (made.getType() == output.getType()) {
      op.getResult(i).replaceAllUsesWith(made);
      continue;
    }
    for (OpOperand &use : llvm::make_early_inc_range(op.getResult(i).getUses())) // slices of the first elements
      use.set(made);
  }
  op.erase();
  return success();
}

LogicalResult lowerTopK(tm_tensor::TopKOp op) {
  std::optional<Order> const order = orderOf(op.getBody());
  if (!order)
    return op.emitOpError("has a body that does not compare its two elements");
  int64_t const along = op.getDimension(), kept = typeOf(op.getOutputs()[0]).getDimSize(along);
  if (op.getInputs().size() == 2 || ShapedType::isDynamic(kept))
    return op.emitOpError("with positions given, or a number of elements known at run time only, is not read");
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  auto const [values, places] = sorted(builder, loc, op.getInputs()[0], along, *order, kept);
  auto const as = [&](Value made, Value result) {
    return made.getType() == result.getType() ? made : builder.create<tensor::CastOp>(loc, result.getType(), made);
  };
  op.getResult(0).replaceAllUsesWith(as(values, op.getResult(0)));
  op.getResult(1).replaceAllUsesWith(as(placesAs(builder, loc, typeOf(op.getResult(1)), places), op.getResult(1)));
  op.erase();
  return success();
}

//===--- Scatter --------------------------------------------------------------------------------------------------===//

/// One element after the other; in any order where indices differ, or the body only adds or the like. An index that
/// points outside ends the program, with a message.
LogicalResult lowerScatter(tm_tensor::ScatterOp op) {
  OpBuilder builder(op);
  Location const loc = op.getLoc();
  Value const updates = op.getInputs()[0], indices = op.getInputs()[1], out = op.getOutputs()[0];
  SmallVector<Value> const extents = extentsOf(builder, loc, out);
  ArrayRef<int64_t> const dims = op.getDimensionMap();
  auto const body = [&](OpBuilder &inside, ValueRange at, Value carried) -> Value {
    SmallVector<Value> place(extents.size());
    for (auto [n, dim] : llvm::enumerate(dims)) {
      Value const column = inside.create<arith::ConstantIndexOp>(loc, n);
      Value const index = inside.create<tensor::ExtractOp>(loc, indices, ValueRange{at[0], column});
      place[dim] = inside.create<nest::PositionOp>(loc, inside.getIndexType(), index, extents[dim]);
    }
    size_t next = 1;
    for (Value &position : place)
      if (!position)
        position = at[next++];
    Value const update = inside.create<tensor::ExtractOp>(loc, updates, at);
    Value const current = inside.create<tensor::ExtractOp>(loc, carried, place);
    Value const changed = inlined(inside, op.getBody(), {update, current});
    if (current.use_empty())
      current.getDefiningOp()->erase();
    return inside.create<tensor::InsertOp>(loc, changed, carried, place);
  };
  Value const made = loops(builder, loc, extentsOf(builder, loc, updates), out, body);
  if (op.getUniqueIndices() || combinerOf(op.getBody()))
    made.getDefiningOp()->walk(
        [](scf::ForOp loop) { loop->setAttr("nest.unordered", UnitAttr::get(loop.getContext())); });
  op.getResult(0).replaceAllUsesWith(made);
  op.erase();
  return success();
}

//===--- Attention ------------------------------------------------------------------------------------------------===//

/// Σ_k a(batch, m, k) * b(batch, n, k), or b(batch, k, n)
Value product(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<Value> extents, Value a, Value b,
              bool isTurned) {
  unsigned const rank = type.getRank();
  SmallVector<AffineExpr> batch;
  for (unsigned d = 0; d + 2 < rank; ++d)
    batch.push_back(builder.getAffineDimExpr(d));
  AffineExpr const m = builder.getAffineDimExpr(rank - 2), n = builder.getAffineDimExpr(rank - 1);
  AffineExpr const k = builder.getAffineDimExpr(rank);
  auto const with = [&](AffineExpr x, AffineExpr y) {
    SmallVector<AffineExpr> exprs(batch);
    exprs.append({x, y});
    return AffineMap::get(rank + 1, 0, exprs, builder.getContext());
  };
  SmallVector<AffineMap> const maps = {with(m, k), isTurned ? with(n, k) : with(k, n), with(m, n)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Value const zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type.getElementType()));
  Value const empty = emptyOf(builder, loc, type, extents);
  Value const start = builder.create<linalg::FillOp>(loc, zero, empty).getResult(0);
  return builder
      .create<linalg::GenericOp>(loc, type, ValueRange{a, b}, start, maps, iterators,
                                 [&](OpBuilder &inside, Location, ValueRange values) {
                                   Value const term = inside.create<arith::MulFOp>(loc, values[0], values[1]);
                                   Value const sum = inside.create<arith::AddFOp>(loc, values[2], term);
                                   inside.create<linalg::YieldOp>(loc, sum);
                                 })
      .getResult(0);
}

LogicalResult lowerAttention(tm_tensor::AttentionOp op) {
  OpBuilder builder(op);
  Location const loc = partOf(op.getLoc(), "scores"), ofShares = partOf(op.getLoc(), "softmax");
  Value const q = op.getInputs()[0], k = op.getInputs()[1], v = op.getInputs()[2];
  auto const type = typeOf(op.getOutputs()[0]);
  unsigned const rank = type.getRank();
  SmallVector<Value> extents = extentsOf(builder, loc, q), ofOut = extents;
  Value const columns = extents.back();
  extents.back() = builder.createOrFold<tensor::DimOp>(loc, k, rank - 2);
  ofOut.back() = builder.createOrFold<tensor::DimOp>(loc, v, rank - 1);
  SmallVector<int64_t> shape(typeOf(q).getShape());
  shape.back() = typeOf(k).getDimSize(rank - 2);
  auto const ofScores = RankedTensorType::get(shape, type.getElementType());
  Value scores = product(builder, loc, ofScores, extents, q, k, /*isTurned=*/true);
  // One kernel's work on the sums: the scale, then the mask
  Type const element = type.getElementType();
  auto const scale = [&](OpBuilder &inside) -> Value {
    if (int64_t const known = typeOf(q).getShape().back(); !ShapedType::isDynamic(known))
      return inside.create<arith::ConstantOp>(loc, inside.getFloatAttr(element, std::sqrt(double(known))));
    Value const count = inside.create<arith::IndexCastOp>(loc, inside.getI64Type(), columns);
    return inside.create<math::SqrtOp>(loc, inside.create<arith::SIToFPOp>(loc, element, count));
  };
  SmallVector<Value> operands = {scores};
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  if (op.getInputs().size() == 4) {
    operands.push_back(op.getInputs()[3]);
    maps.insert(maps.begin() + 1, maps[0].getMinorSubMap(typeOf(operands[1]).getRank()));
  }
  SmallVector<utils::IteratorType> const parallel(rank, utils::IteratorType::parallel);
  scores =
      builder
          .create<linalg::GenericOp>(loc, ofScores, operands, emptyOf(builder, loc, ofScores, extents), maps, parallel,
                                     [&](OpBuilder &inside, Location, ValueRange values) {
                                       Value score = inside.create<arith::DivFOp>(loc, values[0], scale(inside));
                                       if (operands.size() == 2)
                                         score = inside.create<arith::AddFOp>(loc, score, values[1]);
                                       inside.create<linalg::YieldOp>(loc, score);
                                     })
          .getResult(0);
  Value const shares = builder
                           .create<linalg::SoftmaxOp>(ofShares, TypeRange(ofScores), scores,
                                                      emptyOf(builder, ofShares, ofScores, extents), rank - 1)
                           ->getResult(0);
  op.getResult(0).replaceAllUsesWith(product(builder, op.getLoc(), type, ofOut, shares, v, /*isTurned=*/false));
  op.erase();
  return success();
}

} // namespace

LogicalResult ml2k::mlir_import::lowerTorchForms(func::FuncOp entry) {
  bool isFailed = false;
  SmallVector<Operation *> found;
  entry.walk([&](Operation *op) {
    if (op->getDialect() && op->getDialect()->getNamespace() == "tm_tensor" && !isa<tm_tensor::YieldOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    if (op->getNumResults() > 0 && !op->use_empty())
      isFailed |= llvm::TypeSwitch<Operation *, bool>(op)
                      .Case([](tm_tensor::ScanOp scan) { return failed(lowerScan(scan)); })
                      .Case([](tm_tensor::SortOp sort) { return failed(lowerSort(sort)); })
                      .Case([](tm_tensor::TopKOp topK) { return failed(lowerTopK(topK)); })
                      .Case([](tm_tensor::ScatterOp scatter) { return failed(lowerScatter(scatter)); })
                      .Case([](tm_tensor::AttentionOp attention) { return failed(lowerAttention(attention)); });
    else
      op->erase(); // nobody reads it
  }
  return failure(isFailed);
}
