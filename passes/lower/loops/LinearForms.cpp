//===- LinearForms.cpp - integers as sums of multiples of other values --------------------------------------------===//

#include "passes/lower/loops/LinearForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ml2k {

bool Linear::add(Linear const &other, int64_t factor) {
  bool fits = true;
  auto const addTo = [&](int64_t &sum, int64_t number) {
    int64_t scaled = 0;
    fits &= !llvm::MulOverflow(number, factor, scaled) && !llvm::AddOverflow(sum, scaled, sum);
  };
  addTo(constant, other.constant);
  for (auto [symbol, coefficient] : other.terms)
    addTo(terms[symbol], coefficient);
  return fits;
}

/// `steps`: how many operations may still be looked at, since sums of sums grow like powers of two.
static Linear formOf(Value value, unsigned &steps) {
  Linear form, symbol;
  symbol.terms[value] = 1;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant = constant.getSExtValue();
    return form;
  }
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0)
    return symbol;
  --steps;
  bool fits = false;
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    fits = form.add(formOf(op->getOperand(0), steps), 1) &&
           form.add(formOf(op->getOperand(1), steps), isa<arith::AddIOp>(op) ? 1 : -1);
  } else if (isa<arith::IndexCastOp>(op)) {
    return formOf(op->getOperand(0), steps);
  } else if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    fits = form.add(formOf(op->getOperand(0), steps), constant.getSExtValue());
  } else if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(0), m_ConstantInt(&constant))) {
    fits = form.add(formOf(op->getOperand(1), steps), constant.getSExtValue());
  }
  return fits ? form : symbol;
}

Linear linearForm(Value value) {
  unsigned steps = 64;
  return formOf(value, steps);
}

Value halved(Value rest) {
  Operation *const op = rest.getDefiningOp();
  auto const isBy = [&](int64_t number) { return getConstantIntValue(op->getOperand(1)) == number; };
  bool const isRest = (isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(op) && isBy(2)) ||
                      (isa_and_nonnull<arith::AndIOp>(op) && isBy(1));
  return isRest ? op->getOperand(0) : Value();
}

bool isWide(Value number) {
  Operation *const op = number.getDefiningOp();
  bool const isRead = isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
                      (isa_and_nonnull<CastOpInterface>(op) && op->getNumOperands() == 1);
  return (number.getType().isIndex() || number.getType().getIntOrFloatBitWidth() >= 32) &&
         (!isRead || llvm::all_of(op->getOperands(), isWide));
}

bool isNeverNegative(Linear const &sum, ValueRange positions, ValueRange lowers) {
  int64_t least = sum.constant;
  for (auto [position, lower] : llvm::zip(positions, lowers)) {
    auto const first = getConstantIntValue(lower);
    if (!first || sum.terms.lookup(position) != 1 || !llvm::isInt<30>(*first))
      return false;
    least += *first;
  }
  return llvm::isInt<30>(sum.constant) && least >= 0;
}

} // namespace ml2k
