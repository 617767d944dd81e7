//===- Prepare.h - every decision of the printer, as attributes -----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PREPARE_PREPARE_H
#define ML2K_PASSES_PREPARE_PREPARE_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ml2k {

#define GEN_PASS_DECL
#include "passes/prepare/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/prepare/Passes.h.inc"

/// Appends all of them, for --weights=`weights`, --target=`target` and --calls=`calls`.
void addPrepare(mlir::OpPassManager &manager, std::string const &weights, std::string const &target,
                std::string const &calls);

} // namespace ml2k

#endif
