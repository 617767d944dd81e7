//===- MlirImport.h - the MLIR front end ----------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_MLIRIMPORT_H
#define ML2K_FRONTEND_MLIR_MLIRIMPORT_H

#include "translator/frontend/mlir/Schedule.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <map>
#include <string>

namespace ml2k {

struct MlirImportOptions {
  std::string fileName; ///< in the locations of diagnostics
  std::string entry;    ///< the function to translate; empty: the only public one

  /// Extents of `?` dimensions. The key is `<argument>.<dimension>`, as in `image.0`, or `<argument>` alone if it has
  /// one
  /// `?`. An argument goes by its name in the source text (`%image`) or by its place (`arg0`).
  std::map<std::string, int64_t> dims;

  ScheduleText schedule; ///< a schedule that takes the place of the input's own
};

/// MLIR text or bytecode as a module that verifies; null after diagnostics with lines of `fileName`.
mlir::OwningOpRef<mlir::ModuleOp> parseMlir(llvm::StringRef bytes, llvm::StringRef fileName,
                                            mlir::MLIRContext &context);

/// Reads MLIR text (followed by a zero byte, as in a std::string) or bytecode. The result holds one public `func.func`,
/// the entry, with named arguments and results, in dialects that the passes take: calls are inlined, TOSA is lowered to
/// linalg, and functions on sparse tensors or with memrefs inside are loop programs on memrefs. Errors are diagnostics
/// of the context with the line of the source; the result is then null.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(llvm::StringRef bytes, MlirImportOptions const &options,
                                             mlir::MLIRContext &context);

/// One line per dialect: name and what of it is read.
void printSupportedMlirOps(llvm::raw_ostream &out);

} // namespace ml2k

#endif
