//===- ChooseRowBlocks.cpp - rows: which result a device's team keeps in registers --------------------------------===//

#include "passes/prepare/ChooseBlocks.h"
#include "translator/ir/RowFolds.h"

using namespace mlir;

namespace ml2k {

using nest::KernelBlock;

/// Devices keep rows of such lengths in registers.
static constexpr int64_t shortestWide = 1025, longestWide = 8192;

/// The loop along the row in which an operation reads or writes an element.
static Operation *passOf(Operation *user) { return user->getParentOp(); }

/// Whether an operation reads or writes an element of `result` in a pass over the row, at the pass' own position.
static bool isOfPass(Operation *user, Block &body) {
  if (!isa<nest::GetOp, nest::SetOp>(user) || !isa<nest::FoldOp, nest::EachOp>(passOf(user)) ||
      passOf(user)->getBlock() != &body)
    return false;
  auto get = dyn_cast<nest::GetOp>(user);
  Value const position = get ? get.getPosition() : cast<nest::SetOp>(user).getPosition();
  return position == passOf(user)->getRegion(0).getArgument(0);
}

/// True if passes write all of the result's elements before they read them, each at its own position, and the last that
/// does anything with them reads before it writes.
static bool canKeep(Value result) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation *user : result.getUsers()) {
    if (!isOfPass(user, *result.getParentBlock()))
      return false;
    first = !first || passOf(user)->isBeforeInBlock(first) ? passOf(user) : first;
    last = !last || last->isBeforeInBlock(passOf(user)) ? passOf(user) : last;
  }
  SmallVector<Operation *> reads, lastWrites;
  for (Operation *user : result.getUsers())
    if (isa<nest::GetOp>(user))
      reads.push_back(user);
    else if (passOf(user) == last)
      lastWrites.push_back(user);
  auto const comesLate = [&](Operation *read) {
    return passOf(read) == last && llvm::any_of(lastWrites, [&](Operation *set) { return set->isBeforeInBlock(read); });
  };
  return !reads.empty() && first != last && !lastWrites.empty() && llvm::none_of(reads, comesLate) &&
         llvm::none_of(reads, [&](Operation *read) { return passOf(read) == first; });
}

/// The operand whose elements stay in registers between the passes over a row.
static std::optional<unsigned> keptOperand(nest::RowOp row) {
  int64_t const length = extentsOf(row).back();
  if (length < shortestWide || length > longestWide)
    return std::nullopt;
  SmallVector<AffineMap> const maps = row.getMaps();
  for (BlockArgument result : row.getBody().front().getArguments().take_back(row.getOutputs().size())) {
    unsigned const number = result.getArgNumber();
    if (cast<nest::RowType>(result.getType()).getElementType().isF32() &&
        liesAlong(row->getOperand(number), maps[number], maps[number].getNumDims() - 1) && canKeep(result))
      return number;
  }
  return std::nullopt;
}

void chooseBlock(nest::RowOp row, Devices devices) {
  std::optional<unsigned> const kept = devices == Devices::Some ? keptOperand(row) : std::nullopt;
  if (kept)
    return nest::setSchedule(row, KernelBlock::ForWideRows, {.kept = *kept});
  SmallVector<int64_t> const extents = extentsOf(row);
  if (foldsInElements(extents.back(), ArrayRef(extents).drop_back()))
    return nest::setSchedule(
        row, KernelBlock::ForEach,
        {.inner = vectorLoop(llvm::to_vector(llvm::seq<unsigned>(0, extents.size() - 1)), extents)});
  bool const isFold = nest::onlyFoldOf(row) && foldsTogether(ArrayRef(extents).drop_back());
  nest::setSchedule(row, isFold ? KernelBlock::FoldRows : KernelBlock::ForRows);
}

} // namespace ml2k
