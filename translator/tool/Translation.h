//===- Translation.h - one model on its way through the stages ------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_TRANSLATION_H
#define ML2K_TOOL_TRANSLATION_H

#include "passes/Pipeline.h"
#include "translator/emit/Emit.h"
#include "translator/output/Writer.h"
#include "translator/tool/Diagnostics.h"
#include "translator/tool/Input.h"
#include "translator/tool/Options.h"
#include "translator/tool/Progress.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace ml2k {

struct StageName {
  Stage stage;
  EmitKind emit;
  char const *name;
  char const *doing;
};

class Translation {
public:
  Translation(ToolOptions const &options, Input input, Progress &progress);

  /// All that the options ask for; returns the exit code.
  int run();

  /// The model's view, or the exit code. It refers to memory of this object.
  std::variant<ModelView, int> view();

  /// What may be replaced; knows of external data after the model was read.
  WriteRules rules() const;

private:
  int readSchedule();
  bool reach(StageName const &stage);
  bool addTuning();
  int refuse(StageName const &stage);
  bool dumpStage(StageName const &stage);
  bool writeReport();
  int printModule(StageName const &stage);
  int printReports();
  int printCode();
  int finishCode(std::vector<OutputFile> const &files);
  int write(std::vector<OutputFile> const &files);

  ToolOptions const &options;
  Input const input;
  std::unique_ptr<Input> scheduleFile; ///< null: --schedule names none
  Progress &progress;
  std::vector<std::string> externalFiles;
  mlir::MLIRContext context;
  DiagnosticPrinter diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Several models with one header of blocks; returns the exit code.
int translateShared(ToolOptions const &options);

//===--- Steps of both --------------------------------------------------------------------------------------------===//

int report(llvm::Error error, ExitCode code, Progress &progress);
std::string directoryOf(ToolOptions const &options);
std::string sidecarName(ToolOptions const &options);
WriteRules rulesOf(ToolOptions const &options);

/// Files that will be written for sure: whether there will be a sidecar is not known before unless it was asked for.
std::vector<std::string> outputNames(ToolOptions const &options);

/// Compiles the code among the files; returns the exit code.
int verify(std::vector<OutputFile> const &files, ToolOptions const &options, Progress &progress);
void warnOfOrphan(std::vector<OutputFile> const &files, ToolOptions const &options);

} // namespace ml2k

#endif
