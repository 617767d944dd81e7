//===- MlirImport.h - an MLIR module to one function in the imported form -----------------------------------*- C++
//-*-===//

#ifndef ML2K_FRONTEND_MLIR_MLIRIMPORT_H
#define ML2K_FRONTEND_MLIR_MLIRIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <map>
#include <string>

namespace ml2k {

struct MlirImportOptions {
  std::string fileName;                ///< in the locations of diagnostics; no folder
  std::string entry;                   ///< name of the function; empty: the only public one
  std::map<std::string, int64_t> dims; ///< symbolic dimensions that get an extent (--dim)
};

/// Reads text or bytecode. On failure every problem was reported on the context and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(llvm::StringRef bytes, const MlirImportOptions &options,
                                             mlir::MLIRContext &context);

/// One line per dialect: name and what of it is read.
void printSupportedMlirOps(llvm::raw_ostream &out);

} // namespace ml2k

#endif
