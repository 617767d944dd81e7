//===- SameExtent.cpp - whether tensors are as large, where run time tells ----------------------------------------===//

#include "passes/schedule/SameExtent.h"

#include "translator/ir/Sizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace ml2k {

/// Operations that a search looks through: time must not grow with the square of the program.
static constexpr unsigned farthest = 64;

static bool isDynamic(Value tensor, unsigned dim) { return cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim); }

/// The size that an operation gives a dimension of its result; null where it gives none.
static OpFoldResult givenSize(Operation *op, unsigned dim) {
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[dim];
  Builder builder(op->getContext());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder)[dim];
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice)
    return {};
  llvm::SmallBitVector const dropped = slice.getDroppedDims();
  for (unsigned d = 0, kept = 0; d < dropped.size(); ++d)
    if (!dropped[d] && kept++ == dim)
      return slice.getMixedSizes()[d];
  return {};
}

/// The only dimension of a group that is not 1, which the group as one is; nothing where there are several.
static std::optional<unsigned> onlyDim(tensor::CollapseShapeOp collapse, unsigned dim) {
  std::optional<unsigned> found;
  ReassociationIndices const group = collapse.getReassociationIndices()[dim];
  for (int64_t d : group)
    if (collapse.getSrcType().getDimSize(d) != 1 && std::exchange(found, unsigned(d)))
      return std::nullopt;
  return found;
}

/// Another tensor with this extent, in the dimension that `dim` becomes; null where there is none.
static Value alike(Value tensor, unsigned &dim, scf::ForOp loop) {
  if (auto const carried = dyn_cast<BlockArgument>(tensor))
    return loop && carried.getOwner() == loop.getBody() ? loop.getTiedLoopInit(carried)->get() : Value();
  Operation *op = tensor.getDefiningOp();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDest();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return cast.getSource();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    std::optional<unsigned> const only = onlyDim(collapse, dim);
    dim = only.value_or(dim);
    return only ? Value(collapse.getSrc()) : Value();
  }
  auto kernel = dyn_cast<DestinationStyleOpInterface>(op);
  return kernel ? kernel.getTiedOpOperand(cast<OpResult>(tensor))->get() : Value();
}

TracedExtent traceSize(OpFoldResult size, scf::ForOp loop) {
  if (std::optional<int64_t> const number = getConstantIntValue(size))
    return {Value(), 0, *number};
  auto const value = cast<Value>(size);
  auto dim = value.getDefiningOp<tensor::DimOp>();
  return dim && dim.getConstantIndex() ? traceExtent(dim.getSource(), *dim.getConstantIndex(), loop)
                                       : TracedExtent{value};
}

TracedExtent traceExtent(Value tensor, unsigned dim, scf::ForOp loop) {
  for (unsigned steps = 0; steps < farthest; ++steps) {
    if (!isDynamic(tensor, dim))
      return {Value(), 0, cast<RankedTensorType>(tensor.getType()).getDimSize(dim)};
    Operation *op = tensor.getDefiningOp();
    OpFoldResult const given = op ? givenSize(op, dim) : OpFoldResult();
    if (std::optional<int64_t> const number = given ? getConstantIntValue(given) : std::nullopt)
      return {Value(), 0, *number};
    auto const size = dyn_cast_if_present<Value>(given);
    auto asked = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    if (size && !(asked && asked.getConstantIndex()))
      return {size};
    if (asked) {
      tensor = asked.getSource();
      dim = unsigned(*asked.getConstantIndex());
      continue;
    }
    Value const next = alike(tensor, dim, loop);
    if (!next)
      return {tensor, dim};
    tensor = next;
  }
  return {};
}

/// What the model calls the extent of an argument; empty for anything else.
static StringRef nameOf(TracedExtent const &extent) {
  auto const argument = dyn_cast_if_present<BlockArgument>(extent.value);
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return entry && isa<RankedTensorType>(argument.getType()) ? nameOfExtent(entry, argument, extent.dim) : StringRef();
}

bool TracedExtent::isSame(TracedExtent const &other) const {
  if (!value || !other.value)
    return !value && !other.value && number == other.number && !ShapedType::isDynamic(number);
  if (value == other.value && dim == other.dim)
    return true;
  StringRef const name = nameOf(*this);
  return !name.empty() && name == nameOf(other);
}

} // namespace ml2k
