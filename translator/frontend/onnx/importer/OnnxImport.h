//===- OnnxImport.h - ONNX models to linalg on tensors --------------------------------------------------*- C++ -*-===//
//
// The ONNX front end. It reads a model, checks it, and makes one function over linalg, tensor, arith, math and scf
// whose weights are nest.weight. Names of the model become locations and `nest.name` attributes. Every problem of a
// model is reported in one run, as a diagnostic whose location is the name of the file.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_ONNXIMPORT_H
#define ML2K_FRONTEND_ONNX_IMPORTER_ONNXIMPORT_H

#include "translator/frontend/ImportOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ml2k {

/// Reads `path`; external data is looked for beside it. Null after an error, which has been emitted.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             ImportOptions const &options = {});

/// The same for a model in memory. `name` is used in messages and for the model's name; external data is looked for in
/// `directory`; the files that the model names for it are put into `externalFiles`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxBuffer(mlir::MLIRContext &context, llvm::StringRef bytes,
                                                   llvm::StringRef name, llvm::StringRef directory,
                                                   ImportOptions const &options = {},
                                                   std::vector<std::string> *externalFiles = nullptr);

/// An operator and the versions ("since" numbers of the ONNX specification) that the front end reads.
struct SupportedOp {
  std::string domain; ///< empty for ONNX's own
  std::string name;
  std::vector<int> versions;
};

/// In alphabetical order, for --print-supported-ops.
std::vector<SupportedOp> supportedOnnxOps();

} // namespace ml2k

#endif
