//===- Manual.h - the command line, described -----------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_MANUAL_H
#define ML2K_TOOL_MANUAL_H

#include "llvm/Support/raw_ostream.h"

#include <boost/program_options/options_description.hpp>

#include <string>
#include <vector>

namespace ml2k {

struct OptionGroup {
  std::string title;
  boost::program_options::options_description const *options;
};

/// What --help, the man page and the completion of shells are made of.
struct CommandLine {
  std::string version;
  std::string summary;
  std::string usage;
  std::string input;
  std::vector<std::pair<int, std::string>> exitCodes;
  std::vector<OptionGroup> groups;
};

void printHelp(CommandLine const &command, llvm::raw_ostream &out);

/// A page for man(1), section 1.
void printManual(CommandLine const &command, llvm::raw_ostream &out);

/// A completion for bash.
void printCompletion(CommandLine const &command, llvm::raw_ostream &out);

} // namespace ml2k

#endif
