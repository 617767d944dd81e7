//===- ScalarForms.cpp - switches and integers of twice the width -------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace {

//===--- Switches -------------------------------------------------------------------------------------------------===//

/// The region of one case, or of the default, behind `builder`; its results.
SmallVector<Value> inlineCase(OpBuilder &builder, Region &region) {
  IRMapping values;
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, values);
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             [&](Value value) { return values.lookupOrDefault(value); });
}

/// The cases from `place` on, as branches in each other.
SmallVector<Value> branchesFrom(OpBuilder &builder, scf::IndexSwitchOp op, unsigned place) {
  if (place == op.getCases().size())
    return inlineCase(builder, op.getDefaultRegion());
  Location const loc = op.getLoc();
  Value const wanted = builder.create<arith::ConstantIndexOp>(loc, op.getCases()[place]);
  Value const isIt = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, op.getArg(), wanted);
  auto branch = builder.create<scf::IfOp>(
      loc, isIt,
      [&](OpBuilder &inside, Location) {
        inside.create<scf::YieldOp>(loc, inlineCase(inside, op.getCaseRegions()[place]));
      },
      [&](OpBuilder &inside, Location) { inside.create<scf::YieldOp>(loc, branchesFrom(inside, op, place + 1)); });
  return llvm::to_vector_of<Value>(branch.getResults());
}

void lowerSwitch(scf::IndexSwitchOp op) {
  OpBuilder builder(op);
  op->replaceAllUsesWith(branchesFrom(builder, op, 0));
  op->erase();
}

//===--- Integers -------------------------------------------------------------------------------------------------===//

/// Arithmetic on integers of one type.
struct Integers {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value constant(int64_t value) const {
    return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, value));
  }
  template <class Op> Value make(Value a, Value b) const { return builder.create<Op>(loc, a, b); }
};

/// The high half of an unsigned 64-bit product, from products of its 32-bit halves.
Value highOfUnsigned(Integers const &i64, Value a, Value b) {
  using namespace arith;
  Value const mask = i64.constant(0xFFFFFFFF), shift = i64.constant(32);
  auto const low = [&](Value v) { return i64.make<AndIOp>(v, mask); };
  auto const high = [&](Value v) { return i64.make<ShRUIOp>(v, shift); };
  Value const lowest = i64.make<MulIOp>(low(a), low(b));
  Value const cross = i64.make<AddIOp>(i64.make<MulIOp>(high(a), low(b)), high(lowest));
  Value const other = i64.make<AddIOp>(i64.make<MulIOp>(low(a), high(b)), low(cross));
  return i64.make<AddIOp>(i64.make<AddIOp>(i64.make<MulIOp>(high(a), high(b)), high(cross)), high(other));
}

/// The high half of a 64-bit product; for signed factors the other one is subtracted for each that is negative.
Value highOf64(Integers const &i64, Value a, Value b, bool isSigned) {
  Value const high = highOfUnsigned(i64, a, b);
  if (!isSigned)
    return high;
  Value const last = i64.constant(63);
  auto const ifNegative = [&](Value sign, Value value) {
    return i64.make<arith::AndIOp>(i64.make<arith::ShRSIOp>(sign, last), value);
  };
  return i64.make<arith::SubIOp>(i64.make<arith::SubIOp>(high, ifNegative(a, b)), ifNegative(b, a));
}

/// The high half of a product of up to 32 bits: through 64.
template <class Extend> Value highOfNarrow(OpBuilder &builder, Operation *op) {
  Location const loc = op->getLoc();
  Type const narrow = op->getResult(0).getType();
  Integers const wide{builder, loc, builder.getI64Type()};
  Value const a = builder.create<Extend>(loc, wide.type, op->getOperand(0));
  Value const b = builder.create<Extend>(loc, wide.type, op->getOperand(1));
  Value high = wide.make<arith::MulIOp>(a, b);
  // In two steps: of one shift by the width the canonicalizer makes the extended product again
  unsigned const width = narrow.getIntOrFloatBitWidth(), half = width / 2;
  for (unsigned const step : {half, width - half}) {
    bool const isSigned = std::is_same_v<Extend, arith::ExtSIOp>;
    Value const shift = wide.constant(step);
    high = isSigned ? wide.make<arith::ShRSIOp>(high, shift) : wide.make<arith::ShRUIOp>(high, shift);
  }
  return builder.create<arith::TruncIOp>(loc, narrow, high);
}

template <class Extend> void lowerProduct(Operation *op) {
  OpBuilder builder(op);
  Integers const own{builder, op->getLoc(), op->getResult(0).getType()};
  Value const a = op->getOperand(0), b = op->getOperand(1);
  bool const isWide = own.type.isIndex() || own.type.isInteger(64);
  Value const high =
      isWide ? highOf64(own, a, b, std::is_same_v<Extend, arith::ExtSIOp>) : highOfNarrow<Extend>(builder, op);
  op->replaceAllUsesWith(ValueRange{own.make<arith::MulIOp>(a, b), high});
  op->erase();
}

/// A sum that wraps is smaller than its terms.
void lowerSum(arith::AddUIExtendedOp op) {
  OpBuilder builder(op);
  Value const sum = builder.create<arith::AddIOp>(op.getLoc(), op.getLhs(), op.getRhs());
  Value const wraps = builder.create<arith::CmpIOp>(op.getLoc(), arith::CmpIPredicate::ult, sum, op.getLhs());
  op->replaceAllUsesWith(ValueRange{sum, wraps});
  op->erase();
}

} // namespace

void ml2k::mlir_import::lowerScalarForms(func::FuncOp entry) {
  entry.walk([](Operation *op) { // inner ones first
    if (op->getNumResults() == 2 && isa<ShapedType>(op->getResult(0).getType()))
      return;
    if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
      lowerSwitch(choice);
    else if (isa<arith::MulSIExtendedOp>(op))
      lowerProduct<arith::ExtSIOp>(op);
    else if (isa<arith::MulUIExtendedOp>(op))
      lowerProduct<arith::ExtUIOp>(op);
    else if (auto sum = dyn_cast<arith::AddUIExtendedOp>(op))
      lowerSum(sum);
  });
}
