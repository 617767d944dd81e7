//===- Translate.cpp - from a command line to files ---------------------------------------------------------------===//
//
// Reads the input, takes the module from stage to stage, and ends where --emit says. Everything that can be refused is
// refused before the first file is touched.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/tool/Translate.h"

#include "passes/Pipeline.h"
#include "translator/ir/Registration.h"
#include "translator/output/Check.h"
#include "translator/output/Writer.h"
#include "translator/text/Text.h"
#include "translator/tool/Diagnostics.h"
#include "translator/tool/Frontend.h"
#include "translator/tool/Input.h"
#include "translator/tool/Print.h"
#include "translator/tool/Progress.h"
#include "translator/tool/Report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ml2k;

namespace {
struct StageName {
  Stage stage;
  EmitKind emit;
  char const *name;
  char const *doing;
};

constexpr StageName stages[] = {{Stage::Imported, EmitKind::Imported, "imported", "reading"},
                                {Stage::Canonical, EmitKind::Canonical, "canonical", "simplifying"},
                                {Stage::Scheduled, EmitKind::Scheduled, "scheduled", "forming kernels"},
                                {Stage::Nest, EmitKind::Nest, "nest", "planning memory"}};

class Translation {
public:
  Translation(ToolOptions const &options, Input input, Progress &progress);
  int run();

private:
  bool reach(StageName const &stage);
  bool dumpStage(StageName const &stage);
  int printModule();
  int printCode();
  int finishCode(std::vector<OutputFile> const &files);
  int write(std::vector<OutputFile> const &files);

  ToolOptions const &options;
  Input const input;
  Progress &progress;
  mlir::MLIRContext context;
  DiagnosticPrinter diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

static int report(Error error, ExitCode code, Progress &progress) {
  progress.clear();
  errs() << terminalText(toString(std::move(error))) << "\n";
  return code;
}

static bool writesFiles(ToolOptions const &options) { return !options.output.empty() && options.output != "-"; }

static std::string directoryOf(ToolOptions const &options) { return sys::path::parent_path(options.output).str(); }

static std::string sidecarName(ToolOptions const &options) {
  return sys::path::stem(options.output).str() + ".safetensors";
}

Translation::Translation(ToolOptions const &options, Input given, Progress &progress)
    : options(options), input(std::move(given)), progress(progress),
      // One function at a time: threads would only cost their start.
      context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED),
      diagnostics(context, {input.path, input.fileName, input.buffer->getBuffer()}, progress) {}

//===--- Stages ---------------------------------------------------------------------------------------------------===//

bool Translation::dumpStage(StageName const &stage) {
  if (options.dumpStages.empty())
    return true;
  std::string text;
  raw_string_ostream out(text);
  module->print(out, mlir::OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(64).enableDebugInfo(
                         options.debugInfo, /*prettyForm=*/true));
  std::string const number = std::to_string(&stage - stages);
  Error error = writeFiles(options.dumpStages, {OutputFile{number + "-" + stage.name + ".mlir", text}});
  return !error || (report(std::move(error), ExitOutput, progress), false);
}

bool Translation::reach(StageName const &stage) {
  progress.begin(stage.doing);
  if (stage.stage == Stage::Imported) {
    module = importInput(input, options, context);
    return module && dumpStage(stage);
  }
  mlir::PassManager passes(&context);
  addStage(
      passes, stage.stage,
      {.winograd = options.winograd == "auto" && options.target != "device", .naive = options.schedule == "naive"});
  return succeeded(passes.run(*module)) && dumpStage(stage);
}

int Translation::run() {
  for (StageName const &stage : stages) {
    if (!reach(stage)) {
      diagnostics.finish();
      if (!diagnostics.sawError())
        errs() << terminalText(input.path) << ": error: cannot be translated; the stage '" << stage.name
               << "' gave no reason\n";
      return ExitInput;
    }
    if (options.emit == stage.emit)
      return printModule();
    if (stage.stage == Stage::Scheduled && printsColumns(options) && options.emit != EmitKind::Nest)
      break;
  }
  if (options.report)
    printReport(*module, outs());
  if (options.emit == EmitKind::Cpp && !writesFiles(options))
    return ExitSuccess; // --report alone
  int const code = printCode();
  diagnostics.finish();
  return code;
}

//===--- Output ---------------------------------------------------------------------------------------------------===//

int Translation::write(std::vector<OutputFile> const &files) {
  if (!writesFiles(options)) {
    for (OutputFile const &file : files)
      outs() << file.contents;
    return ExitSuccess;
  }
  if (Error error = writeFiles(directoryOf(options), files))
    return report(std::move(error), ExitOutput, progress);
  return ExitSuccess;
}

int Translation::printModule() {
  std::string text;
  raw_string_ostream out(text);
  module->print(out, mlir::OpPrintingFlags().enableDebugInfo(options.debugInfo, /*prettyForm=*/false));
  out << "\n";
  return write({{sys::path::filename(options.output).str(), std::move(text)}});
}

int Translation::printCode() {
  progress.begin("printing");
  auto files = printFiles(*module, options, input.fileName);
  if (!files) {
    std::string const message = toString(files.takeError());
    progress.clear();
    if (message.empty())
      return ExitInput; // reported on the context
    errs() << terminalText(message) << "\n";
    return ExitOutput;
  }
  return options.emit == EmitKind::Json ? write(*files) : finishCode(*files);
}

int Translation::finishCode(std::vector<OutputFile> const &files) {
  if (options.verify) {
    progress.begin("compiling the result");
    std::vector<OutputFile> code;
    copy_if(files, std::back_inserter(code), [&](OutputFile const &file) { return file.name != sidecarName(options); });
    std::string const said = verifyFiles(code, directoryOf(options), options.verifier);
    if (!said.empty()) {
      progress.clear();
      errs() << terminalLines(said) << terminalText(options.output)
             << ": error: the printed code does not compile cleanly; nothing was written\n";
      return ExitVerify;
    }
  }
  progress.clear();
  if (options.check)
    return checkFiles(directoryOf(options), files, sidecarName(options), outs()) ? ExitSuccess : ExitDifferent;
  int const code = write(files);
  if (code == ExitSuccess && hasOrphan(directoryOf(options), files, sidecarName(options)))
    errs() << terminalText(options.output) << ": warning: " << terminalText(sidecarName(options))
           << " is no longer read by the printed code\n";
  return code;
}

/// The same questions that the writer will ask, before minutes of work.
static Error checkPlaces(ToolOptions const &options) {
  if (!options.dumpStages.empty())
    if (std::error_code const error = sys::fs::create_directories(options.dumpStages))
      return createStringError(error, options.dumpStages + ": error: cannot be made: " + error.message());
  if (!writesFiles(options) || options.check)
    return Error::success();
  std::string const stem = sys::path::stem(options.output).str();
  std::vector<std::string> names = {sys::path::filename(options.output).str()};
  if (options.emit == EmitKind::Cpp)
    names.insert(names.end(), {stem + ".hpp", sidecarName(options)});
  return checkWritable(directoryOf(options), names);
}

int ml2k::translate(ToolOptions const &options) {
  Progress progress(terminalText(sys::path::filename(options.input)));
  progress.begin("reading");
  auto input = readInput(options.input);
  if (!input)
    return report(input.takeError(), ExitInput, progress);
  if (Error error = checkPlaces(options))
    return report(std::move(error), ExitOutput, progress);
  return Translation(options, std::move(*input), progress).run();
}
