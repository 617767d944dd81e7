//===- ConcatInPlace.cpp - concatenations become slices of one tensor ---------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CONCATINPLACE
#include "passes/Passes.h.inc"

namespace {

//===--- Concatenations that contain each other -------------------------------------------------------------------===//

/// Where the inputs of `part` stand next to each other among those of `whole`.
std::optional<unsigned> findInputs(tensor::ConcatOp part, tensor::ConcatOp whole) {
  auto const few = part.getInputs(), many = whole.getInputs();
  for (unsigned i = 0; i + few.size() <= many.size(); ++i)
    if (ValueRange(many.slice(i, few.size())) == ValueRange(few))
      return i;
  return std::nullopt;
}

/// Replaces neighbouring inputs of `whole` by a concatenation of just these; false if there is none.
bool takeWhole(tensor::ConcatOp whole, ArrayRef<tensor::ConcatOp> earlier, DominanceInfo &dominance) {
  for (tensor::ConcatOp part : llvm::reverse(earlier)) {
    auto const at = findInputs(part, whole);
    if (!at || part.getDim() != whole.getDim() || part.getInputs().size() == whole.getInputs().size() ||
        !dominance.properlyDominates(part.getOperation(), whole))
      continue;
    SmallVector<Value> inputs(whole.getInputs());
    inputs.erase(inputs.begin() + *at, inputs.begin() + *at + part.getInputs().size());
    inputs.insert(inputs.begin() + *at, part.getResult());
    whole.getInputsMutable().assign(inputs);
    return true;
  }
  return false;
}

/// Dense blocks concatenate everything so far again and again: concat(a, b, c) becomes concat(concat(a, b), c), and the
/// inner one later is a slice of the outer one.
void nest(func::FuncOp function) {
  DominanceInfo dominance(function);
  SmallVector<tensor::ConcatOp> earlier;
  function.walk([&](tensor::ConcatOp whole) {
    while (takeWhole(whole, earlier, dominance))
      ; // concat(a, b) first, then concat(concat(a, b), c)
    earlier.push_back(whole);
  });
}

//===--- Slices ---------------------------------------------------------------------------------------------------===//

OpFoldResult sum(OpBuilder &builder, Location location, OpFoldResult a, OpFoldResult b) {
  auto const x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x + *y);
  Value const left = getValueOrCreateConstantIndexOp(builder, location, a);
  Value const right = getValueOrCreateConstantIndexOp(builder, location, b);
  return builder.create<arith::AddIOp>(location, left, right).getResult();
}

void toSlices(tensor::ConcatOp concat) {
  OpBuilder builder(concat);
  Location const location = concat.getLoc();
  auto const type = cast<RankedTensorType>(concat.getResult().getType());
  unsigned const axis = concat.getDim();
  SmallVector<SmallVector<OpFoldResult>> sizes;
  OpFoldResult end = builder.getIndexAttr(0);
  for (Value input : concat.getInputs()) {
    sizes.push_back(tensor::getMixedSizes(builder, location, input));
    end = sum(builder, location, end, sizes.back()[axis]);
  }
  SmallVector<OpFoldResult> extents = sizes.front();
  extents[axis] = end;
  Value whole = builder.create<tensor::EmptyOp>(location, extents, type.getElementType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> const strides(type.getRank(), builder.getIndexAttr(1));
  for (auto [input, size] : llvm::zip(concat.getInputs(), sizes)) {
    whole = builder.create<tensor::InsertSliceOp>(location, input, whole, offsets, size, strides);
    offsets[axis] = sum(builder, location, offsets[axis], size[axis]);
  }
  if (whole.getType() != type)
    whole = builder.create<tensor::CastOp>(location, type, whole);
  concat.replaceAllUsesWith(whole);
  concat.erase();
}

struct ConcatInPlace : impl::ConcatInPlaceBase<ConcatInPlace> {
  void runOnOperation() override {
    nest(getOperation());
    getOperation().walk([](tensor::ConcatOp concat) { toSlices(concat); });
  }
};

} // namespace
} // namespace ml2k
