//===- RowFusionEmit.cpp - a group of operations as one nest.row --------------------------------------------*- C++
//-*-===//
//
// Folds come in the order of the group; values per row are computed between them, values along the row inside the
// passes that use them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/KernelLoops.h"
#include "passes/schedule/RowFusion.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ml2k;

namespace {
/// One loop along the row while its body is written.
struct Pass {
  Value position;
  DenseMap<Value, Value> elements;      ///< of members
  DenseMap<BlockArgument, Value> reads; ///< of rows
  DenseMap<Operation *, std::unique_ptr<BodyCopier>> copiers;
};

class RowEmitter {
public:
  RowEmitter(RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan);

  bool emit();

private:
  bool collectOperands();
  void addInput(RowMember const &member, OpOperand &operand);
  void pinLoops(MutableArrayRef<KernelLoop> loops);
  void addRows(Block &block);
  void writeBody();
  void finish(nest::RowOp row);

  void prepare(RowMember const &member);
  void prepareOperand(RowMember const &member, OpOperand &operand);
  void computeScalars(RowMember const &member);
  void fold(RowMember const &member);
  void foldPosition(RowMember const &member, PositionReduction const &reduction);
  Value foldOver(RowMember const &member, nest::Combiner combiner, StringRef name, Type type,
                 function_ref<Value(Pass &)> term);
  Value joinInitial(RowMember const &member, unsigned result, nest::Combiner combiner, Value folded);
  void store(Value value);
  void writeOutputs();

  void loopAlong(Region &region, function_ref<void(Pass &)> body);
  Value read(RowMember const &member, OpOperand &operand, Pass *pass);
  Value readRow(RowAccess const &access, Pass *pass);
  Value element(Value value, Pass &pass);
  BodyCopier copier(RowMember const &member, Pass *pass);
  Value position(RowMember const &member, int64_t loop, Pass *pass);

  AffineMap mapOf(RowAccess const &access) const {
    return AffineMap::get(group.extents.size(), 0, access.indices, group.context);
  }

  RewriterBase &rewriter;
  RowGroup const &group;
  RowPlan const &plan;
  std::vector<RowMember> const members;
  Location loc;
  std::optional<KernelLoops> loops;
  llvm::MapVector<std::pair<Value, AffineMap>, BlockArgument> inputRows;
  DenseMap<Value, BlockArgument> outputRows;
  DenseMap<Value, Value> scalars; ///< of members
  DenseMap<BlockArgument, Value> scalarReads;
  llvm::DenseSet<Value> stored;
  llvm::DenseSet<Operation *> prepared;
};
} // namespace

static Location locationOf(ArrayRef<RowMember> members, MLIRContext *context) {
  SmallVector<Location> parts;
  for (RowMember member : members)
    parts.push_back(member.op->getLoc());
  return FusedLoc::get(context, parts);
}

RowEmitter::RowEmitter(RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan)
    : rewriter(rewriter), group(group), plan(plan), members(group.ordered()), loc(locationOf(members, group.context)) {}

//===--- Operands
//----------------------------------------------------------------------------------------------------===//

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

//===--- Reading
//-----------------------------------------------------------------------------------------------------===//

Value RowEmitter::readRow(RowAccess const &access, Pass *pass) {
  BlockArgument const row = inputRows.find({access.root, mapOf(access)})->second;
  bool const along = group.variesAlong(access.indices);
  Value &known = along ? pass->reads[row] : scalarReads[row];
  if (!known)
    known = rewriter.create<nest::GetOp>(loc, cast<nest::RowType>(row.getType()).getElementType(), row,
                                         along ? pass->position : Value());
  return known;
}

Value RowEmitter::read(RowMember const &member, OpOperand &operand, Pass *pass) {
  if (Value uniform = uniformValue(rewriter, operand.get()))
    return uniform;
  RowAccess const access = group.access(member, operand);
  RowMember const *producer = group.find(access.root);
  if (!producer)
    return readRow(access, pass);
  return producer->folds || !producer->varies ? scalars.lookup(access.root) : element(access.root, *pass);
}

Value RowEmitter::position(RowMember const &member, int64_t loop, Pass *pass) {
  auto const dim = dyn_cast<AffineDimExpr>(member.loops[loop]);
  if (!dim)
    return rewriter.create<arith::ConstantIndexOp>(loc, 0);
  if (dim.getPosition() >= group.rowRank)
    return pass->position;
  return rewriter.create<nest::IndexOp>(loc, rewriter.getIndexType(), *loops->find(dim.getPosition()));
}

BodyCopier RowEmitter::copier(RowMember const &member, Pass *pass) {
  return BodyCopier(
      rewriter, member.op,
      [this, member, pass](BlockArgument argument) {
        auto op = member.op;
        return read(member, *op.getMatchingOpOperand(argument), pass);
      },
      [this, member, pass](int64_t loop) { return position(member, loop, pass); });
}

/// An element of a member's value at the position of the pass.
Value RowEmitter::element(Value value, Pass &pass) {
  if (Value known = pass.elements.lookup(value))
    return known;
  Value made;
  if (stored.contains(value)) {
    BlockArgument const row = outputRows.lookup(plan.keptIn.lookup(value));
    made = rewriter.create<nest::GetOp>(loc, cast<nest::RowType>(row.getType()).getElementType(), row, pass.position);
  } else {
    RowMember const &member = *group.find(value);
    std::unique_ptr<BodyCopier> &copies = pass.copiers[member.op];
    if (!copies)
      copies = std::make_unique<BodyCopier>(copier(member, &pass));
    BodyCopier &body = *copies;
    made = body.copy(yielded(member.op, cast<OpResult>(value).getResultNumber()));
  }
  pass.elements[value] = made;
  return made;
}

//===--- Between the passes
//------------------------------------------------------------------------------------------===//

/// Values per row that an operand needs stand before the pass that reads it.
void RowEmitter::prepareOperand(RowMember const &member, OpOperand &operand) {
  if (isUniform(operand.get()))
    return;
  RowAccess const access = group.access(member, operand);
  RowMember const *producer = group.find(access.root);
  if (!producer) {
    if (!group.variesAlong(access.indices))
      readRow(access, nullptr);
  } else if (producer->varies && !producer->folds) {
    prepare(*producer);
    if (plan.keptIn.contains(access.root) && !stored.contains(access.root))
      store(access.root);
  } else if (!producer->folds) {
    computeScalars(*producer);
  }
}

void RowEmitter::prepare(RowMember const &member) {
  auto op = member.op;
  if (!prepared.insert(op).second)
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (reads(op, operand) && !(member.folds && op.isDpsInit(&operand)))
      prepareOperand(member, operand);
}

/// What a square divided by the length is: the mean of squares. Names go to the values that a reader looks for.
static void nameMean(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::DivFOp, arith::MulFOp>(op))
    return;
  auto fold = op->getOperand(0).getDefiningOp<nest::FoldOp>();
  if (!fold || fold.getCombiner() != nest::Combiner::Sum || !matchPattern(op->getOperand(1), m_Constant()))
    return;
  StringRef const name = fold.getName() == "squares" ? "variance" : "mean";
  op->setAttr("nest.name", StringAttr::get(op->getContext(), name));
}

void RowEmitter::computeScalars(RowMember const &member) {
  auto op = member.op;
  if (scalars.contains(op->getResult(0)))
    return;
  prepare(member);
  BodyCopier copies = copier(member, nullptr);
  for (OpResult result : op->getResults()) {
    Value const value = copies.copy(yielded(op, result.getResultNumber()));
    nameMean(value);
    scalars[result] = value;
  }
}

void RowEmitter::loopAlong(Region &region, function_ref<void(Pass &)> body) {
  OpBuilder::InsertionGuard const guard(rewriter);
  Block *block = rewriter.createBlock(&region, {}, {rewriter.getIndexType()}, {loc});
  Pass pass;
  pass.position = block->getArgument(0);
  body(pass);
}

//===--- Folds
//-------------------------------------------------------------------------------------------------------===//

Value RowEmitter::foldOver(RowMember const &member, nest::Combiner combiner, StringRef name, Type type,
                           function_ref<Value(Pass &)> term) {
  auto op = member.op;
  auto fold = rewriter.create<nest::FoldOp>(op->getLoc(), type, combiner, rewriter.getStringAttr(name));
  loopAlong(fold.getBody(), [&](Pass &pass) {
    Value const value = term(pass);
    rewriter.create<nest::YieldOp>(op->getLoc(), value);
    Operation *square = value.getDefiningOp();
    if (combiner == nest::Combiner::Sum && isa_and_nonnull<arith::MulFOp>(square) &&
        square->getOperand(0) == square->getOperand(1))
      fold.setName("squares");
  });
  return fold.getResult();
}

static StringRef nameOf(nest::Combiner combiner) {
  using nest::Combiner;
  switch (combiner) {
  case Combiner::Max:
  case Combiner::MaxNum:
  case Combiner::MaxSI:
  case Combiner::MaxUI:
    return "largest";
  case Combiner::Min:
  case Combiner::MinNum:
  case Combiner::MinSI:
  case Combiner::MinUI:
    return "smallest";
  case Combiner::Prod:
    return "product";
  case Combiner::Sum:
    return "total";
  default:
    return "joined";
  }
}

/// The value that the reduction starts with counts once, unless it changes nothing.
Value RowEmitter::joinInitial(RowMember const &member, unsigned result, nest::Combiner combiner, Value folded) {
  auto op = member.op;
  OpOperand &operand = *op.getDpsInitOperand(result);
  Value const initial = read(member, operand, nullptr);
  return isIdentity(combiner, initial) ? folded : join(rewriter, op->getLoc(), combiner, folded, initial);
}

void RowEmitter::fold(RowMember const &member) {
  auto op = member.op;
  prepare(member);
  for (OpOperand &operand : op.getDpsInitsMutable())
    if (reads(op, operand))
      prepareOperand(member, operand);
  if (auto position = matchPosition(op)) {
    if (!op->getResult(position->position).use_empty())
      return foldPosition(member, *position);
    Value const term = position->term;
    scalars[op->getResult(position->extreme)] =
        joinInitial(member, position->extreme, position->combiner,
                    foldOver(member, position->combiner, nameOf(position->combiner), term.getType(),
                             [&](Pass &pass) { return copier(member, &pass).copy(term); }));
    return;
  }
  for (OpResult result : op->getResults()) {
    auto const reduction = matchReduction(op, result.getResultNumber());
    if (result.use_empty() || !reduction)
      continue;
    Value const folded = foldOver(member, reduction->combiner, nameOf(reduction->combiner), reduction->term.getType(),
                                  [&](Pass &pass) { return copier(member, &pass).copy(reduction->term); });
    scalars[result] = joinInitial(member, result.getResultNumber(), reduction->combiner, folded);
  }
}

static Value equal(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return builder.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, a, b);
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, b);
}

/// An arg-max: the largest value, then the first (or last) place that holds it. Where none does (NaN), the initial
/// position stays.
void RowEmitter::foldPosition(RowMember const &member, PositionReduction const &reduction) {
  auto op = member.op;
  Location const here = op->getLoc();
  Value const folded = foldOver(member, reduction.combiner, nameOf(reduction.combiner), reduction.term.getType(),
                                [&](Pass &pass) { return copier(member, &pass).copy(reduction.term); });
  Value const extreme = joinInitial(member, reduction.extreme, reduction.combiner, folded);
  scalars[op->getResult(reduction.extreme)] = extreme;
  auto const combiner = reduction.first ? nest::Combiner::MinSI : nest::Combiner::MaxSI;
  Type const type = reduction.place.getType();
  Value const nowhere = rewriter.create<arith::ConstantOp>(here, identityOf(combiner, type));
  Value const place = foldOver(member, combiner, "position", type, [&](Pass &pass) -> Value {
    BodyCopier copies = copier(member, &pass);
    Value const found = equal(rewriter, here, copies.copy(reduction.term), extreme);
    return rewriter.create<arith::SelectOp>(here, found, copies.copy(reduction.place), nowhere);
  });
  Value const missing = equal(rewriter, here, place, nowhere);
  Value const initial = read(member, *op.getDpsInitOperand(reduction.position), nullptr);
  scalars[op->getResult(reduction.position)] = rewriter.create<arith::SelectOp>(here, missing, initial, place);
}

//===--- Outputs
//-----------------------------------------------------------------------------------------------------===//

/// Keeps a value in a row that later passes read.
void RowEmitter::store(Value value) {
  prepare(*group.find(value));
  auto each = rewriter.create<nest::EachOp>(loc);
  loopAlong(each.getBody(), [&](Pass &pass) {
    Value const made = element(value, pass);
    rewriter.create<nest::SetOp>(loc, made, outputRows.lookup(plan.keptIn.lookup(value)), pass.position);
    rewriter.create<nest::YieldOp>(loc, ValueRange());
  });
  stored.insert(value);
}

void RowEmitter::writeOutputs() {
  SmallVector<Value> along;
  for (Value output : plan.outputs) {
    RowMember const &member = *group.find(output);
    if (member.varies && !member.folds) {
      prepare(member);
      if (!stored.contains(output) || plan.keptIn.lookup(output) != output)
        along.push_back(output);
      continue;
    }
    if (!member.folds)
      computeScalars(member);
    rewriter.create<nest::SetOp>(loc, scalars.lookup(output), outputRows.lookup(output), Value());
  }
  if (along.empty())
    return;
  auto each = rewriter.create<nest::EachOp>(loc);
  loopAlong(each.getBody(), [&](Pass &pass) {
    SmallVector<Value> const made = llvm::map_to_vector(along, [&](Value output) { return element(output, pass); });
    for (auto [value, output] : llvm::zip(made, along))
      rewriter.create<nest::SetOp>(loc, value, outputRows.lookup(output), pass.position);
    rewriter.create<nest::YieldOp>(loc, ValueRange());
  });
}

void RowEmitter::writeBody() {
  for (RowMember const &member : members)
    if (member.folds)
      fold(member);
  writeOutputs();
}

//===--- The kernel
//--------------------------------------------------------------------------------------------------===//

static void eraseWithReshapes(RewriterBase &rewriter, Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isUnitReshape(user))
      eraseWithReshapes(rewriter, user);
  if (op->use_empty())
    rewriter.eraseOp(op);
}

void RowEmitter::finish(nest::RowOp row) {
  loops->replaceResults(rewriter, row.getResults());
  for (RowMember const &member : llvm::reverse(members))
    eraseWithReshapes(rewriter, member.op);
  if (llvm::any_of(row->getBlock()->without_terminator(), [&](Operation &op) {
        return op.isBeforeInBlock(row) && llvm::any_of(op.getOperands(), [&](Value operand) {
                 Operation *def = operand.getDefiningOp();
                 return def && def->getBlock() == op.getBlock() && !def->isBeforeInBlock(&op);
               });
      }))
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
  finish(row);
  return true;
}

bool ml2k::emitRow(RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan) {
  return RowEmitter(rewriter, group, plan).emit();
}
