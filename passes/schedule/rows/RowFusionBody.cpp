//===- RowFusionBody.cpp - the block of a nest.row ----------------------------------------------------------------===//
//
// Folds come in the order of the group; values per row are computed between them, values along the row inside the
// passes that use them.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/rows/RowFusionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace ml2k;

//===--- Reading --------------------------------------------------------------------------------------------------===//

Value RowEmitter::readRow(RowAccess const &access, RowPass *pass) {
  BlockArgument const row = inputRows.find({access.root, mapOf(access)})->second;
  bool const along = group.variesAlong(access.indices);
  Value &known = along ? pass->reads[row] : scalarReads[row];
  if (!known)
    known = rewriter.create<nest::GetOp>(loc, cast<nest::RowType>(row.getType()).getElementType(), row,
                                         along ? pass->position : Value());
  return known;
}

Value RowEmitter::read(RowMember const &member, OpOperand &operand, RowPass *pass) {
  if (Value uniform = uniformValue(rewriter, operand.get()))
    return uniform;
  RowAccess const access = group.access(member, operand);
  RowMember const *producer = group.find(access.root);
  if (!producer)
    return readRow(access, pass);
  return producer->folds || !producer->varies ? scalars.lookup(access.root) : element(access.root, *pass);
}

Value RowEmitter::position(RowMember const &member, int64_t loop, RowPass *pass) {
  auto const dim = dyn_cast<AffineDimExpr>(member.loops[loop]);
  if (!dim)
    return rewriter.create<arith::ConstantIndexOp>(loc, 0);
  if (dim.getPosition() >= group.rowRank)
    return pass->position;
  return rewriter.create<nest::IndexOp>(loc, rewriter.getIndexType(), *loops->find(dim.getPosition()));
}

BodyCopier RowEmitter::copier(RowMember const &member, RowPass *pass) {
  return BodyCopier(
      rewriter, member.op,
      [this, member, pass](BlockArgument argument) {
        auto op = member.op;
        return read(member, *op.getMatchingOpOperand(argument), pass);
      },
      [this, member, pass](int64_t loop) { return position(member, loop, pass); });
}

/// An element of a member's value at the position of the pass.
Value RowEmitter::element(Value value, RowPass &pass) {
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

//===--- Between the passes ---------------------------------------------------------------------------------------===//

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

void RowEmitter::computeScalars(RowMember const &member) {
  auto op = member.op;
  if (scalars.contains(op->getResult(0)))
    return;
  prepare(member);
  BodyCopier copies = copier(member, nullptr);
  for (OpResult result : op->getResults()) {
    Value const value = copies.copy(yielded(op, result.getResultNumber()));
    scalars[result] = value;
  }
}

void RowEmitter::loopAlong(Region &region, function_ref<void(RowPass &)> body) {
  OpBuilder::InsertionGuard const guard(rewriter);
  Block *block = rewriter.createBlock(&region, {}, {rewriter.getIndexType()}, {loc});
  RowPass pass;
  pass.position = block->getArgument(0);
  body(pass);
}

//===--- Folds ----------------------------------------------------------------------------------------------------===//

Value RowEmitter::foldOver(RowMember const &member, nest::Combiner combiner, StringRef name, Type type,
                           function_ref<Value(RowPass &)> term) {
  auto op = member.op;
  auto fold = rewriter.create<nest::FoldOp>(op->getLoc(), type, combiner, rewriter.getStringAttr(name));
  loopAlong(fold.getBody(), [&](RowPass &pass) {
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
  return isIdentity(combiner, initial) ? folded : combine(rewriter, op->getLoc(), combiner, folded, initial);
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
                             [&](RowPass &pass) { return copier(member, &pass).copy(term); }));
    return;
  }
  for (OpResult result : op->getResults()) {
    auto const reduction = matchReduction(op, result.getResultNumber());
    if (result.use_empty() || !reduction)
      continue;
    Value const folded = foldOver(member, reduction->combiner, nameOf(reduction->combiner), reduction->term.getType(),
                                  [&](RowPass &pass) { return copier(member, &pass).copy(reduction->term); });
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
                                [&](RowPass &pass) { return copier(member, &pass).copy(reduction.term); });
  Value const extreme = joinInitial(member, reduction.extreme, reduction.combiner, folded);
  scalars[op->getResult(reduction.extreme)] = extreme;
  auto const combiner = reduction.first ? nest::Combiner::MinSI : nest::Combiner::MaxSI;
  Type const type = reduction.place.getType();
  Value const nowhere = rewriter.create<arith::ConstantOp>(here, neutralOf(combiner, type));
  Value const place = foldOver(member, combiner, "position", type, [&](RowPass &pass) -> Value {
    BodyCopier copies = copier(member, &pass);
    Value const found = equal(rewriter, here, copies.copy(reduction.term), extreme);
    return rewriter.create<arith::SelectOp>(here, found, copies.copy(reduction.place), nowhere);
  });
  Value const missing = equal(rewriter, here, place, nowhere);
  Value const initial = read(member, *op.getDpsInitOperand(reduction.position), nullptr);
  scalars[op->getResult(reduction.position)] = rewriter.create<arith::SelectOp>(here, missing, initial, place);
}

//===--- Outputs --------------------------------------------------------------------------------------------------===//

/// Keeps a value in a row that later passes read.
void RowEmitter::store(Value value) {
  prepare(*group.find(value));
  auto each = rewriter.create<nest::EachOp>(loc);
  loopAlong(each.getBody(), [&](RowPass &pass) {
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
  loopAlong(each.getBody(), [&](RowPass &pass) {
    SmallVector<Value> const made = llvm::map_to_vector(along, [&](Value output) { return element(output, pass); });
    for (auto [value, output] : llvm::zip(made, along))
      rewriter.create<nest::SetOp>(loc, value, outputRows.lookup(output), pass.position);
    rewriter.create<nest::YieldOp>(loc, ValueRange());
  });
}

//===--- Tidying --------------------------------------------------------------------------------------------------===//

/// What does not depend on the position along the row is computed once per row.
static void hoistInvariants(Block &body) {
  for (Operation &loop : llvm::make_early_inc_range(body)) {
    if (!isa<nest::FoldOp, nest::EachOp>(loop))
      continue;
    for (Operation &inner : llvm::make_early_inc_range(loop.getRegion(0).front().without_terminator())) {
      auto const isOutside = [&](Value operand) { return operand.getParentBlock() != &loop.getRegion(0).front(); };
      if (isPure(&inner) && llvm::all_of(inner.getOperands(), isOutside))
        inner.moveBefore(&loop);
    }
  }
}

/// A row holds the same values in a fold and in later passes.
static bool isSettledBefore(nest::FoldOp fold, Value row) {
  return llvm::all_of(row.getUsers(), [&](Operation *user) {
    Operation *const pass = fold->getBlock()->findAncestorOpInBlock(*user);
    return !isa<nest::SetOp>(user) || (pass && pass->isBeforeInBlock(fold));
  });
}

using EqualTerms = llvm::DenseSet<std::pair<Value, Value>>;

/// A value of a later pass is what a fold computes for the same position. `equal` holds what was compared before: terms
/// share theirs.
static bool isSameTerm(Value later, Value term, Value position, nest::FoldOp fold, EqualTerms &equal) {
  Value const folded = fold.getBody().front().getArgument(0);
  if (later == term || (later == position && term == folded) || !equal.insert({later, term}).second)
    return true;
  Operation *const a = later.getDefiningOp();
  Operation *const b = term.getDefiningOp();
  if (!a || !b || a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getNumOperands() != b->getNumOperands() || a->getNumRegions() != 0 || a->getNumResults() != 1)
    return false;
  if (auto get = dyn_cast<nest::GetOp>(a); get ? !isSettledBefore(fold, get.getRow()) : !isPure(a))
    return false;
  return llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()), [&](auto pair) {
    return isSameTerm(std::get<0>(pair), std::get<1>(pair), position, fold, equal);
  });
}

/// e^(x - largest of all x), the term of a softmax, in a pass along the row.
static bool isSoftmaxTerm(Value value) {
  auto exp = value.getDefiningOp<math::ExpOp>();
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  auto largest = difference ? difference.getRhs().getDefiningOp<nest::FoldOp>() : nest::FoldOp();
  if (!largest || (largest.getCombiner() != nest::Combiner::Max && largest.getCombiner() != nest::Combiner::MaxNum))
    return false;
  Block &pass = *exp->getBlock();
  EqualTerms equal;
  return isa<nest::FoldOp, nest::EachOp>(pass.getParentOp()) &&
         isSameTerm(difference.getLhs(), largest.getBody().front().getTerminator()->getOperand(0), pass.getArgument(0),
                    largest, equal);
}

/// A sum of such terms, at least 1, so that its inverse cannot overflow; they may have been kept in a row.
static bool isSoftmaxTotal(Operation *op) {
  auto fold = dyn_cast_or_null<nest::FoldOp>(op);
  if (!fold || fold.getCombiner() != nest::Combiner::Sum)
    return false;
  Value const term = fold.getRegion().front().getTerminator()->getOperand(0);
  if (isSoftmaxTerm(term))
    return true;
  auto read = term.getDefiningOp<nest::GetOp>();
  return read && llvm::any_of(read.getRow().getUsers(), [&](Operation *user) {
           auto kept = dyn_cast<nest::SetOp>(user);
           Operation *const pass = kept ? kept->getParentOp() : nullptr;
           return pass && pass->getBlock() == fold->getBlock() && pass->isBeforeInBlock(fold) &&
                  isSoftmaxTerm(kept.getValue());
         });
}

/// What a row is divided by for its inverse to do as well: the total of a softmax, or a square root, whose inverse is
/// as good a number as itself unless one of them is 0 and the other infinite. Null for others.
static char const *nameOfInverse(Operation *divisor, Block &row) {
  if (isSoftmaxTotal(divisor))
    return "inverse_total";
  return isa_and_nonnull<math::SqrtOp>(divisor) && divisor->getBlock() == &row ? "inverse_root" : nullptr;
}

/// Divisions along the row by such values multiply by their inverse, computed once: one rounding more.
static void invertDivisors(RewriterBase &rewriter, Block &body) {
  DenseMap<Value, Value> inverses;
  auto const inverse = [&](Value divisor, char const *name) {
    Value &known = inverses[divisor];
    if (known)
      return known;
    rewriter.setInsertionPointAfterValue(divisor);
    Value const one = rewriter.create<arith::ConstantOp>(divisor.getLoc(), rewriter.getFloatAttr(divisor.getType(), 1));
    auto quotient = rewriter.create<arith::DivFOp>(divisor.getLoc(), one, divisor);
    quotient->setAttr("nest.name", rewriter.getStringAttr(name));
    return known = quotient;
  };
  for (auto each : llvm::make_early_inc_range(body.getOps<nest::EachOp>()))
    each.walk([&](arith::DivFOp division) {
      Type const type = division.getType();
      char const *const name = nameOfInverse(division.getRhs().getDefiningOp(), body);
      if (type.isF16() || type.isBF16() || !name)
        return;
      Value const factor = inverse(division.getRhs(), name);
      rewriter.setInsertionPoint(division);
      rewriter.replaceOpWithNewOp<arith::MulFOp>(division, division.getLhs(), factor);
    });
}

/// The terms of a softmax are powers of numbers that are not positive, for which there is a shorter exp.
static void markSoftmaxTerms(Block &body) {
  body.walk([](math::ExpOp exp) {
    if (exp.getType().isF32() && isSoftmaxTerm(exp))
      exp->setAttr("nest.not_positive", UnitAttr::get(exp.getContext()));
  });
}

/// The pass after this one, if it is a fold.
static nest::FoldOp foldAfter(nest::EachOp each) {
  Operation *next = each->getNextNode();
  while (next && isPure(next))
    next = next->getNextNode();
  return dyn_cast_or_null<nest::FoldOp>(next);
}

/// The fold reads what this pass sets, and both touch rows only at their positions.
static bool canJoin(nest::EachOp each, nest::FoldOp fold) {
  auto const branches = [](Operation &op) { return op.getNumRegions() != 0; };
  if (llvm::any_of(each.getBody().front(), branches) || llvm::any_of(fold.getBody().front(), branches))
    return false;
  bool reads = false;
  for (auto set : each.getOps<nest::SetOp>()) {
    Type const type = set.getValue().getType();
    if (!type.isF32() && !type.isF64()) // others are rounded on their way through memory
      return false;
    for (auto get : each.getOps<nest::GetOp>())
      if (get.getRow() == set.getRow())
        return false;
    for (auto get : fold.getOps<nest::GetOp>())
      reads |= get.getRow() == set.getRow();
  }
  Value const position = fold.getBody().front().getArgument(0);
  return reads && llvm::all_of(fold.getOps<nest::GetOp>(),
                               [&](nest::GetOp get) { return !get.getPosition() || get.getPosition() == position; });
}

/// A fold keeps the values itself that the pass before it kept for it: one pass less over the row.
static void joinPasses(RewriterBase &rewriter, Block &body) {
  for (auto each : llvm::make_early_inc_range(body.getOps<nest::EachOp>())) {
    nest::FoldOp fold = foldAfter(each);
    if (!fold || !canJoin(each, fold))
      continue;
    for (auto set : each.getOps<nest::SetOp>())
      for (auto get : llvm::make_early_inc_range(fold.getOps<nest::GetOp>()))
        if (get.getRow() == set.getRow())
          rewriter.replaceOp(get, set.getValue());
    Block &kept = each.getBody().front();
    Block &joined = fold.getBody().front();
    rewriter.eraseOp(kept.getTerminator());
    rewriter.inlineBlockBefore(&kept, &joined, joined.begin(), joined.getArgument(0));
    rewriter.eraseOp(each);
  }
}

/// The sum of squares over the length is a variance, any other sum a mean: names that a reader looks for.
static void nameMeans(Block &body) {
  for (Operation &op : body) {
    auto fold = op.getNumOperands() == 2 ? op.getOperand(0).getDefiningOp<nest::FoldOp>() : nest::FoldOp();
    if (!isa<arith::DivFOp, arith::MulFOp>(op) || !fold || fold.getCombiner() != nest::Combiner::Sum ||
        !matchPattern(op.getOperand(1), m_Constant()))
      continue;
    StringRef const name = fold.getName() == "squares" ? "variance" : "mean";
    op.setAttr("nest.name", StringAttr::get(op.getContext(), name));
  }
}

void RowEmitter::tidy(nest::RowOp row) {
  Block &body = row.getBody().front();
  hoistInvariants(body);
  DominanceInfo dominance(row->getParentOp());
  eliminateCommonSubExpressions(rewriter, dominance, row);
  nameMeans(body);
  OpBuilder::InsertionGuard const guard(rewriter);
  invertDivisors(rewriter, body);
  markSoftmaxTerms(body);
  joinPasses(rewriter, body);
}

void RowEmitter::writeBody() {
  for (RowMember const &member : members)
    if (member.folds)
      fold(member);
  writeOutputs();
}
