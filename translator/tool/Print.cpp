//===- Print.cpp - a module in nest form to formatted files -------------------------------------------------------===//

#include "translator/tool/Print.h"

#include "translator/emit/Emit.h"
#include "translator/emit/forms/Forms.h"
#include "translator/ir/ReadBack.h"
#include "translator/output/Format.h"
#include "translator/output/Ownership.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ml2k;

static EmitOptions emitOptions(ToolOptions const &options, std::string const &modelFile) {
  EmitOptions result;
  result.nameSpace = options.nameSpace;
  result.stem = sys::path::stem(writesFiles(options) ? options.output : modelFile).str();
  result.modelFile = modelFile;
  result.regenerate = options.regenerate;
  result.license = options.license;
  result.tuneFile = sys::path::filename(options.tune).str();
  result.target = StringSwitch<Target>(options.target)
                      .Case("host", Target::Host)
                      .Case("device", Target::Device)
                      .Default(Target::Portable);
  result.weights = StringSwitch<WeightStorage>(options.weights)
                       .Case("embed", WeightStorage::Embed)
                       .Case("file", WeightStorage::File)
                       .Default(WeightStorage::Auto);
  result.locations = StringSwitch<LocationStyle>(options.locations)
                         .Case("none", LocationStyle::None)
                         .Case("plain", LocationStyle::Plain)
                         .Default(LocationStyle::Names);
  result.ordered = options.updates == "ordered";
  result.graph = options.graph;
  result.math = options.math == "std" ? MathLibrary::Std : MathLibrary::Fast;
  return result;
}

bool ml2k::printsColumns(ToolOptions const &options) { return options.forms != std::set<std::string>{"launch"}; }

Expected<OutputFile> ml2k::formatted(std::string code, StringRef name, ToolOptions const &options) {
  SmallString<256> path(sys::path::parent_path(options.output));
  sys::path::append(path, name);
  auto text = formatCode(std::move(code) + "\n", path, options.style);
  if (!text)
    return text.takeError();
  return OutputFile{name.str(), std::move(*text)};
}

static OutputFile sidecarFile(EmittedFiles const &emitted, std::string const &stem) {
  OutputFile file{stem + ".safetensors", {}};
  raw_string_ostream out(file.contents);
  writeSidecar(out, emitted.sidecar);
  return file;
}

/// Header and source as one text: the header stands where the source includes it.
static std::string joined(std::string const &header, std::string const &source) {
  StringRef const rest = StringRef(source).split("\n#include \"").second.split('\n').second;
  return header + "\n" + rest.ltrim('\n').str();
}

/// The view model with its mark.
static std::string marked(std::string const &json) {
  return ("{\n  \"" + generatorKey + "\": \"" + generatorName + "\"," + StringRef(json).drop_front()).str();
}

static Expected<std::vector<OutputFile>> formattedFiles(EmittedFiles &emitted, std::string const &stem,
                                                        ToolOptions const &options) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (!writesFiles(options)) {
    texts = {{stem + ".cpp", joined(emitted.header, emitted.source)}};
    emitted.extras.clear(); // nothing stands beside standard output
  } else {
    texts = {{stem + ".hpp", std::move(emitted.header)},
             {sys::path::filename(options.output).str(), std::move(emitted.source)}};
  }
  for (EmittedExtra &extra : emitted.extras)
    if (extra.isCpp)
      texts.emplace_back(stem + extra.suffix, std::move(extra.text));
  std::vector<OutputFile> files;
  for (auto &[name, text] : texts) {
    auto file = formatted(std::move(text), name, options);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  for (EmittedExtra &extra : emitted.extras)
    if (!extra.isCpp)
      files.push_back({stem + extra.suffix, std::move(extra.text)});
  return files;
}

/// Code, formatted, and the sidecar, if there is one.
static Expected<std::vector<OutputFile>> finishedFiles(EmittedFiles emitted, std::string const &stem,
                                                       ToolOptions const &options) {
  auto files = formattedFiles(emitted, stem, options);
  if (files && !emitted.sidecar.empty())
    files->push_back(sidecarFile(emitted, stem));
  return files;
}

Forms ml2k::formsOf(ToolOptions const &options) {
  auto const has = [&](char const *form) { return options.forms.count(form) != 0; };
  return {.launch = has("launch"),
          .team = has("team"),
          .thread = has("thread"),
          .rows = has("rows"),
          .runner = has("runner"),
          .c = has("c"),
          .fortran = has("fortran"),
          .server = has("server"),
          .test = options.emitTest,
          .halved = options.weightType == "bf16"};
}

static mlir::FailureOr<EmittedFiles> emitColumns(mlir::ModuleOp module, EmitOptions const &how,
                                                 ToolOptions const &options) {
  Forms const forms = formsOf(options);
  mlir::FailureOr<Column> column = readColumn(module, forms);
  return failed(column) ? mlir::FailureOr<EmittedFiles>() : emitForms(std::move(*column), how, forms);
}

/// A captured graph does not wait for its kernels.
static mlir::LogicalResult checkGraph(mlir::ModuleOp module) {
  mlir::WalkResult const walk = module.walk([](mlir::Operation *op) {
    if (!isReadBack(op) && !isHostNumber(op))
      return mlir::WalkResult::advance();
    op->emitError("--graph: forward() waits here for a number that its kernels compute, which one launch cannot");
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(walk.wasInterrupted());
}

/// What is prepared can be printed: a template without its value is a mistake of ours, and said.
static mlir::FailureOr<EmittedFiles> emitAll(mlir::ModuleOp module, EmitOptions const &how,
                                             ToolOptions const &options) {
  if (how.graph && failed(checkGraph(module)))
    return mlir::failure();
  try {
    return printsColumns(options) ? emitColumns(module, how, options) : emit(module, how);
  } catch (std::exception const &error) {
    return module.emitError(error.what());
  }
}

Expected<std::vector<OutputFile>> ml2k::printFiles(mlir::ModuleOp module, ToolOptions const &options,
                                                   std::string const &modelFile) {
  EmitOptions const how = emitOptions(options, modelFile);
  auto emitted = emitAll(module, how, options);
  if (failed(emitted))
    return createStringError(inconvertibleErrorCode(), "");
  if (options.emit == EmitKind::Json)
    return std::vector<OutputFile>{{sys::path::filename(options.output).str(), marked(emitted->json)}};
  return finishedFiles(std::move(*emitted), how.stem, options);
}

mlir::FailureOr<ModelView> ml2k::viewFiles(mlir::ModuleOp module, ToolOptions const &options,
                                           std::string const &modelFile) {
  EmitOptions const how = emitOptions(options, modelFile);
  if (!printsColumns(options))
    return viewModel(module, how);
  Forms const forms = formsOf(options);
  mlir::FailureOr<Column> column = readColumn(module, forms);
  return failed(column) ? mlir::FailureOr<ModelView>() : viewForms(std::move(*column), how, forms);
}

Expected<std::vector<OutputFile>> ml2k::printView(ModelView const &model, ToolOptions const &options) {
  return finishedFiles(model.render(), sys::path::stem(options.output).str(), options);
}
