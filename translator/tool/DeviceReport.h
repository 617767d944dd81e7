//===- DeviceReport.h - -------------------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_DEVICEREPORT_H
#define ML2K_TOOL_DEVICEREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace ml2k {

/// The names that --device takes.
std::vector<std::string> deviceNames();

/// For every product and convolution of a prepared module: the tiles, into how many parts their sums are split, and
/// why, on a device of the table.
void printDeviceReport(mlir::ModuleOp module, std::string const &device, llvm::raw_ostream &out);

} // namespace ml2k

#endif
