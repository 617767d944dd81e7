//===- IndexBounds.cpp - bounds of loops in the arithmetic that forward() has -------------------------------------===//
//
// `(n - 1) // 2` of Python, and much of what torch-mlir writes, is arithmetic on i64 between casts from and to indices.
// Both have 64 bits, so that the casts may stand at the leaves.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/IndexBounds.h"

#include "passes/lower/loops/HostLoops.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

class IndexBounds {
public:
  explicit IndexBounds(MLIRContext *context) : builder(context) {}

  /// The same number as an index; null where that is not one of sizes, arguments, indices of loops and constants.
  Value asIndex(Value value) {
    auto const [known, isNew] = converted.try_emplace(value);
    if (isNew) {
      Value const index = computed(value);
      converted[value] = index;
      return index;
    }
    return known->second;
  }

private:
  Value computed(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return ofArgument(cast<BlockArgument>(value));
    builder.setInsertionPointAfter(op);
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return value.getType().isIndex()
                 ? value
                 : builder.create<arith::ConstantIndexOp>(op->getLoc(), constant.getSExtValue()).getResult();
    if (isa<memref::DimOp>(op))
      return value;
    if (isa<scf::ForOp, scf::WhileOp>(op) && value.getType().isInteger(64) &&
        isCarriedOnHost(op, cast<OpResult>(value).getResultNumber()))
      return builder.create<arith::IndexCastOp>(op->getLoc(), builder.getIndexType(), value);
    if (isa<arith::IndexCastOp>(op))
      return asIndex(op->getOperand(0));
    if (auto select = dyn_cast<arith::SelectOp>(op))
      if (Value const least = value.getType().isIndex() || value.getType().isInteger(64) ? chosen(select) : Value())
        return least;
    if (arith::RemSIOp remainder = flooredRemainder(op))
      return floored(op, asIndex(remainder.getLhs()), asIndex(remainder.getRhs()));
    bool const isArithmetic = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || isHostArithmetic(op);
    if (!isArithmetic || !(value.getType().isIndex() || value.getType().isInteger(64)))
      return ofOtherArithmetic(op);
    Value const left = asIndex(op->getOperand(0)), right = asIndex(op->getOperand(1));
    if (!left || !right)
      return {};
    bool const isSame = left == op->getOperand(0) && right == op->getOperand(1);
    return isSame ? value : create(op, {left, right});
  }

  /// What bits, choices and floats make of numbers of the host is one that it computes as it stands.
  Value ofOtherArithmetic(Operation *op) {
    Value const number = op->getResult(0);
    unsigned steps = 64; // the expression is printed as it stands
    if (number.getType().isIndex() || !number.getType().isIntOrIndex() || number.getType().isInteger(1) ||
        !isOfHost(number, steps))
      return {};
    builder.setInsertionPointAfter(op);
    return builder.create<arith::IndexCastOp>(op->getLoc(), builder.getIndexType(), number);
  }

  static bool isOfHost(Value value, unsigned &steps) {
    Operation *op = value.getDefiningOp();
    auto const argument = dyn_cast<BlockArgument>(value);
    if (argument) {
      Operation *const owner = argument.getOwner()->getParentOp();
      auto loop = dyn_cast<scf::ForOp>(owner);
      return isa<func::FuncOp>(owner) || (loop && argument == loop.getInductionVar()) ||
             isCarriedOnHost(owner, argument.getArgNumber() - (loop ? 1 : 0));
    }
    if (matchPattern(value, m_Constant()) || isa<memref::DimOp>(op))
      return true;
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return isCarriedOnHost(op, cast<OpResult>(value).getResultNumber());
    return steps > 0 && steps-- > 0 && (isHostScalar(op) || isHostCount(op) || isHostArithmetic(op)) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isOfHost(operand, steps); });
  }

  /// `r + ((r >> 63) & m)` of r = a rem m, Python's a % m.
  static arith::RemSIOp flooredRemainder(Operation *op) {
    auto remainder = isa<arith::AddIOp>(op) ? op->getOperand(0).getDefiningOp<arith::RemSIOp>() : arith::RemSIOp();
    auto masked = remainder ? op->getOperand(1).getDefiningOp<arith::AndIOp>() : arith::AndIOp();
    auto sign = masked ? masked.getLhs().getDefiningOp<arith::ShRSIOp>() : arith::ShRSIOp();
    bool const isIt = sign && sign.getLhs() == remainder && getConstantIntValue(sign.getRhs()) == 63 &&
                      masked.getRhs() == remainder.getRhs() && remainder.getType().isInteger(64);
    return isIt ? remainder : arith::RemSIOp();
  }

  /// a - floor(a / m) * m
  Value floored(Operation *op, Value a, Value m) {
    if (!a || !m)
      return {};
    builder.setInsertionPointAfter(op);
    Location const location = op->getLoc();
    Value const quotient = builder.create<arith::FloorDivSIOp>(location, a, m);
    return builder.create<arith::SubIOp>(location, a, builder.create<arith::MulIOp>(location, quotient, m));
  }

  /// Whether the host carries a value of a loop.
  static bool isCarriedOnHost(Operation *loop, unsigned place) {
    if (auto counted = dyn_cast<scf::ForOp>(loop))
      return placesOnHost(counted)[place];
    auto decided = dyn_cast<scf::WhileOp>(loop);
    return decided && isDecidedOnHost(decided);
  }

  /// An index of a loop, or a number of the caller's or of the host's.
  Value ofArgument(BlockArgument argument) {
    if (argument.getType().isIndex())
      return argument;
    Operation *const owner = argument.getOwner()->getParentOp();
    unsigned const place = argument.getArgNumber() - (isa<scf::ForOp>(owner) ? 1 : 0);
    if (!argument.getType().isInteger(64) || !(isa<func::FuncOp>(owner) || isCarriedOnHost(owner, place)))
      return {};
    builder.setInsertionPointToStart(argument.getOwner());
    return builder.create<arith::IndexCastOp>(argument.getLoc(), builder.getIndexType(), argument);
  }

  Value create(Operation *like, ArrayRef<Value> operands) {
    builder.setInsertionPointAfter(like);
    return builder
        .create(like->getLoc(), like->getName().getIdentifier(), operands, {builder.getIndexType()}, like->getAttrs())
        ->getResult(0);
  }

  /// `a < b ? a : b`
  Value chosen(arith::SelectOp select) {
    Value const yes = asIndex(select.getTrueValue()), no = asIndex(select.getFalseValue());
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!yes || !no || !compare)
      return {};
    bool const isSame = compare.getLhs() == select.getTrueValue() && compare.getRhs() == select.getFalseValue();
    bool const isTurned = compare.getLhs() == select.getFalseValue() && compare.getRhs() == select.getTrueValue();
    using enum arith::CmpIPredicate;
    bool const isLess = llvm::is_contained({slt, sle}, compare.getPredicate());
    bool const isMore = llvm::is_contained({sgt, sge}, compare.getPredicate());
    if (!(isSame || isTurned) || !(isLess || isMore))
      return {};
    builder.setInsertionPointAfter(select);
    if (isLess == isSame)
      return builder.create<arith::MinSIOp>(select.getLoc(), yes, no);
    return builder.create<arith::MaxSIOp>(select.getLoc(), yes, no);
  }

  OpBuilder builder;
  DenseMap<Value, Value> converted;
};

} // namespace

void computeBoundsInIndices(func::FuncOp entry) {
  IndexBounds bounds(entry.getContext());
  entry.walk([&](Operation *op) {
    if (auto check = dyn_cast<cf::AssertOp>(op)) // of a step
      op = check.getArg().getDefiningOp<arith::CmpIOp>();
    else if (!isa<scf::ForOp, scf::ParallelOp>(op))
      return;
    if (!op)
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType().isIndex())
        if (Value const index = bounds.asIndex(operand.get()))
          operand.set(index);
  });
}

} // namespace ml2k
