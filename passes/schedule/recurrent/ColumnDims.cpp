//===- ColumnDims.cpp - dimensions along which the iterations of a loop never meet --------------------------------===//

#include "passes/schedule/recurrent/ColumnDims.h"

#include "passes/schedule/GenericBody.h"
#include "passes/schedule/SameExtent.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

static int64_t rankOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getRank(); }

bool isViewOfTensor(Operation *op) {
  return isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::TransposeOp>(
      op);
}

//===--- Sets -----------------------------------------------------------------------------------------------------===//

/// Each use of a tensor from outside counts by itself: two operations may take its dimensions for different things.
ColumnDims::Key ColumnDims::keyOf(OpOperand &use, unsigned dim) const {
  bool const isInside = loop->isAncestor(use.get().getParentBlock()->getParentOp());
  return {isInside ? use.get().getAsOpaquePointer() : static_cast<void *>(&use), dim};
}

unsigned ColumnDims::number(Key key) {
  auto const [found, isNew] = numbers.try_emplace(key, parents.size());
  if (isNew) {
    parents.push_back(parents.size());
    areFixed.push_back(false);
  }
  return found->second;
}

unsigned ColumnDims::root(unsigned number) const {
  while (parents[number] != number)
    number = parents[number];
  return number;
}

void ColumnDims::join(Key a, Key b) {
  unsigned const first = root(number(a)), second = root(number(b));
  areFixed[first] = areFixed[first] || areFixed[second];
  parents[second] = first;
}

void ColumnDims::fixAll(OpOperand &use) {
  for (int64_t dim = 0; dim < rankOf(use.get()); ++dim)
    fix(keyOf(use, dim));
}

std::optional<unsigned> ColumnDims::column(Key key) const {
  auto const found = numbers.find(key);
  auto const place = found == numbers.end() ? columns.end() : llvm::find(columns, root(found->second));
  return place == columns.end() ? std::nullopt : std::optional<unsigned>(place - columns.begin());
}

std::optional<unsigned> ColumnDims::ofCarried(Value carried, unsigned dim) const {
  return column({carried.getAsOpaquePointer(), dim});
}

std::optional<unsigned> ColumnDims::ofLoop(linalg::GenericOp op, unsigned number) const {
  return column({op.getOperation(), number});
}

//===--- What operations join -------------------------------------------------------------------------------------===//

void ColumnDims::readGeneric(linalg::GenericOp op) {
  auto const keyOfLoop = [&](unsigned loop) { return Key(op.getOperation(), loop); };
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      fix(keyOfLoop(i));
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto position = dyn_cast<AffineDimExpr>(expr))
        join(keyOfLoop(position.getPosition()), keyOf(operand, dim));
      else
        fix(keyOf(operand, dim));
  for (auto [result, init] : llvm::zip(op.getResults(), op.getDpsInitsMutable()))
    for (int64_t dim = 0; dim < rankOf(result); ++dim)
      join({result.getAsOpaquePointer(), dim}, keyOf(init, dim));
}

/// Of the dimensions that become one, it is the one that is not of extent 1.
void ColumnDims::readReshape(Operation *op) {
  OpOperand &source = op->getOpOperand(0);
  Value const result = op->getResult(0);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto const shape = cast<RankedTensorType>((expand ? result : source.get()).getType()).getShape();
  auto const groups =
      expand ? expand.getReassociationIndices() : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  for (auto [joined, group] : llvm::enumerate(groups)) {
    Key const one = expand ? keyOf(source, joined) : Key(result.getAsOpaquePointer(), joined);
    auto const keyOfPart = [&, expand](int64_t dim) {
      return expand ? Key(result.getAsOpaquePointer(), dim) : keyOf(source, dim);
    };
    bool const isUnit = llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) <= 1;
    for (int64_t dim : group)
      if (!isUnit || shape[dim] == 1)
        fix(keyOfPart(dim));
      else
        join(one, keyOfPart(dim));
    if (!isUnit)
      fix(one);
  }
}

/// `part` is dimension 0 of the part.
void ColumnDims::readSlice(OpOperand &whole, OffsetSizeAndStrideOpInterface slice, Key part) {
  auto const shape = cast<RankedTensorType>(whole.get().getType()).getShape();
  llvm::SmallBitVector const dropped = isa<tensor::ExtractSliceOp>(slice)
                                           ? cast<tensor::ExtractSliceOp>(slice).getDroppedDims()
                                           : cast<tensor::InsertSliceOp>(slice).getDroppedDims();
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bool const isWhole = isConstantIntValue(slice.getMixedOffsets()[dim], 0) &&
                         isConstantIntValue(slice.getMixedStrides()[dim], 1) &&
                         traceSize(slice.getMixedSizes()[dim], loop).isSame(traceExtent(whole.get(), dim, loop));
    if (!isWhole || dropped.test(dim))
      fix(keyOf(whole, dim));
    if (dropped.test(dim))
      continue;
    if (isWhole)
      join(keyOf(whole, dim), part);
    else
      fix(part);
    ++part.second;
  }
}

/// False for what is not known here.
bool ColumnDims::read(Operation *op) {
  auto const isTensor = llvm::IsaPred<TensorType>;
  if (llvm::none_of(op->getOperandTypes(), isTensor) && llvm::none_of(op->getResultTypes(), isTensor))
    return op->getNumRegions() == 0 && isPure(op);
  if (isa<tensor::EmptyOp, arith::ConstantOp>(op))
    return true;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (!isPlain(generic) || generic->getNumResults() != 1)
      return false;
    readGeneric(generic);
    return true;
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    for (int64_t dim = 0; dim < rankOf(op->getResult(0)); ++dim)
      join({op->getResult(0).getAsOpaquePointer(), dim}, keyOf(fill.getDpsInitsMutable()[0], dim));
    return true;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
      join({op->getResult(0).getAsOpaquePointer(), dim}, keyOf(op->getOpOperand(0), from));
    return true;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    readReshape(op);
    return true;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    readSlice(slice.getSourceMutable(), slice, {op->getResult(0).getAsOpaquePointer(), 0});
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    for (int64_t dim = 0; dim < rankOf(insert.getDest()); ++dim)
      join(keyOf(insert.getDestMutable(), dim), {op->getResult(0).getAsOpaquePointer(), dim});
    readSlice(insert.getDestMutable(), insert, keyOf(insert.getSourceMutable(), 0));
    return true;
  }
  return false;
}

//===--- Columns --------------------------------------------------------------------------------------------------===//

/// Whether each tensor that is carried and each operation goes along the set once.
bool ColumnDims::isEverywhere(unsigned set) {
  auto const isOnce = [&](void *owner, unsigned count) {
    return llvm::count_if(llvm::seq<unsigned>(0, count), [&](unsigned i) {
             auto const found = numbers.find({owner, i});
             return found != numbers.end() && root(found->second) == set;
           }) == 1;
  };
  return llvm::all_of(loop.getRegionIterArgs(),
                      [&](Value carried) { return isOnce(carried.getAsOpaquePointer(), rankOf(carried)); }) &&
         llvm::all_of(loop.getBody()->getOps<linalg::GenericOp>(),
                      [&](linalg::GenericOp op) { return isOnce(op.getOperation(), op.getNumLoops()); });
}

bool ColumnDims::find() {
  if (loop.getNumResults() == 0 || !llvm::all_of(loop.getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
      !llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) { return read(&op); }))
    return false;
  for (auto [carried, yielded] : llvm::zip(loop.getRegionIterArgs(), *loop.getYieldedValuesMutable()))
    for (int64_t dim = 0; dim < rankOf(carried); ++dim)
      join({carried.getAsOpaquePointer(), dim}, keyOf(yielded, dim));
  Value const first = loop.getRegionIterArg(0);
  auto const shape = cast<RankedTensorType>(first.getType()).getShape();
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    unsigned const set = root(number({first.getAsOpaquePointer(), unsigned(dim)}));
    if (extent != 1 && !areFixed[set] && isEverywhere(set))
      columns.push_back(set);
  }
  return !columns.empty();
}

} // namespace ml2k
