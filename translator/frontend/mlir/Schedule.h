//===- Schedule.h - a user's own schedule in the transform dialect --------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_SCHEDULE_H
#define ML2K_FRONTEND_MLIR_SCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ml2k {

/// A file of sequences, as it was read.
struct ScheduleText {
  std::string fileName;  ///< in the locations of diagnostics
  llvm::StringRef bytes; ///< MLIR text, followed by a zero byte, or bytecode; empty: there is no such file
};

/// A module with the sequences of the file, or null after diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> readSchedule(ScheduleText const &text, mlir::MLIRContext &context);

/// Takes the sequences out of a module, those of its own and those of the modules within; null if there are none.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> takeSchedule(mlir::ModuleOp module);

/// Runs `@__transform_main` of `schedule` on the module, and checks that what it leaves can be read. Functions may be
/// other operations afterwards.
mlir::LogicalResult runSchedule(mlir::ModuleOp module, mlir::ModuleOp schedule);

} // namespace ml2k

#endif
