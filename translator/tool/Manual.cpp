//===- Manual.cpp - the command line, described -------------------------------------------------------------------===//

#include "translator/tool/Manual.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <sstream>

using namespace llvm;
using namespace ml2k;
namespace po = boost::program_options;

namespace {
/// One option, taken apart.
struct Entry {
  SmallVector<std::string> names; ///< "-o", "--output"
  std::string value;              ///< "FILE.cpp"; empty for a switch
  std::string text;
};
} // namespace

static Entry entryOf(po::option_description const &option) {
  Entry entry{{}, option.format_parameter(), option.description()};
  SmallVector<StringRef> words;
  std::string const formatted = option.format_name(); // "-o [ --output ]"
  SplitString(formatted, words);
  for (StringRef word : words)
    if (word.starts_with("-"))
      entry.names.push_back(word.str());
  return entry;
}

//===--- --help ---------------------------------------------------------------------------------------------------===//

void ml2k::printHelp(CommandLine const &command, raw_ostream &out) {
  std::ostringstream options;
  for (OptionGroup const &group : command.groups)
    options << "\n" << group.title << ":\n" << *group.options;
  out << command.version << ": " << command.summary << "\n\nUsage: " << command.usage << "\n\n"
      << command.input << "\n"
      << options.str() << "\nExit codes:\n";
  for (auto const &[code, meaning] : command.exitCodes)
    out << "  " << left_justify(std::to_string(code), 4) << meaning << "\n";
}

//===--- The man page ---------------------------------------------------------------------------------------------===//

/// Text as roff reads it: `\` and `-` mean something, and so do `.` and `'` that begin a line.
static std::string roff(StringRef text) {
  std::string out;
  for (char c : text) {
    bool const beginsLine = out.empty() || out.back() == '\n';
    if (beginsLine && (c == '.' || c == '\''))
      out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

static void printEntry(po::option_description const &option, raw_ostream &out) {
  Entry const entry = entryOf(option);
  out << ".TP\n";
  ListSeparator comma;
  for (std::string const &name : entry.names)
    out << comma << "\\fB" << roff(name) << "\\fR";
  if (!entry.value.empty())
    out << " \\fI" << roff(entry.value) << "\\fR";
  out << "\n" << roff(entry.text) << "\n";
}

void ml2k::printManual(CommandLine const &command, raw_ostream &out) {
  out << ".TH ML2KOKKOS 1 \"\" \"" << roff(command.version) << "\" \"User Commands\"\n.SH NAME\nml2kokkos \\- "
      << roff(command.summary) << "\n.SH SYNOPSIS\n\\fB" << roff(command.usage) << "\\fR\n.SH DESCRIPTION\n"
      << roff(command.input) << "\n.SH OPTIONS\n";
  for (OptionGroup const &group : command.groups) {
    out << ".SS " << group.title << "\n";
    for (auto const &option : group.options->options())
      printEntry(*option, out);
  }
  out << ".SH EXIT STATUS\n";
  for (auto const &[code, meaning] : command.exitCodes)
    out << ".TP\n" << code << "\n" << roff(meaning) << "\n";
}

//===--- The completion -------------------------------------------------------------------------------------------===//

/// How bash completes a value: one of the words of `a|b|c`, folders, files, or nothing.
static std::string completionOf(StringRef value) {
  if (value == "DIR")
    return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$current\"))";
  if (value.starts_with("FILE"))
    return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))";
  if (!value.contains('|'))
    return ":";
  SmallVector<StringRef> words;
  value.split(words, '|');
  erase(words, "...");
  return "COMPREPLY=($(compgen -W '" + join(words, " ") + "' -- \"$current\"))";
}

void ml2k::printCompletion(CommandLine const &command, raw_ostream &out) {
  out << "# bash completion for ml2kokkos, printed by ml2kokkos --print-completion\n_ml2kokkos() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  COMPREPLY=()\n"
         "  # bash takes --name=value for three words\n"
         "  if [[ $current == = ]]; then current=; fi\n"
         "  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  case $previous in\n";
  std::string all;
  for (OptionGroup const &group : command.groups)
    for (auto const &option : group.options->options()) {
      Entry const entry = entryOf(*option);
      all += (all.empty() ? "" : " ") + join(entry.names, " ");
      if (!entry.value.empty())
        out << "    " << join(entry.names, "|") << ") " << completionOf(entry.value) << "; return ;;\n";
    }
  out << "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W '"
      << all
      << "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  compopt -o filenames\n"
         "  COMPREPLY=($(compgen -d -- \"$current\"; compgen -f -- \"$current\" | grep -E '\\.(onnx|mlir|mlirbc)$'))\n"
         "}\n"
         "complete -F _ml2kokkos ml2kokkos\n";
}
