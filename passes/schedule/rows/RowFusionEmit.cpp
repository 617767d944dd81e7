//===- RowFusionEmit.cpp - a group of operations as one nest.row --------------------------------------------------===//
//
// Operands over as few row loops as possible, the kernel, and the end of what it replaces.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/rows/RowFusionEmitter.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ml2k;

static Location locationOf(ArrayRef<RowMember> members, MLIRContext *context) {
  SmallVector<Location> parts;
  for (RowMember member : members)
    parts.push_back(member.op->getLoc());
  return FusedLoc::get(context, parts);
}

RowEmitter::RowEmitter(RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan)
    : rewriter(rewriter), group(group), plan(plan), members(group.ordered()), loc(locationOf(members, group.context)) {}

//===--- Operands -------------------------------------------------------------------------------------------------===//

void RowEmitter::addInput(RowMember const &member, OpOperand &operand) {
  if (isUniform(operand.get()))
    return;
  RowAccess const access = group.access(member, operand);
  if (group.find(access.root) || !inputRows.insert({{access.root, mapOf(access)}, BlockArgument()}).second)
    return;
  loops->inputs.push_back({access.root, mapOf(access), nullptr});
}

/// Loops whose position a body asks for keep their place.
void RowEmitter::pinLoops(MutableArrayRef<KernelLoop> all) {
  for (RowMember member : members)
    member.op.getBody()->walk([&](linalg::IndexOp index) {
      if (auto dim = dyn_cast<AffineDimExpr>(member.loops[index.getDim()]))
        all[dim.getPosition()].pinned = true;
    });
}

/// The operands in order, over as few row loops as possible and one loop along the row. False if that is impossible.
bool RowEmitter::collectOperands() {
  SmallVector<KernelLoop> all;
  for (auto [i, extent] : llvm::enumerate(group.extents))
    all.push_back({extent, i < group.rowRank ? 0 : 1});
  pinLoops(all);
  loops.emplace(group.context, all);
  for (RowMember member : members)
    for (OpOperand &operand : member.op->getOpOperands())
      if (reads(member.op, operand))
        addInput(member, operand);
  for (Value output : plan.outputs) {
    auto op = group.find(output)->op;
    Value const destination = freshDestination(rewriter, op.getTiedOpOperand(cast<OpResult>(output))->get());
    loops->outputs.push_back({destination, mapOf(group.resultAccess(cast<OpResult>(output))), output});
  }
  if (!loops->knowsExtents(1))
    return false;
  if (group.alongRank() == 1)
    loops->readThroughSlices();
  else
    loops->joinLoops(rewriter, loc, 0, 0, 1);
  if (group.rowRank > 1)
    loops->joinLoops(rewriter, loc, 0, 0, 0);
  unsigned along = 0;
  for (unsigned i = 0; i < loops->count(); ++i)
    along += loops->loop(i).kind;
  return along == 1;
}

void RowEmitter::addRows(Block &block) {
  auto const add = [&](Value value) {
    Type const element = cast<ShapedType>(value.getType()).getElementType();
    return block.addArgument(nest::RowType::get(group.context, element), value.getLoc());
  };
  for (auto &entry : inputRows)
    entry.second = add(entry.first.first);
  for (Value output : plan.outputs)
    outputRows[output] = add(output);
}

//===--- The kernel -----------------------------------------------------------------------------------------------===//

static void eraseWithReshapes(RewriterBase &rewriter, Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isUnitReshape(user))
      eraseWithReshapes(rewriter, user);
  if (op->use_empty())
    rewriter.eraseOp(op);
}

/// True if somebody in front of the operation, or of the reshape of its result, reads it.
static bool isReadEarlier(Operation *op) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    Operation *const here = op->getBlock()->findAncestorOpInBlock(*user);
    return here && (here->isBeforeInBlock(op) || (isa<tensor::ExpandShapeOp>(here) && isReadEarlier(here)));
  });
}

void RowEmitter::finish(nest::RowOp row) {
  loops->replaceResults(rewriter, row.getResults());
  for (RowMember const &member : llvm::reverse(members))
    eraseWithReshapes(rewriter, member.op);
  if (isReadEarlier(row))
    sortTopologically(row->getBlock());
}

bool RowEmitter::emit() {
  rewriter.setInsertionPoint(group.last());
  if (!collectOperands())
    return false;
  SmallVector<Value> const outputs = loops->outputValues();
  auto row = rewriter.create<nest::RowOp>(loc, ValueRange(outputs).getTypes(), "row", loops->inputValues(),
                                          ValueRange(), outputs, loops->maps(rewriter));
  {
    OpBuilder::InsertionGuard const guard(rewriter);
    addRows(*rewriter.createBlock(&row.getBody()));
    writeBody();
    rewriter.create<nest::YieldOp>(loc, ValueRange());
  }
  tidy(row);
  finish(row);
  return true;
}

bool ml2k::emitRow(RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan) {
  return RowEmitter(rewriter, group, plan).emit();
}
