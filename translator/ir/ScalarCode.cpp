//===- ScalarCode.cpp - what may stand in the block of a kernel ---------------------------------------------------===//

#include "translator/ir/ScalarCode.h"

#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ml2k {

static constexpr StringLiteral operations[] = {
    "arith.addf",         "arith.addi",     "arith.andi",       "arith.bitcast", "arith.ceildivsi", "arith.ceildivui",
    "arith.cmpf",         "arith.cmpi",     "arith.divf",       "arith.divsi",   "arith.divui",     "arith.extf",
    "arith.extsi",        "arith.extui",    "arith.floordivsi", "arith.fptosi",  "arith.fptoui",    "arith.index_cast",
    "arith.index_castui", "arith.maximumf", "arith.maxnumf",    "arith.maxsi",   "arith.maxui",     "arith.minimumf",
    "arith.minnumf",      "arith.minsi",    "arith.minui",      "arith.mulf",    "arith.muli",      "arith.negf",
    "arith.ori",          "arith.remf",     "arith.remsi",      "arith.remui",   "arith.select",    "arith.shli",
    "arith.shrsi",        "arith.shrui",    "arith.sitofp",     "arith.subf",    "arith.subi",      "arith.truncf",
    "arith.trunci",       "arith.uitofp",   "arith.xori",       "math.absf",     "math.absi",       "math.acos",
    "math.acosh",         "math.asin",      "math.asinh",       "math.atan",     "math.atan2",      "math.atanh",
    "math.cbrt",          "math.ceil",      "math.copysign",    "math.cos",      "math.cosh",       "math.ctlz",
    "math.ctpop",         "math.cttz",      "math.erf",         "math.exp",      "math.exp2",       "math.expm1",
    "math.floor",         "math.fma",       "math.fpowi",       "math.ipowi",    "math.log",        "math.log10",
    "math.log1p",         "math.log2",      "math.powf",        "math.round",    "math.roundeven",  "math.rsqrt",
    "math.sin",           "math.sinh",      "math.sqrt",        "math.tan",      "math.tanh",       "math.trunc",
    "nest.call",          "nest.floor_mod", "nest.larger",      "nest.position", "nest.smaller"};

ArrayRef<StringLiteral> scalarOperations() { return operations; }

static bool isScalarOperation(Operation *op) { return llvm::binary_search(operations, op->getName().getStringRef()); }

/// The bits of a number that hosts keep in a float are not those of its type.
static LogicalResult checkBits(arith::BitcastOp cast) {
  for (Type type : {cast.getIn().getType(), cast.getType()})
    if (type.isF16() || type.isBF16())
      return cast.emitError("the bits of ") << type << " cannot be reinterpreted";
  return success();
}

static LogicalResult checkTypes(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!nest::isScalar(type))
      return op->emitError("a scalar of type ") << type << " cannot be printed";
  auto cast = dyn_cast<arith::BitcastOp>(op);
  return cast ? checkBits(cast) : success();
}

/// Control flow, and what reads memory or a size.
static bool isStructure(Operation *op, bool inExplicitLoops) {
  if (isa<memref::LoadOp, memref::DimOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op))
    return true;
  return inExplicitLoops ? isa<memref::StoreOp, memref::AllocaOp, cf::AssertOp, vector::PrintOp, nest::YieldOp,
                               nest::BarrierOp, scf::ParallelOp, scf::ReduceOp, scf::ReduceReturnOp>(op)
                         : isa<nest::NestDialect>(op->getDialect());
}

/// A part of memory that functions of C get.
static bool isPassedOn(Operation *op) {
  return isa<memref::SubViewOp>(op) && llvm::all_of(op->getUsers(), llvm::IsaPred<nest::CallOp>) &&
         !cast<memref::SubViewOp>(op).getSource().getDefiningOp<memref::SubViewOp>();
}

/// Arrays go to functions of C from explicit loops.
static LogicalResult checkCall(nest::CallOp call, bool inExplicitLoops) {
  bool const hasArrays = llvm::any_of(call.getOperandTypes(), llvm::IsaPred<MemRefType>);
  return hasArrays && !inExplicitLoops ? LogicalResult(call.emitError("a function of C gets arrays in loops only"))
                                       : success();
}

LogicalResult checkScalarCode(Operation *op, bool inExplicitLoops) {
  if (auto call = dyn_cast<nest::CallOp>(op))
    return checkCall(call, inExplicitLoops);
  if (inExplicitLoops && isPassedOn(op))
    return success();
  if (auto size = dyn_cast<memref::DimOp>(op); size && !size.getConstantIndex())
    return op->emitError("the dimension of a size is not a constant");
  if (isScalarOperation(op) || isa<arith::ConstantOp>(op))
    return checkTypes(op);
  if (isStructure(op, inExplicitLoops))
    return success();
  return op->emitError() << "'" << op->getName() << "' has no printed form inside a kernel";
}

} // namespace ml2k
