//===- ConcatParts.cpp - elementwise work on joined tensors goes to their parts -----------------------------------===//
//
// Part of FuseChains. Variables of a column become one row of features, which is normalised before the first layer:
// (concat(t, log(q), p) - mean) / deviation. By parts that is work of the kernels that copy t and p and compute the
// logarithm anyway, each with its columns of the mean; otherwise it is one kernel more over the whole.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/fuse/ConcatParts.h"
#include "passes/schedule/GenericBody.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {
namespace {

/// What is repeated for every part should stay readable, and growth linear: parts are no concatenations themselves.
constexpr size_t mostParts = 8, mostOperations = 64;

/// What has to be copied into the whole by a kernel of its own.
bool isCopied(Value part) {
  while (Operation *op = part.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op))
      return false;
    part = op->getOperand(0);
  }
  return true;
}

/// Work on this part joins the kernel that makes it.
bool isJoined(Value part) {
  Operation *op = part.getDefiningOp();
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return part.hasOneUse() && ((generic && generic.getNumReductionLoops() == 0 && generic->getNumResults() == 1) ||
                              isa_and_nonnull<nest::ContractOp, nest::ConvOp>(op));
}

/// No more kernels than before: all of the work was one, and at most one part gets one of its own.
bool pays(tensor::ConcatOp whole) {
  unsigned apart = 0;
  for (Value part : whole.getInputs()) {
    if (isa_and_nonnull<tensor::ConcatOp, nest::WeightOp>(part.getDefiningOp()) || matchPattern(part, m_Constant()) ||
        cast<ShapedType>(part.getType()).isDynamicDim(whole.getDim()))
      return false;
    apart += !isCopied(part) && !isJoined(part);
  }
  return apart <= 1;
}

/// The operand that is a concatenation which nothing else reads; all loops go along one of its dimensions each.
OpOperand *joinedOperand(linalg::GenericOp op) {
  Block &body = *op.getBody();
  size_t const operations = body.getOperations().size();
  AffineMap const out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op->getNumResults() != 1 || !isPlain(op) || op.getNumReductionLoops() != 0 || operations < 2 ||
      !out.isPermutation() || !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) || llvm::any_of(body, llvm::IsaPred<linalg::IndexOp>))
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto whole = input->get().getDefiningOp<tensor::ConcatOp>();
    if (whole && whole->hasOneUse() && whole->getBlock() == op->getBlock() && whole.getInputs().size() <= mostParts &&
        whole.getInputs().size() * operations <= mostOperations && op.getMatchingIndexingMap(input).isPermutation() &&
        pays(whole))
      return input;
  }
  return nullptr;
}

/// The same work on one part, which begins at `offset` along `loop`.
Value workOn(OpBuilder &builder, linalg::GenericOp op, OpOperand *joined, Value part, unsigned loop, int64_t offset) {
  int64_t const dim = *op.getMatchingIndexingMap(joined).getResultPosition(builder.getAffineDimExpr(loop));
  AffineExpr const place = builder.getAffineDimExpr(loop);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs(op.getInputs());
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != joined)
      maps[input->getOperandNumber()] =
          maps[input->getOperandNumber()].replace(place, place + offset, op.getNumLoops(), 0);
  inputs[joined->getOperandNumber()] = part;
  // Sizes of the whole, but along the loop: who asked the part for them would be one more reader of it
  SmallVector<OpFoldResult> sizes = op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>().getMixedSizes();
  sizes[*maps.back().getResultPosition(place)] = builder.getIndexAttr(cast<ShapedType>(part.getType()).getDimSize(dim));
  Value const init =
      builder.create<tensor::EmptyOp>(op.getLoc(), sizes, cast<ShapedType>(op.getResult(0).getType()).getElementType());
  auto work = builder.create<linalg::GenericOp>(op.getLoc(), TypeRange(init.getType()), inputs, ValueRange{init}, maps,
                                                op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&work.getRegion(), mapping);
  return work.getResult(0);
}

void split(linalg::GenericOp op, OpOperand *joined) {
  auto whole = joined->get().getDefiningOp<tensor::ConcatOp>();
  OpBuilder builder(op);
  AffineExpr const along = op.getMatchingIndexingMap(joined).getResult(whole.getDim());
  unsigned const loop = cast<AffineDimExpr>(along).getPosition();
  SmallVector<Value> parts;
  int64_t offset = 0;
  for (Value part : whole.getInputs()) {
    parts.push_back(workOn(builder, op, joined, part, loop, offset));
    offset += cast<ShapedType>(part.getType()).getDimSize(whole.getDim());
  }
  int64_t const dim = *op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResultPosition(along);
  Value const result =
      builder.create<tensor::ConcatOp>(whole.getLoc(), cast<RankedTensorType>(op.getResult(0).getType()), dim, parts);
  op.getResult(0).replaceAllUsesWith(result);
  op.erase();
  whole.erase();
}

} // namespace

void workOnParts(func::FuncOp function) {
  // In the order of the program, so that a part which was joined itself is seen as that
  SmallVector<linalg::GenericOp> all;
  function.walk([&](linalg::GenericOp op) { all.push_back(op); });
  for (linalg::GenericOp op : all)
    if (OpOperand *joined = op.hasPureTensorSemantics() ? joinedOperand(op) : nullptr)
      split(op, joined);
}

} // namespace ml2k
