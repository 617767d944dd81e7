//===- Report.h - ---------------------------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_REPORT_H
#define ML2K_TOOL_REPORT_H

#include "translator/ir/Column.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace ml2k {

/// A table of the kernels of a module in nest form: label, pattern, shapes, floating-point operations, bytes moved;
/// then the buffers, their sizes and the peak of the arena. Run-time extents count as 1 and are marked.
void printReport(mlir::ModuleOp module, llvm::raw_ostream &out);

/// The same as JSON, for --report-json: of each kernel label, pattern, shapes, operations and bytes; of each buffer
/// offset in the arena, bytes, and the numbers of the first and the last kernel that touches it.
std::string reportJson(mlir::ModuleOp module);

/// Scratch, stack, registers and barriers of these forms; with narrow weights, what they do to results.
void printFormReport(Column const &column, Forms const &forms, llvm::raw_ostream &out);

} // namespace ml2k

#endif
