//===- Diagnostics.h - what the user is told ------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_DIAGNOSTICS_H
#define ML2K_TOOL_DIAGNOSTICS_H

#include "translator/tool/Progress.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ml2k {

/// The input as diagnostics speak of it.
struct DiagnosedFile {
  std::string path;         ///< as the user gave it
  std::string fileName;     ///< as locations name it
  llvm::StringRef contents; ///< lines are quoted from text
};

/// Prints the diagnostics of a context to standard error: `file:line:col: error: message` with the line of text, or
/// `model.onnx: error: node Conv "/conv1/Conv": message` for the node of a model. Large constants are left out.
class DiagnosticPrinter {
public:
  DiagnosticPrinter(mlir::MLIRContext &context, DiagnosedFile file, Progress &progress);

  /// Another file that diagnostics may speak of. What names no file is about the first one.
  void add(DiagnosedFile file) { files.push_back(std::move(file)); }

  /// Says that there were more errors than are printed, if so.
  void finish();
  bool sawError() const { return errors > 0; }

private:
  void print(mlir::Diagnostic &diagnostic);
  void printOne(mlir::Diagnostic &diagnostic);

  DiagnosedFile const *find(llvm::StringRef fileName) const;

  std::vector<DiagnosedFile> files;
  Progress &progress;
  int errors = 0;
  mlir::ScopedDiagnosticHandler handler;
};

/// The message with the digits of large constants left out.
std::string withoutLargeConstants(std::string message);

} // namespace ml2k

#endif
