//===- Frontend.h - the front end that an input needs ---------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_FRONTEND_H
#define ML2K_TOOL_FRONTEND_H

#include "translator/tool/Input.h"
#include "translator/tool/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ml2k {

/// The module in imported form; null after errors, which were reported on the context.
mlir::OwningOpRef<mlir::ModuleOp> importInput(Input const &input, ToolOptions const &options,
                                              mlir::MLIRContext &context);

} // namespace ml2k

#endif
