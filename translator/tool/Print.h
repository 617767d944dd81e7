//===- Print.h - a module in nest form to formatted files -----------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_PRINT_H
#define ML2K_TOOL_PRINT_H

#include "translator/emit/Emit.h"
#include "translator/ir/Column.h"
#include "translator/output/Writer.h"
#include "translator/tool/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace ml2k {

/// Whether the forms asked for are printed column by column, from the module at the stage `scheduled`.
bool printsColumns(ToolOptions const &options);
Forms formsOf(ToolOptions const &options);

/// Header and source, for standard output as one text, and the sidecar, where there is one; with --emit=json the view
/// model alone. An error without a text was reported on the context.
llvm::Expected<std::vector<OutputFile>> printFiles(mlir::ModuleOp module, ToolOptions const &options,
                                                   std::string const &modelFile);

/// The same in two steps, for models that share their blocks.
mlir::FailureOr<ModelView> viewFiles(mlir::ModuleOp module, ToolOptions const &options, std::string const &modelFile);
llvm::Expected<std::vector<OutputFile>> printView(ModelView const &model, ToolOptions const &options);

/// Code for the file `name` beside the output, in the style found there.
llvm::Expected<OutputFile> formatted(std::string code, llvm::StringRef name, ToolOptions const &options);

} // namespace ml2k

#endif
