//===- OnnxImport.h - an ONNX model to one function on tensors ----------------------------------------------*- C++
//-*-===//

#ifndef ML2K_FRONTEND_ONNX_ONNXIMPORT_H
#define ML2K_FRONTEND_ONNX_ONNXIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <map>
#include <string>

namespace ml2k {

struct OnnxImportOptions {
  std::string fileName;                ///< in the locations of diagnostics; no folder
  std::string directory;               ///< where external data lies
  std::string entry;                   ///< name of the function; empty: the graph's
  std::map<std::string, int64_t> dims; ///< symbolic dimensions that get an extent (--dim)
};

/// Reads the bytes of a model. On failure every problem was reported on the context with a NameLoc of the node
/// (`Conv "/conv1/Conv"`) or a FileLineColLoc of the file, line 0, and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef bytes, const OnnxImportOptions &options,
                                             mlir::MLIRContext &context);

/// One line per operator: name and the opset versions that are read.
void printSupportedOnnxOps(llvm::raw_ostream &out);

} // namespace ml2k

#endif
