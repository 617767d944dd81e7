//===- Passes.h - the passes between the front ends and the printer -------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PASSES_H
#define ML2K_PASSES_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace ml2k {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace ml2k

#endif
