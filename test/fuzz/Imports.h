//===- Imports.h - what must hold of every import -------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TEST_FUZZ_IMPORTS_H
#define ML2K_TEST_FUZZ_IMPORTS_H

#include "translator/ir/Registration.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>

namespace ml2k::fuzz {

/// Ends the process, which libFuzzer reports, if there is no module and no reason, or a module that does not verify.
template <class Import> void checkImport(Import const &import) {
  static mlir::DialectRegistry const registry = [] {
    mlir::DialectRegistry dialects;
    registerDialects(dialects);
    return dialects;
  }();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  int errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> const module = import(context);
  if (!module ? errors == 0 : failed(mlir::verify(*module)))
    std::abort();
}

} // namespace ml2k::fuzz

#endif
