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
#include "translator/output/Ownership.h"
#include "translator/output/Writer.h"
#include "translator/text/Text.h"
#include "translator/tool/DeviceReport.h"
#include "translator/tool/Diagnostics.h"
#include "translator/tool/Frontend.h"
#include "translator/tool/Input.h"
#include "translator/tool/Message.h"
#include "translator/tool/Print.h"
#include "translator/tool/Progress.h"
#include "translator/tool/Report.h"
#include "translator/tool/Translation.h"
#include "translator/tool/TuneFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ml2k;

namespace {
constexpr StageName stages[] = {{Stage::Imported, EmitKind::Imported, "imported", "reading"},
                                {Stage::Canonical, EmitKind::Canonical, "canonical", "simplifying"},
                                {Stage::Scheduled, EmitKind::Scheduled, "scheduled", "forming kernels"},
                                {Stage::Nest, EmitKind::Nest, "nest", "planning memory"},
                                {Stage::Prepared, EmitKind::Prepared, "prepared", "settling the printed form"}};
} // namespace

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

int ml2k::report(Error error, ExitCode code, Progress &progress) {
  progress.clear();
  printMessage(terminalText(toString(std::move(error))));
  return code;
}

std::string ml2k::directoryOf(ToolOptions const &options) { return sys::path::parent_path(options.output).str(); }

static std::string dumpName(StageName const &stage) {
  return std::to_string(&stage - stages) + "-" + stage.name + ".mlir";
}

/// By this line a file may be replaced.
static std::string banner(StageName const &stage) { return (generatedBy + ": stage " + stage.name + "\n").str(); }

std::string ml2k::sidecarName(ToolOptions const &options) {
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
  std::string text = banner(stage);
  raw_string_ostream out(text);
  module->print(out, mlir::OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(64).enableDebugInfo(
                         options.debugInfo, /*prettyForm=*/true));
  Error error = writeFiles(options.dumpStages, {OutputFile{dumpName(stage), text}}, rules());
  return !error || (report(std::move(error), ExitOutput, progress), false);
}

/// What was measured, for the passes to give to kernels.
bool Translation::addTuning() {
  if (options.tune.empty())
    return true;
  Expected<mlir::ArrayAttr> entries = readTuneFile(options.tune, context);
  if (!entries)
    return mlir::emitError(mlir::UnknownLoc::get(&context)) << toString(entries.takeError()), false;
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      function->setAttr("nest.tune", *entries);
  return true;
}

/// Returns the exit code.
int Translation::readSchedule() {
  if (options.scheduleFile.empty())
    return ExitSuccess;
  auto file = readInput(options.scheduleFile);
  if (!file)
    return report(file.takeError(), ExitInput, progress);
  scheduleFile = std::make_unique<Input>(std::move(*file));
  diagnostics.add({scheduleFile->path, scheduleFile->fileName, scheduleFile->buffer->getBuffer()});
  return ExitSuccess;
}

bool Translation::reach(StageName const &stage) {
  progress.begin(stage.doing);
  if (stage.stage == Stage::Imported) {
    ScheduleText const schedule =
        scheduleFile ? ScheduleText{scheduleFile->fileName, scheduleFile->buffer->getBuffer()} : ScheduleText();
    module = importInput(input, options, schedule, context, externalFiles);
    return module && dumpStage(stage);
  }
  if (stage.stage == Stage::Prepared && !addTuning())
    return false;
  mlir::PassManager passes(&context);
  passes.enableVerifier(false); // after each pass, which is a sixth of the time: ml2kokkos-opt does that
  addStage(passes, stage.stage,
           {.winograd = options.winograd == "auto" && options.target != "device",
            .naive = options.schedule == "naive",
            .weights = options.weights,
            .target = options.target,
            .calls = options.calls});
  return succeeded(passes.run(*module)) && succeeded(mlir::verify(*module)) && dumpStage(stage);
}

bool Translation::writeReport() {
  if (options.reportJson.empty())
    return true;
  StringRef const folder = sys::path::parent_path(options.reportJson);
  Error error = writeFiles(folder.empty() ? "." : folder,
                           {OutputFile{sys::path::filename(options.reportJson).str(), reportJson(*module)}}, rules());
  return !error || (report(std::move(error), ExitOutput, progress), false);
}

int Translation::refuse(StageName const &stage) {
  diagnostics.finish();
  if (!diagnostics.sawError())
    printMessage(terminalText(input.path) + ": error: cannot be translated; the stage '" + stage.name +
                 "' gave no reason");
  return ExitInput;
}

int Translation::printReports() {
  printReport(*module, outs());
  if (!printsColumns(options))
    return ExitSuccess;
  auto const column = readColumn(*module, formsOf(options));
  diagnostics.finish();
  if (failed(column))
    return ExitInput;
  printFormReport(*column, formsOf(options), outs());
  return ExitSuccess;
}

int Translation::run() {
  if (int const code = readSchedule())
    return code;
  for (StageName const &stage : stages) {
    if (!reach(stage))
      return refuse(stage);
    if (options.emit == stage.emit)
      return printModule(stage);
    if (stage.stage == Stage::Scheduled && printsColumns(options) && options.emit != EmitKind::Nest &&
        options.emit != EmitKind::Prepared)
      break;
  }
  if (options.report)
    if (int const code = printReports())
      return code;
  if (!options.device.empty())
    printDeviceReport(*module, options.device, outs());
  if (!writeReport())
    return ExitOutput;
  if (options.emit == EmitKind::Cpp && options.output.empty())
    return ExitSuccess; // --report alone
  int const code = printCode();
  diagnostics.finish();
  return code;
}

std::variant<ModelView, int> Translation::view() {
  if (int const code = readSchedule())
    return code;
  for (StageName const &stage : stages) {
    if (!reach(stage))
      return refuse(stage);
    if (stage.stage == Stage::Scheduled && printsColumns(options))
      break;
  }
  progress.begin("printing");
  auto model = viewFiles(*module, options, input.fileName);
  diagnostics.finish();
  if (failed(model))
    return ExitInput;
  return std::move(*model);
}

//===--- Output ---------------------------------------------------------------------------------------------------===//

WriteRules ml2k::rulesOf(ToolOptions const &options) {
  return {{options.input == "-" ? "/dev/stdin" : options.input}, options.force};
}

WriteRules Translation::rules() const {
  WriteRules rules = rulesOf(options);
  append_range(rules.inputs, externalFiles);
  if (!options.scheduleFile.empty())
    rules.inputs.push_back(options.scheduleFile);
  return rules;
}

/// The first file to standard output; there is no place beside it for a sidecar.
static int print(std::vector<OutputFile> const &files) {
  outs() << files.front().contents;
  if (files.size() > 1)
    printMessage("ml2kokkos: warning: " + terminalText(files.back().name) +
                 ", which this code reads, is not written; --weights=embed puts the weights into the code");
  return ExitSuccess;
}

int Translation::write(std::vector<OutputFile> const &files) {
  if (!writesFiles(options))
    return print(files);
  if (Error error = writeFiles(directoryOf(options), files, rules()))
    return report(std::move(error), ExitOutput, progress);
  return ExitSuccess;
}

int Translation::printModule(StageName const &stage) {
  std::string text = banner(stage);
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
    printMessage(terminalText(message));
    return ExitOutput;
  }
  return options.emit == EmitKind::Json ? write(*files) : finishCode(*files);
}

int ml2k::verify(std::vector<OutputFile> const &files, ToolOptions const &options, Progress &progress) {
  progress.begin("compiling the result");
  std::vector<OutputFile> code;
  copy_if(files, std::back_inserter(code),
          [](OutputFile const &file) { return sys::path::extension(file.name) != ".safetensors"; });
  std::string const said = verifyFiles(code, directoryOf(options), options.verifier);
  if (said.empty())
    return ExitSuccess;
  progress.clear();
  errs() << terminalLines(said);
  printMessage(terminalText(options.output) +
               ": error: the printed code does not compile cleanly; nothing was written");
  return ExitVerify;
}

void ml2k::warnOfOrphan(std::vector<OutputFile> const &files, ToolOptions const &options) {
  if (hasOrphan(directoryOf(options), files, sidecarName(options)))
    printMessage(terminalText(options.output) + ": warning: " + terminalText(sidecarName(options)) +
                 " is no longer read by the printed code");
}

int Translation::finishCode(std::vector<OutputFile> const &files) {
  if (options.verify)
    if (int const code = verify(files, options, progress))
      return code;
  progress.clear();
  if (options.check)
    return checkFiles(directoryOf(options), files, sidecarName(options), outs()) ? ExitSuccess : ExitDifferent;
  int const code = write(files);
  if (code == ExitSuccess && writesFiles(options))
    warnOfOrphan(files, options);
  return code;
}

std::vector<std::string> ml2k::outputNames(ToolOptions const &options) {
  std::string const stem = sys::path::stem(options.output).str();
  std::vector<std::string> names = {sys::path::filename(options.output).str()};
  if (options.emit == EmitKind::Cpp)
    names.push_back(stem + ".hpp");
  for (auto const &[form, suffix] :
       {std::pair{"c", ".h"}, {"server", "_server.cpp"}, {"fortran", ".f90"}, {"runner", ".spec.json"}})
    if (options.emit == EmitKind::Cpp && options.forms.count(form))
      names.push_back(stem + suffix);
  if (options.emit == EmitKind::Cpp && options.emitTest)
    names.push_back(stem + "_test.cpp");
  if (options.emit == EmitKind::Cpp && options.weights == "file")
    names.push_back(sidecarName(options));
  return names;
}

/// The same questions that the writer will ask, before minutes of work.
static Error checkOutputs(ToolOptions const &options) {
  if (!writesFiles(options) || options.check)
    return Error::success();
  return checkWritable(directoryOf(options), outputNames(options), rulesOf(options));
}

static Error checkPlaces(ToolOptions const &options) {
  if (Error error = checkOutputs(options))
    return error;
  if (options.dumpStages.empty())
    return Error::success();
  if (std::error_code const error = sys::fs::create_directories(options.dumpStages))
    return createStringError(error, options.dumpStages + ": error: cannot be made: " + error.message());
  std::vector<std::string> names;
  transform(stages, std::back_inserter(names), dumpName);
  return checkWritable(options.dumpStages, names, rulesOf(options));
}

int ml2k::translate(ToolOptions const &options) {
  if (!options.blocks.empty())
    return translateShared(options);
  Progress progress(terminalText(sys::path::filename(options.input)));
  progress.begin("reading");
  auto input = readInput(options.input);
  if (!input)
    return report(input.takeError(), ExitInput, progress);
  if (Error error = checkPlaces(options))
    return report(std::move(error), ExitOutput, progress);
  return Translation(options, std::move(*input), progress).run();
}
