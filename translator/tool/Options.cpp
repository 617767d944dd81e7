//===- Options.cpp - the command line of ml2kokkos ----------------------------------------------------------------===//

#include "translator/tool/Options.h"

#include "translator/emit/SharedBlocks.h"
#include "translator/text/Text.h"
#include "translator/tool/DeviceReport.h"
#include "translator/tool/Manual.h"
#include "translator/tool/Message.h"
#include "translator/tool/RegenerateCommand.h"
#include "translator/tool/Supported.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <boost/program_options.hpp>

#include <algorithm>
#include <optional>
#include <utility>

using namespace ml2k;
namespace po = boost::program_options;

namespace {
struct UsageError {
  std::string message;
};

struct Choice {
  char const *option;
  std::vector<std::string> values;
};

Choice const emitKinds{"emit", {"imported", "canonical", "scheduled", "nest", "prepared", "json", "cpp"}};
Choice const weightTypes{"weights", {"f32", "bf16"}};
Choice const targets{"target", {"portable", "host", "device"}};
Choice const mathLibraries{"math", {"fast", "std"}};
Choice const winogradUses{"winograd", {"auto", "off"}};
Choice const schedules{"schedule", {"tuned", "naive"}};
Choice const updateOrders{"updates", {"atomic", "ordered"}};
Choice const libraries{"calls", {"none", "kokkoskernels"}};
Choice const formKinds{"form", {"launch", "team", "thread", "rows", "runner", "c", "fortran", "server"}};
Choice const colorUses{"color", {"auto", "always", "never"}};
Choice const locationStyles{"locations", {"names", "none", "plain"}};

constexpr unsigned helpWidth = 110;

/// The groups of --help.
struct Groups {
  po::options_description input{helpWidth, helpWidth - 40};
  po::options_description output{helpWidth, helpWidth - 40};
  po::options_description code{helpWidth, helpWidth - 40};
  po::options_description look{helpWidth, helpWidth - 40};
  po::options_description general{helpWidth, helpWidth - 40};
  po::options_description hidden;
};
} // namespace

//===--- What there is --------------------------------------------------------------------------------------------===//

static std::unique_ptr<Groups> describeOptions(ToolOptions &options) {
  auto groups = std::make_unique<Groups>();
  auto text = [](std::string &value, char const *name) { return po::value(&value)->value_name(name); };
  groups->input.add_options()("entry", text(options.entry, "NAME"),
                              "function of an MLIR module to translate (default: the only public one)")(
      "dim", po::value<std::vector<std::string>>()->value_name("NAME=N"),
      "give a symbolic dimension an extent; may be repeated")(
      "operand", po::value<std::vector<std::string>>()->value_name("NAME=V,V,..."),
      "make an input of an ONNX model a constant: a shape, an axis, a count; may be repeated");
  groups->output.add_options()(
      "output,o", text(options.output, "FILE.cpp"),
      "source to write; header and weights go beside it; -: header and source as one text to standard output; with "
      "--blocks the folder of all files")("force", po::bool_switch(&options.force),
                                          "replace files that ml2kokkos did not write")(
      "check", po::bool_switch(&options.check),
      "write nothing; print how the files differ from what would be written, exit 1 if they do")(
      "verify", po::bool_switch(&options.verify),
      "compile the result (syntax only) with Kokkos' headers before writing it; flags for the compiler go after --")(
      "emit-test", po::bool_switch(&options.emitTest),
      "also write FILE_test.cpp, which compares a build with values that are computed now")(
      "kokkos", text(options.verifier.kokkos, "DIR"), "where Kokkos is installed, for --verify (default: Kokkos_ROOT)");
  groups->code.add_options()("blocks", text(options.blocks, "FILE.hpp"),
                             "print the building blocks of all INPUTs into this header beside the sources (default: "
                             "each source has its own)")(
      "namespace", text(options.nameSpace, "NAME"),
      "namespace of the printed code, may be nested (default: the name of the output)")(
      "weights", text(options.weights, "auto|embed|file|bf16"),
      "where weights go; auto: a file beside the source above 1 KiB. bf16: forms by columns store them as bfloat16")(
      "target", text(options.target, "portable|host|device"), "which back ends the code serves")(
      "style", text(options.style, "file|llvm|..."),
      "clang-format style; file: the .clang-format found beside the output")("license", text(options.license, "SPDX"),
                                                                             "SPDX expression for the first lines")(
      "math", text(options.math, "fast|std"),
      "exp, log, tanh, erf of float, exp and log of double in loops that go along vectors: in plain arithmetic that "
      "compilers vectorise, or the C library's")(
      "winograd", text(options.winograd, "auto|off"),
      "3 x 3 convolutions by fewer multiplications where that pays, or never")(
      "schedule", text(options.schedule, "tuned|naive|FILE.mlir"),
      "naive: every operation a plain loop nest, some hundred times slower; to compare with. A file: its "
      "transform.named_sequence @__transform_main runs before the tuned schedule")(
      "updates", text(options.updates, "atomic|ordered"),
      "how devices add to elements that an index array names; ordered: the same bits in every run, less parallel")(
      "calls", text(options.calls, "none|kokkoskernels"),
      "hand large products of matrices, and of a sparse matrix and a vector, to KokkosBlas and KokkosSparse")(
      "form", po::value<std::string>()->value_name("launch|team|thread|rows|runner|c|fortran|server"),
      "how the network is called, several at once by commas: for all entries of the batch, or inside your own kernel "
      "by a "
      "team or a thread for one of them")("tune", text(options.tune, "FILE.tune.json"),
                                          "numbers of building blocks that ml2kokkos-tune measured")(
      "graph", po::bool_switch(&options.graph),
      "also print a class that launches all kernels of forward() at once: a captured graph of CUDA")(
      "locations", text(options.locations, "names|none|plain"),
      "what comments say of the model's nodes: operators with names, nothing, operators");
  groups->look.add_options()(
      "emit", po::value<std::string>()->value_name("imported|canonical|scheduled|nest|prepared|json|cpp"),
      "end at a stage and print it (default: cpp)")("debug-info", po::bool_switch(&options.debugInfo),
                                                    "print locations with --emit")(
      "dump-stages", text(options.dumpStages, "DIR"), "write the module after every stage, large constants left out")(
      "report", po::bool_switch(&options.report),
      "print a table of the kernels: pattern, shapes, work, traffic, buffers")(
      "device", text(options.device, "a100|h100|h200|..."),
      "with --report: the tiles that products have on this device, and why")(
      "report-json", text(options.reportJson, "FILE.json"), "write that as JSON, with the live ranges of buffers")(
      "print-supported-ops", "list the operators that can be read");
  groups->general.add_options()(
      "color", text(options.color, "auto|always|never"),
      "colours in messages; auto: on a terminal, unless the environment says NO_COLOR or TERM=dumb")(
      "help,h", "print this")("version", "print the version");
  groups->hidden.add_options()("input", po::value<std::vector<std::string>>())("print-manual", "for man(1)")(
      "print-completion", "for bash");
  return groups;
}

static std::vector<OptionGroup> visibleGroups(Groups const &groups) {
  return {{"Input", &groups.input},
          {"Output", &groups.output},
          {"Printed code", &groups.code},
          {"Looking inside", &groups.look},
          {"General", &groups.general}};
}

static CommandLine describeCommand(Groups const &groups) {
  return {"ml2kokkos " ML2K_VERSION,
          "translates a model into Kokkos C++",
          "ml2kokkos INPUT -o FILE.cpp [options] [-- compiler flags for --verify]",
          "INPUT is an ONNX model, MLIR text or bytecode, or - for standard input; several with --blocks.",
          {{ExitSuccess, "done"},
           {ExitDifferent, "--check found differences"},
           {ExitUsage, "wrong command line"},
           {ExitInput, "input refused"},
           {ExitOutput, "output not written"},
           {ExitVerify, "--verify failed"},
           {ExitInternal, "a defect of ml2kokkos"}},
          visibleGroups(groups)};
}

//===--- Checks ---------------------------------------------------------------------------------------------------===//

static size_t checkChoice(Choice const &choice, std::string const &value) {
  auto const found = std::find(choice.values.begin(), choice.values.end(), value);
  if (found == choice.values.end())
    throw UsageError{std::string("--") + choice.option + "=" + value + ": one of " + llvm::join(choice.values, ", ")};
  return found - choice.values.begin();
}

static void readDim(std::string const &text, std::map<std::string, int64_t> &dims) {
  auto const [name, value] = llvm::StringRef(text).rsplit('=');
  int64_t extent = 0;
  if (name.empty() || value.data() == nullptr || name.size() == text.size())
    throw UsageError{"--dim " + text + ": write NAME=N"};
  if (value.getAsInteger(10, extent) || extent < 1)
    throw UsageError{"--dim " + text + ": '" + value.str() + "' is not a positive number"};
  auto const [place, isNew] = dims.emplace(name.str(), extent);
  if (!isNew && place->second != extent)
    throw UsageError{"--dim " + text + ": '" + name.str() + "' was given another extent before"};
}

static void readForms(std::string const &text, std::set<std::string> &forms) {
  forms.clear();
  for (llvm::StringRef form : llvm::split(text, ','))
    forms.insert(formKinds.values[checkChoice(formKinds, form.str())]);
  bool const isRunner = forms.count("runner") || forms.count("server");
  bool const isOther = forms.count("team") || forms.count("thread") || forms.count("rows");
  // A Fortran module calls C functions, which call the launch, or the class
  if (forms.count("fortran"))
    forms.insert("c");
  bool const callsLaunch = forms.count("launch") != 0;
  if ((isRunner && (isOther || callsLaunch)) || (forms.count("c") && isOther && !callsLaunch))
    throw UsageError{"--form=" + text +
                     ": 'runner' and its interfaces are files of their own; 'c' and 'fortran' go with "
                     "'launch', too"};
  if ((forms.count("c") && !callsLaunch) || forms.count("server"))
    forms.insert("runner");
}

/// A place, a type, or both.
static void readWeights(ToolOptions &options) {
  std::string const given = std::exchange(options.weights, "auto");
  for (llvm::StringRef part : llvm::split(given, ',')) {
    bool const isType = llvm::is_contained(weightTypes.values, part);
    Choice const all{"weights", {"auto", "embed", "file", "f32", "bf16"}};
    checkChoice(all, part.str());
    (isType ? options.weightType : options.weights) = part.str();
  }
}

/// One of ours, or the file of a schedule that runs before it.
static void readSchedule(ToolOptions &options) {
  llvm::StringRef const extension = llvm::sys::path::extension(options.schedule);
  if (extension == ".mlir" || extension == ".mlirbc")
    options.scheduleFile = std::exchange(options.schedule, "tuned");
  if (llvm::is_contained(schedules.values, options.schedule))
    return;
  throw UsageError{"--schedule=" + options.schedule + ": one of tuned, naive, or a file FILE.mlir"};
}

static void checkWeights(ToolOptions const &options) {
  if (options.emitTest && options.forms == std::set<std::string>{"launch"})
    throw UsageError{"--emit-test records values of networks by columns, such as --form=launch,team; scripts/verify.py "
                     "compares others"};
  if (options.emitTest && !writesFiles(options))
    throw UsageError{"--emit-test writes several files: give -o FILE.cpp"};
  if (options.weightType == "bf16" && options.forms == std::set<std::string>{"launch"})
    throw UsageError{"--weights=bf16 is for networks by columns, such as --form=launch,team or --form=runner; a model "
                     "that has its weights in bfloat16 keeps them so"};
}

static void readOperand(std::string const &text, std::map<std::string, std::string> &operands) {
  auto const [name, value] = llvm::StringRef(text).rsplit('=');
  if (name.empty() || name.size() == text.size())
    throw UsageError{"--operand " + text + ": write NAME=V,V,..."};
  if (!operands.emplace(name.str(), value.str()).second)
    throw UsageError{"--operand " + text + ": '" + name.str() + "' was given a value before"};
}

static bool isIdentifier(llvm::StringRef name) {
  static llvm::StringSet<> const reserved = {
      "alignas",  "and",   "asm",      "auto",     "bool",     "break",     "case",     "catch",
      "char",     "class", "const",    "continue", "default",  "delete",    "do",       "double",
      "else",     "enum",  "explicit", "export",   "extern",   "false",     "float",    "for",
      "friend",   "goto",  "if",       "inline",   "int",      "long",      "mutable",  "namespace",
      "new",      "not",   "operator", "or",       "private",  "protected", "public",   "register",
      "return",   "short", "signed",   "sizeof",   "static",   "std",       "struct",   "switch",
      "template", "this",  "throw",    "true",     "try",      "typedef",   "typename", "union",
      "unsigned", "using", "virtual",  "void",     "volatile", "while",     "xor",      "Kokkos"};
  return !name.empty() && !llvm::isDigit(name.front()) && !reserved.contains(name) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }) && !name.contains("__") &&
         !(name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1]));
}

static void checkNamespace(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, "::");
  for (llvm::StringRef part : parts)
    if (!isIdentifier(part))
      throw UsageError{"--namespace=" + name.str() + ": '" + part.str() + "' is not a name that C++ allows here"};
}

static void checkStandardOutput(ToolOptions const &options) {
  bool const isAsked = options.report || !options.reportJson.empty();
  if (options.output.empty() && (!isAsked || options.check || options.verify))
    throw UsageError{"give the source to write with -o FILE.cpp, or print it with -o -"};
  if (options.output == "-" && options.check)
    throw UsageError{"--check compares files: give the source with -o FILE.cpp"};
  if (options.output == "-" && options.report)
    throw UsageError{"--report and -o - both print to standard output; leave -o - out, or give -o FILE.cpp"};
  if (options.output == "-" && options.weights == "file")
    throw UsageError{"--weights=file writes a file beside the source: give its name with -o FILE.cpp"};
}

static void checkOutput(ToolOptions const &options) {
  if (!options.reportJson.empty() && llvm::sys::path::extension(options.reportJson) != ".json")
    throw UsageError{"--report-json=" + options.reportJson + ": the name of the file ends in .json"};
  if (options.emit != EmitKind::Cpp) {
    if (options.check || options.verify)
      throw UsageError{std::string(options.check ? "--check" : "--verify") + " works on --emit=cpp only"};
    return;
  }
  for (char const *form : {"c", "server"})
    if (!writesFiles(options) && !options.output.empty() && options.forms.count(form))
      throw UsageError{std::string("--form=") + form + " writes several files: give -o FILE.cpp"};
  if (!writesFiles(options))
    return checkStandardOutput(options);
  llvm::StringRef const extension = llvm::sys::path::extension(options.output);
  if (extension != ".cpp" && extension != ".cc" && extension != ".cxx")
    throw UsageError{"-o " + options.output + ": the name of a source ends in .cpp, .cc or .cxx"};
  std::string const stem = llvm::sys::path::stem(options.output).str();
  if (literalText(stem) != stem)
    throw UsageError{"-o " + options.output + ": the source includes its header, and #include cannot write this name"};
}

/// The same files whatever order they are named in.
static std::vector<std::string> sortedByName(std::vector<std::string> inputs) {
  llvm::sort(inputs, [](std::string const &a, std::string const &b) {
    return std::pair(llvm::sys::path::filename(a), llvm::StringRef(a)) <
           std::pair(llvm::sys::path::filename(b), llvm::StringRef(b));
  });
  return inputs;
}

/// What belongs to one model, or to other texts.
static void checkBlocksAlone(ToolOptions const &options) {
  std::pair<bool, char const *> const others[] = {
      {options.emit != EmitKind::Cpp, "--emit: it shares code of --emit=cpp only"},
      {options.forms.count("runner") || options.forms.count("server"),
       "--form=runner and its interfaces: these need no blocks of others"},
      {!options.nameSpace.empty(), "--namespace: every model has the namespace of its file"},
      {!options.dumpStages.empty(), "--dump-stages: look into one model at a time"},
      {options.report || !options.reportJson.empty(), "--report: look into one model at a time"}};
  for (auto const &[isGiven, what] : others)
    if (isGiven)
      throw UsageError{std::string("--blocks goes without ") + what};
}

/// Files and namespaces of one run must not meet.
static void checkBlocksNames(ToolOptions const &options) {
  std::map<std::string, std::string> files = {{llvm::sys::path::stem(options.blocks).str(), "--blocks"}};
  std::map<std::string, std::string> spaces = {{blocksNamespace(options.blocks), "--blocks"}};
  for (std::string const &input : options.inputs) {
    std::string const stem = llvm::sys::path::stem(input).str();
    if (input == "-" || literalText(stem) != stem)
      throw UsageError{"--blocks names the files of a model after it, which '" + input + "' does not allow"};
    if (auto const [other, isNew] = files.emplace(stem, input); !isNew)
      throw UsageError{"'" + input + "' and '" + other->second + "' would both be written to " + stem + ".hpp"};
    std::string const space = blocksNamespace(stem + ".hpp");
    if (auto const [other, isNew] = spaces.emplace(space, input); !isNew)
      throw UsageError{"'" + input + "' and '" + other->second + "' would both have the namespace '" + space + "'"};
  }
}

static void checkBlocks(ToolOptions const &options) {
  llvm::StringRef const name = options.blocks, stem = llvm::sys::path::stem(name);
  if (llvm::sys::path::filename(name) != name || llvm::sys::path::extension(name) != ".hpp" || stem.empty())
    throw UsageError{"--blocks=" + options.blocks + ": the name of a header, FILE.hpp, that goes beside the sources"};
  if (literalText(stem) != stem)
    throw UsageError{"--blocks=" + options.blocks + ": the sources include it, and #include cannot write this name"};
  if (!writesFiles(options))
    throw UsageError{"--blocks writes several files: give their folder with -o FOLDER"};
  checkBlocksAlone(options);
  checkBlocksNames(options);
}

static void checkDevice(ToolOptions const &options) {
  if (options.device.empty())
    return;
  checkChoice({"device", deviceNames()}, options.device);
  if (!options.report)
    throw UsageError{"--device=" + options.device + " says for which device --report shows the tiles; give --report"};
}

static void checkLicense(llvm::StringRef license) {
  if (!llvm::all_of(license, [](char c) { return llvm::isAlnum(c) || llvm::StringRef(".-+() ").contains(c); }))
    throw UsageError{"--license=" + license.str() + ": not an SPDX expression, such as MIT or Apache-2.0"};
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

static std::optional<std::string> closestOption(Groups const &groups, llvm::StringRef given) {
  std::optional<std::string> best;
  unsigned distance = 4;
  for (OptionGroup const &group : visibleGroups(groups))
    for (auto const &option : group.options->options()) {
      unsigned const d = given.edit_distance(option->long_name(), true, distance);
      if (d < distance) {
        distance = d;
        best = option->long_name();
      }
    }
  return best;
}

static std::string unknownOption(Groups const &groups, std::string const &name) {
  llvm::StringRef const bare = llvm::StringRef(name).ltrim('-').split('=').first;
  auto const close = closestOption(groups, bare);
  return "unknown option '" + name + "'" + (close ? "; did you mean '--" + *close + "'?" : "; see --help");
}

static po::variables_map readArguments(Groups const &groups, std::vector<std::string> const &arguments) {
  po::options_description all;
  for (OptionGroup const &group : visibleGroups(groups))
    all.add(*group.options);
  all.add(groups.hidden);
  po::positional_options_description positions;
  positions.add("input", -1);
  namespace style = po::command_line_style;
  int const manners = style::allow_long | style::long_allow_adjacent | style::long_allow_next | style::allow_short |
                      style::allow_dash_for_short | style::short_allow_adjacent | style::short_allow_next;
  po::variables_map values;
  po::store(po::command_line_parser(arguments).options(all).positional(positions).style(manners).run(), values);
  po::notify(values);
  return values;
}

static void finish(ToolOptions &options, po::variables_map const &values) {
  if (!values.count("input"))
    throw UsageError{"no input; usage: ml2kokkos INPUT -o FILE.cpp (see --help)"};
  auto const inputs = values["input"].as<std::vector<std::string>>();
  if (inputs.size() > 1 && options.blocks.empty())
    throw UsageError{"one input at a time; '" + inputs[1] +
                     "' is a second one (several share a header of building blocks: --blocks=FILE.hpp)"};
  options.input = inputs.front();
  if (!options.blocks.empty())
    options.inputs = sortedByName(inputs);
  if (values.count("emit"))
    options.emit = static_cast<EmitKind>(checkChoice(emitKinds, values["emit"].as<std::string>()));
  if (values.count("dim"))
    for (std::string const &dim : values["dim"].as<std::vector<std::string>>())
      readDim(dim, options.dims);
  if (values.count("operand"))
    for (std::string const &operand : values["operand"].as<std::vector<std::string>>())
      readOperand(operand, options.operands);
  readWeights(options);
  checkChoice(targets, options.target);
  checkChoice(mathLibraries, options.math);
  checkChoice(winogradUses, options.winograd);
  readSchedule(options);
  checkChoice(updateOrders, options.updates);
  checkChoice(libraries, options.calls);
  checkDevice(options);
  checkChoice(locationStyles, options.locations);
  checkChoice(colorUses, options.color);
  useColors(options.color);
  if (values.count("form"))
    readForms(values["form"].as<std::string>(), options.forms);
  checkWeights(options);
  if (options.graph && options.forms != std::set<std::string>{"launch"})
    throw UsageError{"--graph is for --form=launch, the default: other forms are called inside one kernel"};
  if (!options.tune.empty() && (options.forms != std::set<std::string>{"launch"} || !options.blocks.empty()))
    throw UsageError{"--tune is for --form=launch, the default, of a file with its own blocks"};
  if (!options.nameSpace.empty())
    checkNamespace(options.nameSpace);
  checkLicense(options.license);
  if (!options.blocks.empty()) {
    checkBlocks(options);
    options.regenerate = commandOf(options) + "     (verify: add --check)";
    return;
  }
  checkOutput(options);
  options.regenerate = commandOf(options) + (writesFiles(options) ? "     (verify: add --check)" : "");
}

/// What is asked for instead of a translation.
static bool printsAbout(Groups const &groups, po::variables_map const &values) {
  using Print = void (*)(Groups const &);
  static constexpr std::pair<char const *, Print> answers[] = {
      {"help", [](Groups const &groups) { printHelp(describeCommand(groups), llvm::outs()); }},
      {"print-manual", [](Groups const &groups) { printManual(describeCommand(groups), llvm::outs()); }},
      {"print-completion", [](Groups const &groups) { printCompletion(describeCommand(groups), llvm::outs()); }},
      {"version",
       [](Groups const &) { llvm::outs() << "ml2kokkos " ML2K_VERSION " (LLVM " LLVM_VERSION_STRING ")\n"; }},
      {"print-supported-ops", [](Groups const &) { printSupportedOps(llvm::outs()); }}};
  for (auto const &[option, print] : answers)
    if (values.count(option))
      return print(groups), true;
  return false;
}

static std::variant<ToolOptions, int> parse(Groups const &groups, ToolOptions &options,
                                            std::vector<std::string> const &arguments) {
  po::variables_map const values = readArguments(groups, arguments);
  if (printsAbout(groups, values))
    return ExitSuccess;
  finish(options, values);
  return options;
}

std::variant<ToolOptions, int> ml2k::parseCommandLine(int argc, char **argv) {
  useColors("auto");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  ToolOptions options;
  auto const end = std::find(arguments.begin(), arguments.end(), "--");
  if (end != arguments.end())
    options.verifier.flags.assign(end + 1, arguments.end());
  arguments.erase(end, arguments.end());
  auto const groups = describeOptions(options);
  std::string message;
  try {
    return parse(*groups, options, arguments);
  } catch (UsageError const &error) {
    message = error.message;
  } catch (po::unknown_option const &error) {
    message = unknownOption(*groups, error.get_option_name());
  } catch (po::error const &error) {
    message = error.what();
  }
  printMessage("ml2kokkos: error: " + terminalText(message));
  return ExitUsage;
}
