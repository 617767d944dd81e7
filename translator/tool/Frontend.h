//===- Frontend.h - the front end that an input needs ---------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_FRONTEND_H
#define ML2K_TOOL_FRONTEND_H

#include "translator/frontend/mlir/Schedule.h"
#include "translator/tool/Input.h"
#include "translator/tool/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ml2k {

/// The module in imported form; null after errors, which were reported on the context. `externalFiles` are those beside
/// the input that the model names for its weights. `schedule` runs on the program as it was written, or as ONNX gave
/// it.
mlir::OwningOpRef<mlir::ModuleOp> importInput(Input const &input, ToolOptions const &options,
                                              ScheduleText const &schedule, mlir::MLIRContext &context,
                                              std::vector<std::string> &externalFiles);

} // namespace ml2k

#endif
