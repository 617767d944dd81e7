//===- LoopStates.cpp - what a loop carries stays in one place ----------------------------------------------------===//
//
// Bufferization wants a loop to yield the memory that it was given. Kernels of the body get tensors of their own, and
// the new state goes into the carried tensor at the end of the body; copies that need not be disappear later. The
// result of a branch is one tensor that either side writes.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_LOOPSTATES
#include "passes/Passes.h.inc"

namespace {

Value emptyLike(OpBuilder &builder, Location location, Value tensor) {
  return builder.create<tensor::EmptyOp>(location, tensor::getMixedSizes(builder, location, tensor),
                                         cast<RankedTensorType>(tensor.getType()).getElementType());
}

Value insertWhole(OpBuilder &builder, Location location, Value source, Value target) {
  auto const rank = cast<RankedTensorType>(target.getType()).getRank();
  return builder.create<tensor::InsertSliceOp>(
      location, source, target, SmallVector<OpFoldResult>(rank, builder.getIndexAttr(0)),
      tensor::getMixedSizes(builder, location, source), SmallVector<OpFoldResult>(rank, builder.getIndexAttr(1)));
}

/// True if `value` is `carried` with slices or elements written into it, perhaps in loops and branches of the body.
bool isWrittenInPlace(Value value, Value carried) {
  if (value == carried)
    return true;
  Operation *op = value.getDefiningOp();
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return isWrittenInPlace(insert.getDest(), carried);
  if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op))
    return isWrittenInPlace(insert.getDest(), carried);
  auto const number = [&] { return cast<OpResult>(value).getResultNumber(); };
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op))
    return isWrittenInPlace(loop.getInitArgs()[number()], carried);
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op))
    return isWrittenInPlace(branch.thenYield().getOperand(number()), carried) &&
           isWrittenInPlace(branch.elseYield().getOperand(number()), carried);
  return false;
}

/// Kernels that start from a carried tensor overwrite all of it: any memory will do.
void detachKernels(Value carried) {
  for (OpOperand &use : llvm::make_early_inc_range(carried.getUses())) {
    auto kernel = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    if (!kernel || !isa<nest::NestDialect>(use.getOwner()->getDialect()) || isa<nest::RecurrentOp>(use.getOwner()) ||
        !kernel.isDpsInit(&use))
      continue;
    OpBuilder builder(kernel);
    use.set(emptyLike(builder, kernel.getLoc(), carried));
  }
}

void keepStates(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<std::pair<unsigned, Value>> moved;
  OpBuilder builder(yield);
  for (auto [i, carried] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(carried.getType()))
      continue;
    detachKernels(carried);
    Value next = yield->getOperand(i);
    if (next == carried || isWrittenInPlace(next, carried))
      continue;
    // States that change places, and values from outside: through a tensor of the body
    if (next.getParentBlock() != loop.getBody() || isa<BlockArgument>(next))
      next = insertWhole(builder, loop.getLoc(), next, emptyLike(builder, loop.getLoc(), next));
    moved.push_back({i, next});
  }
  for (auto [i, next] : moved)
    yield->setOperand(i, insertWhole(builder, loop.getLoc(), next, loop.getRegionIterArg(i)));
}

/// The sizes of a tensor from values that exist before `op`; nothing if they are computed in it.
std::optional<SmallVector<OpFoldResult>> sizesBefore(Operation *op, Value tensor) {
  auto const type = cast<RankedTensorType>(tensor.getType());
  OpBuilder builder(op);
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  if (tensor.getParentRegion()->isProperAncestor(&op->getRegion(0)) || tensor.getParentBlock() == op->getBlock())
    return tensor::getMixedSizes(builder, op->getLoc(), tensor);
  Operation *maker = tensor.getDefiningOp();
  if (auto kernel = dyn_cast_or_null<DestinationStyleOpInterface>(maker))
    return sizesBefore(op, kernel.getTiedOpOperand(cast<OpResult>(tensor))->get());
  auto empty = dyn_cast_or_null<tensor::EmptyOp>(maker);
  auto const isBefore = [&](Value size) { return !op->isAncestor(size.getParentRegion()->getParentOp()); };
  if (!empty || !llvm::all_of(empty.getDynamicSizes(), isBefore))
    return std::nullopt;
  return empty.getMixedSizes();
}

/// One side writes into a tensor that holds nothing or a fill and that the other leaves alone: it stays one piece of
/// memory. Of a tensor.empty or what fills it every user would get one of its own.
void keepTogether(Value start) {
  auto fill = start.getDefiningOp<nest::MapOp>();
  if (fill && fill.getInputs().empty() && fill.getOutputs().size() == 1)
    start = fill.getOutputs()[0];
  auto op = start.getDefiningOp<tensor::EmptyOp>();
  if (!op)
    return;
  OpBuilder builder(op);
  op.replaceAllUsesWith(
      builder.create<bufferization::AllocTensorOp>(op.getLoc(), op.getType(), op.getDynamicSizes()).getResult());
}

/// Both sides of a branch write one tensor, which is there before.
void joinBranch(scf::IfOp branch) {
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    if (!isa<RankedTensorType>(branch.getResult(i).getType()))
      continue;
    Value const yes = branch.thenYield().getOperand(i), no = branch.elseYield().getOperand(i);
    std::optional<SmallVector<OpFoldResult>> sizes = sizesBefore(branch, yes);
    if (!sizes)
      sizes = sizesBefore(branch, no);
    if (isWrittenInPlace(yes, no) || isWrittenInPlace(no, yes)) {
      keepTogether(yes);
      keepTogether(no);
      continue;
    }
    if (!sizes)
      continue;
    auto const type = cast<RankedTensorType>(yes.getType());
    OpBuilder builder(branch);
    SmallVector<Value> dynamic;
    for (OpFoldResult size : *sizes)
      if (auto value = dyn_cast<Value>(size))
        dynamic.push_back(value);
    // Not tensor.empty, which every user gets one of its own of
    Value const whole = builder.create<bufferization::AllocTensorOp>(branch.getLoc(), type, dynamic);
    for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
      OpBuilder inside(yield);
      yield.setOperand(i, insertWhole(inside, branch.getLoc(), yield.getOperand(i), whole));
    }
  }
}

struct LoopStates : impl::LoopStatesBase<LoopStates> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) { keepStates(loop); });
    getOperation().walk([](scf::IfOp branch) {
      if (!branch->getParentOfType<DestinationStyleOpInterface>() && branch.getNumResults() > 0)
        joinBranch(branch);
    });
  }
};

} // namespace
} // namespace ml2k
