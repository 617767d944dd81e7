//===- NameSums.cpp - long sums of a loop program as statements ---------------------------------------------------===//
//
// Unrolled loops leave `a + b + c` of long terms: no line holds it, and names for parts of it would say nothing. A
// person writes `total = a; total += b; total += c;`.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/ChooseBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

static constexpr unsigned longTerm = 3, longTotal = 8; ///< things that it names

static bool hasName(Value value) {
  auto const location = dyn_cast<NameLoc>(value.getLoc());
  Operation *const op = value.getDefiningOp();
  auto const [kind, name] = location ? location.getName().getValue().split(" \"") : std::pair<StringRef, StringRef>();
  return op && !name.empty() && kind == op->getName().stripDialect();
}

/// Whether the text of a loop program names it and not all it is computed from: the printer makes it a constant.
static bool hasOwnName(Value value) {
  Operation *const op = value.getDefiningOp();
  return op && hasName(value) && llvm::any_of(op->getOperands(), [](Value operand) {
           return operand.getDefiningOp() && !matchPattern(operand, m_Constant()) && !hasName(operand);
         });
}

/// How many things the expression of a value names.
static unsigned leavesOf(Value value, Block *block, bool isPart = false) {
  Operation *op = value.getDefiningOp();
  bool const isInline = op && op->getBlock() == block && op->hasOneUse() && op->getNumRegions() == 0;
  if (!isInline || !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp>(op))
    return matchPattern(value, m_Constant()) ? 0 : 1;
  unsigned leaves = 0;
  for (Value operand : op->getOperands())
    leaves = std::min(leaves + leavesOf(operand, block, true), longTotal);
  return isPart && leaves >= longTerm && hasOwnName(value) ? 1 : leaves;
}

/// The addition that a sum of long terms goes on from.
static arith::AddFOp firstPart(arith::AddFOp add) {
  auto part = add.getLhs().getDefiningOp<arith::AddFOp>();
  return part && part->hasOneUse() && part->getBlock() == add->getBlock() ? part : arith::AddFOp();
}

static bool hasLongTerm(arith::AddFOp add) { return leavesOf(add.getRhs(), add->getBlock(), true) >= longTerm; }

/// `0 + term` begins with the number, any other sum with its first term.
static void nameSum(arith::AddFOp last) {
  SmallVector<Operation *> parts;
  arith::AddFOp add = last;
  for (; add && hasLongTerm(add); add = firstPart(add))
    parts.push_back(add);
  bool const isFromNumber = add && matchPattern(add.getRhs(), m_Constant());
  if (isFromNumber)
    parts.push_back(add);
  if (parts.size() < 2 || leavesOf(last, last->getBlock()) < longTotal)
    return;
  for (Operation *part : parts)
    part->setAttr("nest.adds", UnitAttr::get(last.getContext()));
}

void nameSums(nest::LoopKernelOp kernel) {
  kernel.walk([](arith::AddFOp add) {
    Operation *const user = add->hasOneUse() ? *add->user_begin() : nullptr;
    auto const next = dyn_cast_or_null<arith::AddFOp>(user);
    bool const isInside = next && firstPart(next) == add && hasLongTerm(next);
    if (!isInside && hasLongTerm(add))
      nameSum(add);
  });
}

} // namespace ml2k
