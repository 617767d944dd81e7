//===- RowFusionGroup.cpp - which operations share a row space ----------------------------------------------------===//
//
// The loops of a candidate are tied to those of the row space by the values that it shares with the group: both address
// the same element. What stays open afterwards can only be the loops along the row.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/rows/RowFusion.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ml2k;

//===--- Shape of a member ----------------------------------------------------------------------------------------===//

static bool isReduction(linalg::GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
}

/// Every result that is used can be written as folds.
static bool foldsMatch(linalg::GenericOp op) {
  if (matchPosition(op))
    return true;
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    return result.use_empty() || matchReduction(op, result.getResultNumber());
  });
}

static Indices identityLoops(linalg::GenericOp op) {
  Indices loops;
  for (unsigned i = 0; i < op.getNumLoops(); ++i)
    loops.push_back(getAffineDimExpr(i, op.getContext()));
  return loops;
}

std::optional<RowGroup> RowGroup::start(linalg::GenericOp op) {
  if (!isPlain(op) || op.getNumReductionLoops() == 0 || op.getNumDpsInputs() == 0 || !foldsMatch(op))
    return std::nullopt;
  RowGroup group;
  group.context = op.getContext();
  group.anyOrder = matchPosition(op).has_value();
  Indices loops(op.getNumLoops(), getAffineConstantExpr(0, group.context));
  SmallVector<int64_t> const ranges = op.getStaticLoopRanges();
  for (bool const reduced : {false, true}) {
    for (auto [loop, extent] : llvm::enumerate(ranges))
      if (isReduction(op, loop) == reduced && extent != 1) {
        loops[loop] = getAffineDimExpr(group.extents.size(), group.context);
        group.extents.push_back(extent);
      }
    if (!reduced)
      group.rowRank = group.extents.size();
  }
  RowMember member{op, loops, true, true};
  if (group.alongRank() == 0 || !group.fitsRows(member) || !group.fitsOperands(member))
    return std::nullopt;
  group.members.insert({op, member});
  return group;
}

bool RowGroup::isForAllThreads() const {
  constexpr int64_t enough = 1 << 16; // elements that one thread reads in the time of some launches
  int64_t length = 1;
  for (int64_t extent : extents)
    length = ShapedType::isDynamic(extent) ? enough : std::min(enough, length * std::min(enough, extent));
  if (anyOrder || rowRank != 0 || length < enough)
    return false;
  // A softmax would store its exponentials, or compute them again
  for (auto const &[op, member] : members)
    for (OpResult result : op->getResults())
      if (isExpensive(cast<linalg::GenericOp>(op)) && variesAlong(resultAccess(result).indices) &&
          !innerUses(result).empty())
        return false;
  // Of a length that is not known, what else happens along the row could well be worth one kernel
  return llvm::none_of(extents, ShapedType::isDynamic) || llvm::all_of(members, [&](auto const &entry) {
           return llvm::all_of(entry.first->getResults(), [&](OpResult result) {
             return !usedOutside(result) || !variesAlong(resultAccess(result).indices);
           });
         });
}

//===--- Values of the group --------------------------------------------------------------------------------------===//

RowMember const *RowGroup::find(Value root) const {
  auto const *found = members.find(root.getDefiningOp());
  return found == members.end() ? nullptr : &found->second;
}

RowAccess RowGroup::access(RowMember const &member, OpOperand &operand) const {
  auto op = member.op;
  auto const type = dyn_cast<ShapedType>(operand.get().getType());
  if (!type)
    return {operand.get(), {}};
  Indices indices = indicesOf(op.getMatchingIndexingMap(&operand), type, member.loops);
  Value const root = throughUnitReshapes(operand.get(), indices);
  return {root, indices};
}

RowAccess RowGroup::resultAccess(OpResult result) const {
  RowMember const &member = *find(result);
  auto op = member.op;
  AffineMap const map = op.getIndexingMapMatchingResult(result);
  return {result, indicesOf(map, cast<ShapedType>(result.getType()), member.loops)};
}

bool RowGroup::variesAlong(ArrayRef<AffineExpr> indices) const {
  return llvm::any_of(indices, [&](AffineExpr expr) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    return dim && dim.getPosition() >= rowRank;
  });
}

void RowGroup::collectUses(Value value, SmallVectorImpl<OpOperand *> &uses) const {
  for (OpOperand &use : value.getUses()) {
    if (isUnitReshape(use.getOwner()) && !use.getOwner()->use_empty())
      collectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
  }
}

SmallVector<OpOperand *> RowGroup::innerUses(Value value) const {
  SmallVector<OpOperand *> uses;
  collectUses(value, uses);
  llvm::erase_if(uses, [&](OpOperand *use) { return !members.contains(use->getOwner()); });
  return uses;
}

bool RowGroup::usedOutside(Value value) const {
  SmallVector<OpOperand *> uses;
  collectUses(value, uses);
  return llvm::any_of(uses, [&](OpOperand *use) { return !members.contains(use->getOwner()); });
}

std::vector<RowMember> RowGroup::ordered() const {
  std::vector<RowMember> all;
  for (auto const &entry : members)
    all.push_back(entry.second);
  llvm::sort(all, [](RowMember const &a, RowMember const &b) {
    return const_cast<RowMember &>(a).op->isBeforeInBlock(const_cast<RowMember &>(b).op);
  });
  return all;
}

Operation *RowGroup::last() const { return ordered().back().op; }

//===--- Tying loops ----------------------------------------------------------------------------------------------===//

/// The element at `own`, over the loops of the candidate, is the one at `known`: ties the loops. False on a
/// contradiction.
static bool tie(ArrayRef<AffineExpr> own, ArrayRef<AffineExpr> known, Indices &loops) {
  if (own.size() != known.size())
    return false;
  for (auto [a, b] : llvm::zip(own, known)) {
    auto const dim = dyn_cast<AffineDimExpr>(a);
    if (!dim && a != b)
      return false;
    if (!dim)
      continue;
    AffineExpr &loop = loops[dim.getPosition()];
    if (loop && loop != b)
      return false;
    loop = b;
  }
  return true;
}

bool RowGroup::solveOperands(linalg::GenericOp op, Indices &loops) const {
  for (OpOperand &operand : op->getOpOperands()) {
    auto const type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type || (op.isDpsInit(&operand) && !reads(op, operand)))
      continue;
    Indices own = indicesOf(op.getMatchingIndexingMap(&operand), type, identityLoops(op));
    Value const root = throughUnitReshapes(operand.get(), own);
    if (find(root) && !tie(own, resultAccess(cast<OpResult>(root)).indices, loops))
      return false;
  }
  return true;
}

bool RowGroup::solveResults(linalg::GenericOp op, Indices &loops) const {
  for (OpResult result : op->getResults()) {
    Indices const own =
        indicesOf(op.getIndexingMapMatchingResult(result), cast<ShapedType>(result.getType()), identityLoops(op));
    for (OpOperand *use : innerUses(result))
      if (!tie(own, access(members.find(use->getOwner())->second, *use).indices, loops))
        return false;
  }
  return true;
}

/// Whether a loop has as many iterations as one of the row space, where that is known at run time only: a member goes
/// through the same dimension of the same tensor.
bool RowGroup::isAsLong(linalg::GenericOp op, unsigned loop, unsigned place) const {
  auto const goesAlong = [&](RowMember const &member, OpOperand &operand, unsigned dim) {
    AffineExpr const expr = linalg::GenericOp(member.op).getMatchingIndexingMap(&operand).getResult(dim);
    auto const known = dyn_cast<AffineDimExpr>(expr);
    return known && member.loops[known.getPosition()] == getAffineDimExpr(place, context);
  };
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> const dim =
        op.getMatchingIndexingMap(&operand).getResultPosition(getAffineDimExpr(loop, context));
    if (!dim)
      continue;
    for (auto const &entry : members)
      for (OpOperand &other : RowMember(entry.second).op->getOpOperands())
        if (other.get() == operand.get() && goesAlong(entry.second, other, *dim))
          return true;
  }
  return false;
}

/// Loops that no shared value ties run along the row, in order.
bool RowGroup::assignRest(linalg::GenericOp op, Indices &loops) const {
  SmallVector<int64_t> const ranges = op.getStaticLoopRanges();
  unsigned next = rowRank;
  for (auto [loop, extent] : llvm::enumerate(ranges)) {
    if (loops[loop])
      continue;
    if (next == extents.size() || extent != extents[next] ||
        (ShapedType::isDynamic(extent) && !isAsLong(op, loop, next)))
      return false;
    loops[loop] = getAffineDimExpr(next++, context);
  }
  return true;
}

bool RowGroup::solve(linalg::GenericOp op, RowMember &member) const {
  Indices loops(op.getNumLoops());
  SmallVector<int64_t> const ranges = op.getStaticLoopRanges();
  for (auto [loop, extent] : llvm::enumerate(ranges))
    if (extent == 1)
      loops[loop] = getAffineConstantExpr(0, context);
  member.op = op;
  if (!solveResults(op, loops) || !solveOperands(op, loops) || !assignRest(op, loops))
    return false;
  member.loops = loops;
  return true;
}

//===--- What fits ------------------------------------------------------------------------------------------------===//

/// Loops of the candidate are distinct loops of the row space, all of the rows; along the row all of them or none, and
/// what it reduces is exactly these.
bool RowGroup::fitsRows(RowMember &member) const {
  auto op = member.op;
  SmallVector<bool> covered(extents.size(), false);
  SmallVector<int64_t> const ranges = op.getStaticLoopRanges();
  for (auto [loop, expr] : llvm::enumerate(member.loops)) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && ranges[loop] != 1)
      return false;
    if (!dim)
      continue;
    unsigned const place = dim.getPosition();
    if (covered[place] || ranges[loop] != extents[place] || (isReduction(op, loop) && place < rowRank))
      return false;
    if (op.getNumReductionLoops() != 0 && !isReduction(op, loop) && place >= rowRank)
      return false;
    covered[place] = true;
  }
  ArrayRef<bool> const along = ArrayRef(covered).drop_front(rowRank);
  member.folds = op.getNumReductionLoops() != 0;
  member.varies = llvm::all_of(along, [](bool c) { return c; });
  bool const none = llvm::none_of(along, [](bool c) { return c; });
  if (!llvm::all_of(ArrayRef(covered).take_front(rowRank), [](bool c) { return c; }))
    return false;
  return member.folds ? member.varies : member.varies || none;
}

/// The loops along the row are the last of the operand.
bool RowGroup::isInnermost(ShapedType type, ArrayRef<AffineExpr> indices) const {
  SmallVector<AffineExpr> real;
  for (auto [expr, extent] : llvm::zip(indices, type.getShape()))
    if (extent != 1)
      real.push_back(expr);
  if (!variesAlong(real))
    return true;
  if (anyOrder && alongRank() == 1)
    return true;
  if (real.size() < alongRank() || variesAlong(ArrayRef(real).drop_back(alongRank())))
    return false;
  for (unsigned i = 0; i < alongRank(); ++i)
    if (real[real.size() - alongRank() + i] != getAffineDimExpr(rowRank + i, context))
      return false;
  return true;
}

bool RowGroup::fitsOperands(RowMember const &member) const {
  auto op = member.op;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()) || isUniform(operand.get()))
      continue;
    RowAccess const read = access(member, operand);
    if (!isInnermost(cast<ShapedType>(read.root.getType()), read.indices))
      return false;
  }
  return !op.getBody()
              ->walk([&](linalg::IndexOp index) {
                auto const dim = dyn_cast<AffineDimExpr>(member.loops[index.getDim()]);
                return dim && dim.getPosition() >= rowRank && alongRank() != 1 ? WalkResult::interrupt()
                                                                               : WalkResult::advance();
              })
              .wasInterrupted();
}

/// A producer moves into the rows if nothing is computed more often than before, and cheap to repeat unless used once.
bool RowGroup::fitsProducer(RowMember const &member) const {
  auto op = member.op;
  for (OpOperand &operand : op->getOpOperands())
    if (find(access(member, operand).root))
      return true;
  if (member.folds)
    return true;
  return !isExpensive(op) || (op->getNumResults() == 1 && op->getResult(0).hasOneUse());
}

/// No path leaves the group and comes back.
bool RowGroup::isConvex() const {
  Operation *const end = last();
  SmallVector<Operation *> work;
  llvm::SmallPtrSet<Operation *, 32> seen;
  auto const visit = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (Operation *here = end->getBlock()->findAncestorOpInBlock(*user); here && seen.insert(here).second)
        work.push_back(here);
  };
  auto const visitOutside = [&](Value value) {
    SmallVector<OpOperand *> uses;
    collectUses(value, uses);
    for (OpOperand *use : uses) {
      Operation *here = end->getBlock()->findAncestorOpInBlock(*use->getOwner());
      if (here && !members.contains(use->getOwner()) && seen.insert(here).second)
        work.push_back(here);
    }
  };
  for (auto const &entry : members)
    for (Value result : entry.first->getResults())
      visitOutside(result);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (members.contains(op))
      return false;
    if (!end->isBeforeInBlock(op))
      for (Value result : op->getResults())
        visit(result);
  }
  return true;
}

//===--- Growth ---------------------------------------------------------------------------------------------------===//

/// More operations than any norm or attention has; a longer chain becomes several kernels.
static constexpr size_t mostMembers = 64;

bool RowGroup::add(linalg::GenericOp op) {
  if (!op || members.size() == mostMembers || members.contains(op) ||
      op->getBlock() != members.front().first->getBlock() || !isPlain(op))
    return false;
  if (op.getNumReductionLoops() != 0 && !foldsMatch(op))
    return false;
  RowMember member{op, {}, false, false};
  if (!solve(op, member) || !fitsRows(member) || !fitsOperands(member) || !fitsProducer(member))
    return false;
  members.insert({op, member});
  if (isConvex())
    return true;
  members.erase(op);
  return false;
}

void RowGroup::grow() {
  bool grown = true;
  while (grown) {
    grown = false;
    SmallVector<Operation *> const now = llvm::map_to_vector(members, [](auto &entry) { return entry.first; });
    for (Operation *op : now) {
      RowMember const member = members.find(op)->second;
      SmallVector<OpOperand *> uses;
      for (Value result : op->getResults())
        collectUses(result, uses);
      for (OpOperand *use : uses)
        grown |= add(dyn_cast<linalg::GenericOp>(use->getOwner()));
      for (OpOperand &operand : op->getOpOperands())
        grown |= add(access(member, operand).root.getDefiningOp<linalg::GenericOp>());
    }
  }
}
