//===- Translations.h - what must hold of every translation ---------------------------------------------*- C++ -*-===//
//
// Whatever the input is: each stage ends with a module that verifies or with at least one error, and what reached the
// last stage is printed.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TEST_FUZZ_TRANSLATIONS_H
#define ML2K_TEST_FUZZ_TRANSLATIONS_H

#include "passes/Pipeline.h"
#include "translator/ir/Registration.h"
#include "translator/tool/Print.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>
#include <cstdlib>

namespace ml2k::fuzz {

/// Ends the process, which libFuzzer reports.
[[noreturn]] inline void fail(char const *what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

inline mlir::DialectRegistry const &dialects() {
  static mlir::DialectRegistry const registry = [] {
    mlir::DialectRegistry dialects;
    registerDialects(dialects);
    return dialects;
  }();
  return registry;
}

template <class Import> void checkTranslation(Import const &import) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  int errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> const module = import(context);
  if (!module)
    return errors == 0 ? fail("the import gave no reason") : void();
  if (failed(mlir::verify(*module)))
    fail("the imported module does not verify");
  for (Stage const stage : {Stage::Canonical, Stage::Scheduled, Stage::Nest, Stage::Prepared}) {
    mlir::PassManager passes(&context);
    passes.enableVerifier(false); // as the tool does
    addStage(passes, stage, {.winograd = true, .naive = false, .weights = "auto"});
    if (failed(passes.run(*module)))
      return errors == 0 ? fail("a stage gave no reason") : void();
    if (failed(mlir::verify(*module)))
      fail("a stage left a module that does not verify");
  }
  ToolOptions options;
  options.emit = EmitKind::Json;
  options.output = "-";
  auto files = printFiles(*module, options, "fuzz.mlir");
  if (files)
    return;
  std::string const message = llvm::toString(files.takeError());
  if (message.empty() && errors == 0)
    fail("the printer gave no reason");
}

} // namespace ml2k::fuzz

#endif
