//===- RegenerateCommand.cpp - the command in the banner of printed files -----------------------------------------===//

#include "translator/tool/RegenerateCommand.h"

#include "translator/text/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace ml2k;

static std::string shellQuoted(llvm::StringRef text) {
  bool const isPlain =
      llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || llvm::StringRef("._-+=:/,").contains(c); });
  if (isPlain && !text.empty() && commentText(text) == text)
    return text.str();
  std::string out = "'"; // no backslash: a comment cannot hold one, and what it spells out stays between quotes
  for (char c : text)
    out += c == '\'' ? "'\"'\"'" : std::string(1, c);
  return out + "'";
}

static std::string fileName(std::string const &path) { return llvm::sys::path::filename(path).str(); }

std::string ml2k::commandOf(ToolOptions const &options) {
  std::string command = "ml2kokkos";
  for (std::string const &input : options.inputs)
    command += " " + shellQuoted(llvm::sys::path::filename(input));
  if (options.blocks.empty())
    command += " " + shellQuoted(llvm::sys::path::filename(options.input)) + " -o " +
               shellQuoted(llvm::sys::path::filename(options.output));
  else
    command += " --blocks=" + shellQuoted(options.blocks) + " -o .";
  auto add = [&](char const *name, std::string const &value, char const *standard) {
    if (value != standard)
      command += " " + shellQuoted(std::string("--") + name + "=" + value);
  };
  add("entry", options.entry, "");
  for (auto const &[name, extent] : options.dims)
    command += " --dim " + shellQuoted(name + "=" + std::to_string(extent));
  for (auto const &[name, values] : options.operands)
    command += " --operand " + shellQuoted(name + "=" + values);
  add("namespace", options.nameSpace, "");
  bool const isHalved = options.weightType == "bf16";
  add("weights", !isHalved ? options.weights : options.weights == "auto" ? "bf16" : options.weights + ",bf16", "auto");
  add("target", options.target, "portable");
  add("style", options.style, "file");
  add("license", options.license, "");
  add("locations", options.locations, "names");
  add("math", options.math, "fast");
  add("winograd", options.winograd, "auto");
  add("schedule", options.scheduleFile.empty() ? options.schedule : fileName(options.scheduleFile), "tuned");
  add("updates", options.updates, "atomic");
  add("calls", options.calls, "none");
  add("form", llvm::join(options.forms, ","), "launch");
  add("tune", fileName(options.tune), "");
  if (options.emitTest)
    command += " --emit-test";
  if (options.graph)
    command += " --graph";
  return command;
}
