//===- Supported.h - ------------------------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_SUPPORTED_H
#define ML2K_TOOL_SUPPORTED_H

#include "llvm/Support/raw_ostream.h"

namespace ml2k {

/// The ONNX operators with their versions and the dialects of MLIR that can be read, one a line.
void printSupportedOps(llvm::raw_ostream &out);

} // namespace ml2k

#endif
