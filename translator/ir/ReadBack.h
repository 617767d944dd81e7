//===- ReadBack.h - what the host learns from kernels ---------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_READBACK_H
#define ML2K_IR_READBACK_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ml2k {

/// What is no affine expression.
inline bool isHostArithmetic(mlir::Operation *op) {
  using namespace mlir::arith;
  return mlir::isa_and_nonnull<MinSIOp, MaxSIOp, MinUIOp, MaxUIOp, RemSIOp, RemUIOp, DivSIOp, CeilDivSIOp, CeilDivUIOp,
                               FloorDivSIOp>(op);
}

/// A branch around kernels.
inline bool isHostBranch(mlir::Operation *op) {
  return mlir::isa<mlir::scf::IfOp>(op) && op->walk([](mlir::Operation *inner) {
                                               return mlir::isa<mlir::scf::ParallelOp, nest::Kernel>(inner)
                                                          ? mlir::WalkResult::interrupt()
                                                          : mlir::WalkResult::advance();
                                             }).wasInterrupted();
}

/// The scf.condition of a host loop, what that loop carries at first, or what it carries on; a branch around kernels.
inline bool decidesOnHost(mlir::Operation *op) {
  return mlir::isa<mlir::scf::ConditionOp, mlir::scf::WhileOp>(op) || isHostBranch(op) ||
         (mlir::isa<mlir::scf::YieldOp>(op) && mlir::isa<mlir::scf::WhileOp>(op->getParentOp()));
}

/// `memref.load` of a number that kernels computed, for a host loop, with nothing in between that changes it: the host
/// waits.
inline bool isReadBack(mlir::Operation *op) {
  auto load = mlir::dyn_cast_or_null<mlir::memref::LoadOp>(op);
  if (!load || load.getMemRefType().getRank() != 0 || !load->hasOneUse() || !decidesOnHost(*load->getUsers().begin()) ||
      !load.getMemref().getDefiningOp<nest::BufferOp>())
    return false;
  mlir::Operation *const user = *load->getUsers().begin();
  for (mlir::Operation *next = load->getNextNode(); next != user; next = next->getNextNode())
    if (!next ||
        !(mlir::isa<mlir::memref::LoadOp, nest::BufferOp>(next) || (mlir::isPure(next) && next->getNumRegions() == 0)))
      return false;
  return true;
}

/// On a load of a number that kernels computed: how long a loop is that becomes a kernel. A variable of forward().
inline constexpr llvm::StringLiteral hostNumber = "nest.host_number";

inline bool isHostNumber(mlir::Operation *op) { return op && op->hasAttr(hostNumber); }

/// Counters of host loops.
inline bool isHostCount(mlir::Operation *op) {
  using namespace mlir::arith;
  return mlir::isa_and_nonnull<AddIOp, SubIOp, MulIOp, IndexCastOp>(op) && op->getResult(0).getType().isIndex();
}

/// Arithmetic on numbers that the host knows: it is printed where it is used.
inline bool isHostScalar(mlir::Operation *op) {
  llvm::StringRef const dialect = op->getDialect() ? op->getDialect()->getNamespace() : "";
  return (dialect == "arith" || dialect == "math") && op->getNumRegions() == 0 && mlir::isPure(op) &&
         op->getNumResults() == 1 && op->getResult(0).getType().isIntOrFloat();
}

/// A size from other arithmetic: of bits, choices, floats.
inline bool isHostCast(mlir::Operation *op) {
  using namespace mlir::arith;
  auto cast = mlir::dyn_cast_or_null<IndexCastOp>(op);
  mlir::Operation *const from = cast && cast.getType().isIndex() ? cast.getIn().getDefiningOp() : nullptr;
  return from && isHostScalar(from) &&
         !mlir::isa<AddIOp, SubIOp, MulIOp, IndexCastOp, ExtSIOp, TruncIOp, ConstantOp>(from);
}

/// Arithmetic on sizes that is no affine expression: forward() computes it once, in a variable.
inline bool isHostLocal(mlir::Operation *op) {
  return (isHostArithmetic(op) && op->getResult(0).getType().isIndex()) || isHostCast(op);
}

} // namespace ml2k

#endif
