//===- ScalarClamp.cpp - pairs of a minimum and a maximum that clamp ----------------------------------------------===//

#include "translator/emit/scalars/ScalarClamp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

/// The constant second operand.
static std::optional<APFloat> boundOf(Operation *op) {
  FloatAttr bound;
  bool const isConstant = matchPattern(op->getOperand(1), m_Constant(&bound));
  return isConstant ? std::optional(bound.getValue()) : std::nullopt;
}

Operation *firstOfClamp(Operation *op) {
  Operation *const first = isa<arith::MaximumFOp, arith::MinimumFOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  if (!first || !isa<arith::MaximumFOp, arith::MinimumFOp>(first) || first->getName() == op->getName() ||
      !first->getResult(0).hasOneUse() || first->getBlock() != op->getBlock())
    return nullptr;
  std::optional<APFloat> low = boundOf(first), high = boundOf(op);
  if (isa<arith::MaximumFOp>(op))
    std::swap(low, high);
  return low && high && low->compare(*high) != APFloat::cmpGreaterThan && !low->isNaN() && !high->isNaN() ? first
                                                                                                          : nullptr;
}

bool isFirstOfClamp(Operation *op) {
  return op->getResult(0).hasOneUse() && firstOfClamp(*op->getResult(0).getUsers().begin()) == op;
}

} // namespace ml2k
