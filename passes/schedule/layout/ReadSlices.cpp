//===- ReadSlices.cpp - products read a slice where it lies -------------------------------------------------------===//
//
// One product for queries, keys and values, then a Split, then heads: [n, 3 * h * w] is cut and its parts become
// [n, h, w]. The product of two activations takes any strides, so it reads the whole as [n, 3 * h, w] from head h on
// instead of a copy.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include <numeric>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_READSLICES
#include "passes/Passes.h.inc"

namespace {

/// Where an element of a slice lies along a dimension of the whole: at `from`, and as far on as `dim` says.
struct Place {
  std::optional<unsigned> dim; ///< of the slice (at first a loop of the copy)
  int64_t from = 0;
};

std::optional<Place> placeOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Place{std::nullopt, constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Place{dim.getPosition()};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add || !isa<AffineDimExpr>(sum.getLHS()) ||
      !isa<AffineConstantExpr>(sum.getRHS()))
    return std::nullopt;
  return Place{cast<AffineDimExpr>(sum.getLHS()).getPosition(), cast<AffineConstantExpr>(sum.getRHS()).getValue()};
}

/// A copy of a part of one tensor, the place of every dimension of that.
struct Slice {
  Value whole;
  SmallVector<Place> places;
};

/// The dimension of the output that each loop runs along; nothing where a loop does not write all of one.
std::optional<SmallVector<unsigned>> dimsOf(AffineMap output) {
  SmallVector<unsigned> dims(output.getNumDims(), output.getNumResults());
  for (auto [number, expr] : llvm::enumerate(output.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dims[dim.getPosition()] == output.getNumResults())
      dims[dim.getPosition()] = number;
    else if (expr != 0)
      return std::nullopt;
  return llvm::is_contained(dims, output.getNumResults()) ? std::nullopt : std::optional(dims);
}

/// A slice that is no copy yet.
std::optional<Slice> sliceOf(tensor::ExtractSliceOp part) {
  if (!llvm::all_of(part.getMixedStrides(), [](OpFoldResult stride) { return isConstantIntValue(stride, 1); }) ||
      llvm::any_of(part.getStaticOffsets(), ShapedType::isDynamic))
    return std::nullopt;
  llvm::SmallBitVector const dropped = part.getDroppedDims();
  Slice slice{part.getSource(), {}};
  unsigned next = 0;
  for (auto const &[d, offset] : llvm::enumerate(part.getStaticOffsets()))
    slice.places.push_back({dropped.test(d) ? std::nullopt : std::optional(next++), offset});
  return slice;
}

std::optional<Slice> sliceOf(Value value) {
  if (auto part = value.getDefiningOp<tensor::ExtractSliceOp>())
    return sliceOf(part);
  auto copy = value.getDefiningOp<nest::MapOp>();
  if (!copy || copy.getInputs().size() != 1 || !copy.getExtras().empty() || copy.getOutputs().size() != 1)
    return std::nullopt;
  Block &body = copy.getBody().front();
  SmallVector<AffineMap> const maps = copy.getMaps();
  std::optional<SmallVector<unsigned>> const dims = dimsOf(maps.back());
  if (!dims || &body.front() != &body.back() || body.back().getOperand(0) != body.getArgument(0))
    return std::nullopt;
  Slice slice{copy.getInputs()[0], {}};
  for (AffineExpr expr : maps.front().getResults()) {
    std::optional<Place> place = placeOf(expr);
    if (!place)
      return std::nullopt;
    if (place->dim)
      place->dim = (*dims)[*place->dim];
    slice.places.push_back(*place);
  }
  return slice;
}

/// A factor that a number was multiplied by before it is divided by it: x for x * 64 / 64.
Value withoutFactor(Value size) {
  auto quotient = size.getDefiningOp<arith::DivUIOp>();
  auto const divisor = quotient ? getConstantIntValue(quotient.getRhs()) : std::nullopt;
  if (!divisor)
    return size;
  if (auto product = quotient.getLhs().getDefiningOp<arith::MulIOp>())
    return getConstantIntValue(product.getRhs()) == divisor ? product.getLhs() : size;
  auto product = quotient.getLhs().getDefiningOp<affine::AffineApplyOp>();
  AffineExpr const s0 = getAffineSymbolExpr(0, size.getContext());
  bool const isMultiple = product && product.getMap().getNumInputs() == 1 && product.getMap().getNumSymbols() == 1 &&
                          product.getMap().getResult(0) == s0 * *divisor;
  return isMultiple ? product.getOperand(0) : size;
}

/// The run-time extent of a tensor as the program says it; null if it does not.
Value sizeOf(Value tensor, unsigned dim) {
  constexpr unsigned farthest = 64; // kernels: time must not grow with the square of the program
  for (unsigned steps = 0; steps < farthest; ++steps)
    if (auto kernel = tensor.getDefiningOp<DestinationStyleOpInterface>())
      tensor = kernel.getTiedOpOperand(cast<OpResult>(tensor))->get();
  if (!cast<ShapedType>(tensor.getType()).isDynamicDim(dim))
    return {};
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return withoutFactor(empty.getDynamicSize(dim));
  if (auto part = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    SmallVector<OpFoldResult> sizes;
    llvm::SmallBitVector const dropped = part.getDroppedDims();
    for (auto const &[d, size] : llvm::enumerate(part.getMixedSizes()))
      if (!dropped.test(d))
        sizes.push_back(size);
    return withoutFactor(cast<Value>(sizes[dim]));
  }
  if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>()) { // extents of 1 that are gone
    ReassociationIndices const group = collapse.getReassociationIndices()[dim];
    auto const isLong = [&](int64_t d) { return collapse.getSrcType().getDimSize(d) != 1; };
    return llvm::count_if(group, isLong) == 1 ? sizeOf(collapse.getSrc(), *llvm::find_if(group, isLong)) : Value();
  }
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  return expand ? withoutFactor(expand.getOutputShape()[expand.getResultType().getDynamicDimIndex(dim)]) : Value();
}

bool isSameExtent(Value a, unsigned first, Value b, unsigned second) {
  int64_t const left = cast<ShapedType>(a.getType()).getDimSize(first);
  int64_t const right = cast<ShapedType>(b.getType()).getDimSize(second);
  if (!ShapedType::isDynamic(left) || !ShapedType::isDynamic(right))
    return left == right;
  Value const size = sizeOf(a, first);
  return size && size == sizeOf(b, second);
}

/// An operand that is such a copy, perhaps with dimensions split and others of extent 1 dropped.
class SlicedOperand {
public:
  explicit SlicedOperand(Value operand) : value(operand) {
    if (auto drop = value.getDefiningOp<tensor::CollapseShapeOp>()) {
      collapse = drop;
      value = drop.getSrc();
    }
    if (auto split = value.getDefiningOp<tensor::ExpandShapeOp>()) {
      expand = split;
      value = split.getSrc();
    }
    slice = sliceOf(value);
  }

  /// The whole with the dimensions of the operand, and where the kernel, which reads the operand at `map`, finds its
  /// elements there; nothing where the whole cannot be split like the slice.
  /// `sums`: the loops that the result does not have. They run as far as an input says, so that a part of one of its
  /// dimensions will not do.
  std::optional<std::pair<Value, AffineMap>> read(OpBuilder &builder, Location location, AffineMap map,
                                                  llvm::SmallBitVector const &sums) {
    auto const type = slice ? dyn_cast<RankedTensorType>(slice->whole.getType()) : RankedTensorType();
    if (!type || !unfold(map))
      return std::nullopt;
    SmallVector<SmallVector<int64_t>> const parts = partsOf(cast<ShapedType>(value.getType()));
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> found;
    for (auto const &[dim, place, extent] : llvm::enumerate(slice->places, type.getShape())) {
      ArrayRef<int64_t> const inner = place.dim ? ArrayRef(parts[*place.dim]).drop_front() : ArrayRef<int64_t>();
      if (llvm::is_contained(inner, ShapedType::kDynamic) || (ShapedType::isDynamic(extent) && !inner.empty()))
        return std::nullopt;
      int64_t const size = product(inner);
      if (size == 0 || extent % size != 0 || place.from % size != 0)
        return std::nullopt;
      auto const loop = place.dim ? dyn_cast<AffineDimExpr>(indices[*place.dim].front()) : AffineDimExpr(nullptr);
      if (loop && sums.test(loop.getPosition()) && !isSameExtent(value, *place.dim, slice->whole, dim))
        return std::nullopt;
      groups.push_back(llvm::to_vector(llvm::seq<int64_t>(shape.size(), shape.size() + 1 + inner.size())));
      shape.push_back(inner.empty() ? extent : extent / size);
      llvm::append_range(shape, inner);
      AffineExpr const first = builder.getAffineConstantExpr(place.from / size);
      found.push_back(place.dim ? indices[*place.dim].front() + first : first);
      if (place.dim)
        llvm::append_range(found, ArrayRef(indices[*place.dim]).drop_front());
    }
    Value whole = slice->whole;
    if (shape.size() != type.getShape().size())
      whole = builder.create<tensor::ExpandShapeOp>(location, RankedTensorType::get(shape, type.getElementType()),
                                                    whole, groups);
    return std::pair(whole, AffineMap::get(map.getNumDims(), 0, found, builder.getContext()));
  }

private:
  static int64_t product(ArrayRef<int64_t> values) {
    return std::accumulate(values.begin(), values.end(), int64_t(1), std::multiplies<>());
  }

  /// What the reshapes split each dimension of the slice into.
  SmallVector<SmallVector<int64_t>> partsOf(ShapedType type) {
    SmallVector<SmallVector<int64_t>> parts;
    if (!expand) {
      for (int64_t extent : type.getShape())
        parts.push_back({extent});
      return parts;
    }
    for (ReassociationIndices const &group : expand.getReassociationIndices())
      parts.push_back(llvm::map_to_vector(group, [&](int64_t d) { return expand.getResultType().getDimSize(d); }));
    return parts;
  }

  /// The index along every part of every dimension of the slice. What was dropped is 0.
  bool unfold(AffineMap map) {
    SmallVector<AffineExpr> all(map.getResults());
    if (collapse) {
      ArrayRef<int64_t> const shape = collapse.getSrcType().getShape();
      SmallVector<AffineExpr> before(shape.size(), getAffineConstantExpr(0, map.getContext()));
      for (auto [group, index] : llvm::zip(collapse.getReassociationIndices(), map.getResults())) {
        SmallVector<int64_t> kept(group.begin(), group.end());
        llvm::erase_if(kept, [&](int64_t d) { return shape[d] == 1; });
        if (kept.size() > 1)
          return false;
        before[kept.empty() ? group.back() : kept.front()] = index;
      }
      all = before;
    }
    indices.clear();
    if (!expand) {
      for (AffineExpr index : all)
        indices.push_back({index});
      return true;
    }
    for (ReassociationIndices const &group : expand.getReassociationIndices())
      indices.push_back(llvm::map_to_vector(group, [&](int64_t d) { return all[d]; }));
    return true;
  }

  Value value; ///< the slice
  tensor::CollapseShapeOp collapse;
  tensor::ExpandShapeOp expand;
  std::optional<Slice> slice;
  SmallVector<SmallVector<AffineExpr>> indices;
};

/// What nobody reads any more: the reshapes, then the copy.
void eraseUnused(Operation *op) {
  while (op && isOpTriviallyDead(op)) {
    Operation *source = op->getOperand(0).getDefiningOp();
    op->erase();
    op = source;
  }
}

struct ReadSlices : impl::ReadSlicesBase<ReadSlices> {
  void runOnOperation() override {
    getOperation().walk([](nest::ContractOp contract) {
      if (contract.getInputs()[1].getDefiningOp<nest::WeightOp>()) // reads rows of memory
        return;
      OpBuilder builder(contract);
      SmallVector<AffineMap> maps = contract.getMaps();
      llvm::SmallBitVector sums(maps.front().getNumDims(), true);
      for (AffineExpr expr : maps.back().getResults())
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          sums.reset(loop.getPosition());
      for (OpOperand &operand : contract.getInputsMutable()) {
        AffineMap &map = maps[operand.getOperandNumber()];
        if (auto read = SlicedOperand(operand.get()).read(builder, operand.get().getLoc(), map, sums)) {
          Operation *before = operand.get().getDefiningOp();
          operand.set(read->first);
          map = read->second;
          eraseUnused(before);
        }
      }
      contract.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
    });
  }
};

} // namespace
} // namespace ml2k
