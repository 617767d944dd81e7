//===- ReadBack.h - what the host learns from kernels ---------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_READBACK_H
#define ML2K_IR_READBACK_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// `memref.load` of a condition that kernels computed, for the scf.condition of a host loop: the host waits for it.
inline bool isReadBack(mlir::Operation *op) {
  auto load = mlir::dyn_cast_or_null<mlir::memref::LoadOp>(op);
  return load && load.getMemRefType().getRank() == 0 && load.getType().isInteger(1) && load->hasOneUse() &&
         mlir::isa<mlir::scf::ConditionOp>(*load->getUsers().begin()) &&
         load.getMemref().getDefiningOp<nest::BufferOp>();
}

} // namespace ml2k

#endif
