//===- Options.h - the command line of ml2kokkos --------------------------------------------------------*- C++ -*-===//
//
// docs/options.md describes every option and exit code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TOOL_OPTIONS_H
#define ML2K_TOOL_OPTIONS_H

#include "translator/output/Verify.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace ml2k {

enum ExitCode {
  ExitSuccess = 0,
  ExitDifferent = 1, ///< --check found differences
  ExitUsage = 2,     ///< the command line is wrong
  ExitInput = 3,     ///< the input cannot be read or translated
  ExitOutput = 4,    ///< the output cannot be written
  ExitVerify = 5,    ///< --verify: the printed code does not compile
  ExitInternal = 70  ///< a defect of ml2kokkos
};

/// The form in which the way through the tool ends.
enum class EmitKind { Imported, Canonical, Scheduled, Nest, Prepared, Json, Cpp };

struct ToolOptions {
  std::string input;
  std::vector<std::string> inputs; ///< of a common header of blocks, in order of their names
  std::string output; ///< "-": standard output; empty: the same, or nothing but the report; a folder for several inputs
  std::string blocks; ///< header beside the sources that holds their blocks; empty: each source has its own
  EmitKind emit = EmitKind::Cpp;

  std::string entry;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::string> operands;

  std::string nameSpace; ///< empty: from the name of the output
  std::string weights = "auto";
  std::string weightType = "f32";
  std::string target = "portable";
  std::string locations = "names";
  std::string math = "fast";
  std::string winograd = "auto";
  std::string schedule = "tuned";
  std::string scheduleFile; ///< sequences of the transform dialect that run first; empty: those of the input, if any
  std::string updates = "atomic";
  std::string calls = "none";
  std::set<std::string> forms = {"launch"};
  std::string license;
  std::string tune; ///< file of what ml2kokkos-tune measured; empty: none
  std::string color = "auto";
  std::string style = "file";
  std::string regenerate; ///< the command line that prints the same files again, for the banner

  VerifyOptions verifier;
  std::string dumpStages;
  std::string reportJson; ///< file for the report as JSON
  bool graph = false;     ///< the header has forward() as one launch
  bool check = false;
  bool force = false; ///< replaces files that ml2kokkos did not write
  bool verify = false;
  bool emitTest = false;
  bool report = false;
  std::string device; ///< whose tiles the report shows; empty: none
  bool debugInfo = false;
};

/// Whether there are files to write; else what is printed goes to standard output.
inline bool writesFiles(ToolOptions const &options) { return !options.output.empty() && options.output != "-"; }

/// What to do, or the exit code with which to end at once (--help, a wrong command line; text was printed).
std::variant<ToolOptions, int> parseCommandLine(int argc, char **argv);

} // namespace ml2k

#endif
