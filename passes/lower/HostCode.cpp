//===- HostCode.cpp - what stands between kernels -----------------------------------------------------------------===//

#include "passes/lower/HostCode.h"

#include "passes/lower/memory/Memory.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/Nest.h"
#include "translator/ir/ReadBack.h"
#include "translator/ir/Sizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ml2k;

//===--- Values ---------------------------------------------------------------------------------------------------===//

/// Memory that a loop around kernels exchanges.
static bool isExchanged(Value memref) { return exchangeOf(memref).loop != nullptr; }

/// Scalar arguments, indices of loops, and run-time extents of arguments and of exchanged memory have names.
static bool isNamed(Value value) {
  auto const isOfEntry = [](BlockArgument argument) { return isa<func::FuncOp>(argument.getOwner()->getParentOp()); };
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isOfEntry(argument) || isa<scf::ForOp, scf::WhileOp>(argument.getOwner()->getParentOp());
  if (isa_and_nonnull<scf::ForOp, scf::WhileOp>(value.getDefiningOp()) || isHostLocal(value.getDefiningOp()) ||
      isHostNumber(value.getDefiningOp()))
    return true;
  auto size = value.getDefiningOp<memref::DimOp>();
  if (!size || !size.getConstantIndex())
    return false;
  auto const argument = dyn_cast<BlockArgument>(size.getSource());
  bool const isOfArgument =
      argument && isOfEntry(argument) && cast<MemRefType>(argument.getType()).isDynamicDim(*size.getConstantIndex());
  return isOfArgument || isExchanged(size.getSource());
}

/// A host value; the error stands at what cannot be computed, or at `user` where that is no operation.
static LogicalResult checkValue(Value value, Operation *user, char const *message) {
  auto const isArgument = [](BlockArgument argument, unsigned) { return Value(argument); };
  HostSymbols symbols;
  if (!Sizes(isNamed, isArgument).index(value, symbols))
    return user->emitError(message);
  for (Value symbol : symbols.values())
    if (!isNamed(symbol) || (isa<nest::BufferOp>(user) && isHostLocal(symbol.getDefiningOp())))
      return (symbol.getDefiningOp() ? symbol.getDefiningOp() : user)->emitError(message);
  return success();
}

/// An argument's own extent that nothing asks for is one of the same name, which the names of the entry decide.
bool ml2k::isHostExtent(Value memref, unsigned dim) {
  auto const isArgument = [](BlockArgument argument, unsigned) { return Value(argument); };
  HostSymbols symbols;
  return Sizes(isNamed, isArgument).extent(memref, dim, symbols) && llvm::all_of(symbols.values(), isNamed);
}

static LogicalResult checkValues(ValueRange values, Operation *user) {
  return success(llvm::all_of(values, [&](Value value) {
    return succeeded(checkValue(value, user, "a value that forward() cannot compute"));
  }));
}

/// A number that forward() has, reads back or computes from such. `steps`: how many operations it may take, since it is
/// printed as it stands.
static bool isKnownOnHost(Value value, unsigned &steps) {
  Operation *op = value.getDefiningOp();
  bool const isMemory = isa<MemRefType>(value.getType()); // exchanged, or verified elsewhere
  return isMemory || matchPattern(value, m_Constant()) || isNamed(value) || isReadBack(op) ||
         (op && steps > 0 && steps-- > 0 && (isHostScalar(op) || isHostCount(op)) &&
          llvm::all_of(op->getOperands(), [&](Value operand) { return isKnownOnHost(operand, steps); }));
}

static bool isKnownOnHost(Value value) {
  unsigned steps = 1024;
  return isKnownOnHost(value, steps);
}

static bool areKnownOnHost(ValueRange values) {
  return llvm::all_of(values, [](Value value) { return isKnownOnHost(value); });
}

/// Comparisons of host values, and what `and` and `or` make of them. `steps`: of how many, since they are printed as
/// they stand.
static LogicalResult checkCondition(Value value, unsigned &steps) {
  Operation *op = value.getDefiningOp();
  if (isNamed(value) || isReadBack(op))
    return success();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op) && steps > 0) {
    --steps;
    return success(succeeded(checkCondition(op->getOperand(0), steps)) &&
                   succeeded(checkCondition(op->getOperand(1), steps)));
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (isKnownOnHost(value) && !(compare && compare.getLhs().getType().isIndex()))
    return success();
  if (compare)
    return checkValues(compare->getOperands(), compare);
  return value.getParentBlock()->getParentOp()->emitError("forward() decides by sizes and arguments only");
}

//===--- Statements -----------------------------------------------------------------------------------------------===//

/// What prints nothing by itself: members, views, conditions and index arithmetic appear where they are used.
static bool isSilent(Operation *op) {
  if (isa<nest::BufferOp, nest::WeightOp, memref::DimOp, arith::ConstantOp, affine::AffineApplyOp, cf::AssertOp>(op) ||
      isAlias(op))
    return true;
  if (isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp>(op) && op->getResult(0).getType().isInteger(1))
    return true;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::IndexCastOp>(op) &&
         op->getResult(0).getType().isIndex();
}

static LogicalResult checkAssert(cf::AssertOp check) {
  auto compare = check.getArg().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() > arith::CmpIPredicate::sge)
    return check.emitError() << "cannot hold: " << check.getMsg();
  return checkValues(compare->getOperands(), check);
}

static LogicalResult checkLoop(scf::ForOp loop) {
  if (!areKnownOnHost(loop.getInitArgs()) || !areKnownOnHost(loop.getYieldedValues()))
    return loop.emitError("a loop around kernels carries values");
  return checkValues({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, loop);
}

static LogicalResult checkBranch(scf::IfOp branch) {
  if (branch.getNumResults() != 0)
    return branch.emitError("a branch around kernels has results");
  unsigned steps = 256;
  return checkCondition(branch.getCondition(), steps);
}

/// The condition comes from a kernel or from what the loop carries: numbers, or nothing but memory that kernels write.
static LogicalResult checkWhile(scf::WhileOp loop) {
  bool const passesOn = llvm::all_of(loop.getConditionOp().getArgs(), [&](Value passed) {
    auto const argument = dyn_cast<BlockArgument>(passed);
    return argument && argument.getOwner() == loop.getBeforeBody();
  });
  if (!passesOn || !areKnownOnHost(loop.getInits()) || !areKnownOnHost(loop.getYieldOp().getOperands()))
    return loop.emitError("a loop around kernels carries values");
  if (!isKnownOnHost(loop.getConditionOp().getCondition()))
    return loop.emitError("forward() repeats kernels while one of them says so, which stores that in the workspace");
  return success();
}

/// The bounds of explicit loops, and what their block uses from outside.
static LogicalResult checkLoopKernel(nest::LoopKernelOp kernel) {
  llvm::SetVector<Value> values(kernel.getLowers().begin(), kernel.getLowers().end());
  values.insert(kernel.getUppers().begin(), kernel.getUppers().end());
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()) && !kernel->isAncestor(operand.getParentRegion()->getParentOp()) &&
          !matchPattern(operand, m_Constant()))
        values.insert(operand);
  });
  return checkValues(values.getArrayRef(), kernel);
}

static LogicalResult checkStatement(Operation *op) {
  if (auto check = dyn_cast<cf::AssertOp>(op))
    return checkAssert(check);
  if (auto buffer = dyn_cast<nest::BufferOp>(op))
    return success(llvm::all_of(buffer.getSizes(), [&](Value size) {
      return succeeded(checkValue(size, buffer, "the size of a buffer is not a size of the arguments"));
    }));
  if (isHostCast(op))
    return isKnownOnHost(op->getOperand(0)) ? success() : op->emitError("a value that forward() cannot compute");
  if (isHostLocal(op))
    return checkValues(op->getOperands(), op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return checkLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return checkBranch(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return checkWhile(loop);
  if (auto kernel = dyn_cast<nest::LoopKernelOp>(op))
    return checkLoopKernel(kernel);
  if (isSilent(op) || isReadBack(op) || isHostNumber(op) || isHostScalar(op) ||
      isa<nest::Kernel, scf::ConditionOp, scf::YieldOp, func::ReturnOp>(op))
    return success();
  return op->emitError("'") << op->getName() << "' cannot be printed between kernels";
}

LogicalResult ml2k::checkHostCode(func::FuncOp entry) {
  WalkResult const result = entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == entry)
      return WalkResult::advance();
    if (failed(checkStatement(op)))
      return WalkResult::interrupt();
    return isa<nest::Kernel>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
