//===- Message.cpp - one line of text for the user ----------------------------------------------------------------===//

#include "translator/tool/Message.h"

#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace ml2k;

namespace {
struct Severity {
  StringRef word;
  raw_ostream::Colors color;
};

constexpr Severity severities[] = {{"error: ", raw_ostream::RED},
                                   {"warning: ", raw_ostream::MAGENTA},
                                   {"remark: ", raw_ostream::BLUE},
                                   {"note: ", raw_ostream::CYAN}};
} // namespace

static bool isSet(char const *variable) {
  char const *const value = std::getenv(variable);
  return value && *value;
}

static bool terminalHasColors() {
  return isatty(STDERR_FILENO) && !isSet("NO_COLOR") && isSet("TERM") && StringRef(std::getenv("TERM")) != "dumb";
}

void ml2k::useColors(std::string const &when) {
  errs().enable_colors(when == "always" || (when == "auto" && terminalHasColors()));
}

/// The severity whose word comes first in the message, and where.
static std::pair<Severity const *, size_t> severityOf(StringRef message) {
  std::pair<Severity const *, size_t> first{nullptr, StringRef::npos};
  for (Severity const &severity : severities)
    for (size_t at = message.find(severity.word); at < first.second; at = message.find(severity.word, at + 1))
      if (at == 0 || message.substr(0, at).ends_with(": ")) {
        first = {&severity, at};
        break;
      }
  return first;
}

void ml2k::printMessage(StringRef message) {
  auto const [severity, at] = severityOf(message);
  if (!severity) {
    errs() << message << "\n";
    return;
  }
  raw_ostream &out = errs();
  out.changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true) << message.take_front(at);
  out.changeColor(severity->color, /*Bold=*/true) << severity->word;
  out.resetColor();
  bool const isBold = severity->word != "note: ";
  if (isBold)
    out.changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true);
  out << message.drop_front(at + severity->word.size());
  out.resetColor() << "\n";
}

void ml2k::printCaret() {
  errs().changeColor(raw_ostream::GREEN, /*Bold=*/true) << "^";
  errs().resetColor() << "\n";
}
