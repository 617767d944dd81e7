//===- Report.h - ---------------------------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_REPORT_H
#define ML2K_TOOL_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace ml2k {

/// A table of the kernels of a module in nest form: label, pattern, shapes, floating-point operations, bytes moved;
/// then the buffers, their sizes and the peak of the arena. Run-time extents count as 1 and are marked.
void printReport(mlir::ModuleOp module, llvm::raw_ostream &out);

} // namespace ml2k

#endif
