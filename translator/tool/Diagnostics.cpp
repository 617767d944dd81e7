//===- Diagnostics.cpp - what the user is told --------------------------------------------------------------------===//

#include "translator/tool/Diagnostics.h"

#include "translator/text/Text.h"
#include "translator/tool/Message.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <vector>

using namespace llvm;
using namespace ml2k;

static constexpr int mostErrors = 100;
static constexpr size_t longestLine = 160;
static constexpr size_t longestConstant = 60;
static constexpr size_t longestMessage = 2000;

//===--- Messages -------------------------------------------------------------------------------------------------===//

/// Where the bracket that opens at `open` closes; npos if it does not.
static size_t closing(StringRef text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '<';
    depth -= text[i] == '>';
    if (depth == 0)
      return i;
  }
  return StringRef::npos;
}

std::string ml2k::withoutLargeConstants(std::string message) {
  for (size_t at = message.find("dense"); at != std::string::npos; at = message.find("dense", at + 1)) {
    size_t const open = message.find('<', at);
    size_t const close = open == std::string::npos ? StringRef::npos : closing(message, open);
    if (close == StringRef::npos && open != std::string::npos && message.size() - open > longestConstant)
      message.replace(open + 1, std::string::npos, "...");
    else if (close != StringRef::npos && close - open > longestConstant)
      message.replace(open + 1, close - open - 1, "...");
  }
  if (message.size() > longestMessage)
    message.replace(longestMessage, std::string::npos, "...");
  return message;
}

//===--- Places ---------------------------------------------------------------------------------------------------===//

static void findNames(mlir::Location location, SmallVectorImpl<StringRef> &names) {
  if (auto const named = dyn_cast<mlir::NameLoc>(location)) {
    names.push_back(named.getName());
  } else if (auto const fused = dyn_cast<mlir::FusedLoc>(location)) {
    for (mlir::Location part : fused.getLocations())
      findNames(part, names);
  } else if (auto const call = dyn_cast<mlir::CallSiteLoc>(location)) {
    findNames(call.getCallee(), names);
  }
}

static std::optional<mlir::FileLineColLoc> findLine(mlir::Location location) {
  std::optional<mlir::FileLineColLoc> found;
  location->walk([&](mlir::Location part) {
    auto const line = dyn_cast<mlir::FileLineColLoc>(part);
    if (!line || line.getLine() == 0)
      return mlir::WalkResult::advance();
    found = line;
    return mlir::WalkResult::interrupt();
  });
  return found;
}

/// The nodes of the model that a location names; the file itself is named before them.
static std::string nodesOf(mlir::Location location, StringRef fileName, StringRef message) {
  SmallVector<StringRef> names;
  findNames(location, names);
  erase(names, fileName);
  if (names.empty() || message.starts_with("node ") || message.contains(names.front()))
    return {};
  std::string text = names.size() == 1 ? "node " : "nodes ";
  for (size_t i = 0; i < names.size() && i < 3; ++i)
    text += (i == 0 ? "" : ", ") + terminalText(names[i], longestName);
  return text + (names.size() > 3 ? ", ...: " : ": ");
}

static char const *word(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return "error: ";
  case mlir::DiagnosticSeverity::Warning:
    return "warning: ";
  case mlir::DiagnosticSeverity::Remark:
    return "remark: ";
  case mlir::DiagnosticSeverity::Note:
    return "note: ";
  }
  return "error: ";
}

/// Whether a byte is not the first one of its character.
static bool isInsideCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Line `number` of the text and a mark under `column`; nothing for bytes that are no text and for very long lines.
static void quoteLine(raw_ostream &out, StringRef contents, unsigned number, unsigned column) {
  for (; number > 1 && !contents.empty(); --number)
    contents = contents.split('\n').second;
  StringRef const line = contents.split('\n').first.rtrim('\r');
  if (line.empty() || line.size() > longestLine || column == 0 || column > line.size() + 1)
    return;
  out << terminalLines(line) << "\n";
  for (char c : terminalLines(line.take_front(column - 1)))
    if (!isInsideCharacter(c))
      out << (c == '\t' ? '\t' : ' ');
  printCaret();
}

//===--- Printing -------------------------------------------------------------------------------------------------===//

DiagnosticPrinter::DiagnosticPrinter(mlir::MLIRContext &context, DiagnosedFile file, Progress &progress)
    : files{std::move(file)}, progress(progress), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        print(diagnostic);
        return mlir::success();
      }) {
  context.printOpOnDiagnostic(false); // whole functions otherwise; the location says which operation
}

DiagnosedFile const *DiagnosticPrinter::find(StringRef fileName) const {
  auto const found = find_if(files, [&](DiagnosedFile const &file) { return file.fileName == fileName; });
  return found == files.end() ? nullptr : &*found;
}

void DiagnosticPrinter::printOne(mlir::Diagnostic &diagnostic) {
  std::string const message = withoutLargeConstants(diagnostic.str());
  auto const line = findLine(diagnostic.getLocation());
  std::string said;
  raw_string_ostream out(said);
  StringRef const name = line ? line->getFilename().getValue() : StringRef();
  DiagnosedFile const *const file = !line || name == "-" ? &files.front() : find(name);
  out << terminalText(file ? StringRef(file->path) : name);
  if (line)
    out << ":" << line->getLine() << ":" << line->getColumn();
  out << ": " << word(diagnostic.getSeverity());
  if (!line && diagnostic.getSeverity() != mlir::DiagnosticSeverity::Note)
    out << nodesOf(diagnostic.getLocation(), files.front().fileName, message);
  out << terminalText(message);
  printMessage(said);
  if (line && file && name == file->fileName)
    quoteLine(errs(), file->contents, line->getLine(), line->getColumn());
}

void DiagnosticPrinter::print(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && ++errors > mostErrors)
    return;
  progress.clear();
  printOne(diagnostic);
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    printOne(note);
}

void DiagnosticPrinter::finish() {
  if (errors > mostErrors)
    printMessage(terminalText(files.front().path) + ": error: " + std::to_string(errors - mostErrors) + " more errors");
}
