//===- ForeignDialects.cpp - messages for dialects that are not read ----------------------------------------------===//
//
// MLIR's parser says that a dialect is not registered, which does not help a user. Here the message says what to run.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace {

/// How modules of a dialect become linalg; FILE and STEM stand for the input with and without its extension.
struct Conversion {
  llvm::StringLiteral dialect;
  llvm::StringLiteral command;
};

constexpr llvm::StringLiteral fromStableHlo =
    "torch-mlir-opt FILE --stablehlo-legalize-to-linalg --canonicalize -o STEM.linalg.mlir";
constexpr llvm::StringLiteral fromTorch =
    "torch-mlir-opt FILE --torch-backend-to-linalg-on-tensors-backend-pipeline -o STEM.linalg.mlir";

constexpr Conversion conversions[] = {
    {"stablehlo", fromStableHlo},
    {"chlo", "torch-mlir-opt FILE --chlo-legalize-to-stablehlo --stablehlo-legalize-to-linalg --canonicalize "
             "-o STEM.linalg.mlir"},
    {"vhlo", "torch-mlir-opt FILE --vhlo-legalize-to-stablehlo --stablehlo-legalize-to-linalg --canonicalize "
             "-o STEM.linalg.mlir"},
    {"torch", fromTorch},
    {"torch_c", fromTorch},
};

} // namespace

static Conversion const *conversionFrom(StringRef dialect) {
  auto const *found = llvm::find_if(conversions, [&](Conversion const &c) { return c.dialect == dialect; });
  return found == std::end(conversions) ? nullptr : found;
}

static std::string commandFor(Conversion const &conversion, StringRef file) {
  std::string command = conversion.command.str();
  auto const fill = [&](StringRef what, StringRef by) { command.replace(command.find(what.data()), what.size(), by); };
  StringRef stem = llvm::sys::path::filename(file);
  stem.consume_back(".mlir");
  stem.consume_back(".stablehlo");
  fill("FILE", file);
  fill("STEM", stem);
  return command;
}

/// The text of the line that a diagnostic is about.
static StringRef lineAt(llvm::MemoryBuffer const &source, unsigned line) {
  StringRef rest = source.getBuffer();
  for (; line > 1; --line)
    rest = rest.split('\n').second;
  return rest.take_until([](char c) { return c == '\n'; });
}

/// What the parser did not know: `dialect.name` of an operation or type, or the dialect alone; empty for other
/// messages.
static std::string unknownName(StringRef message, Location location, llvm::MemoryBuffer const &source) {
  SmallVector<StringRef> match;
  if (llvm::Regex("not found for custom op '([^']+)'").match(message, &match) ||
      llvm::Regex("dialect '([a-z_0-9]+)' does not implement the bytecode").match(message, &match) ||
      llvm::Regex("`!\"([a-z_0-9]+)\"<.*created with unregistered dialect").match(message, &match) ||
      llvm::Regex("#([a-z_0-9]+)<.*created with unregistered dialect").match(message, &match))
    return match[1].str();
  auto const at = dyn_cast<FileLineColLoc>(location);
  if (at && message.contains("unregistered dialect") &&
      llvm::Regex("\"([a-z_0-9]+\\.[A-Za-z_0-9.]+)\"").match(lineAt(source, at.getLine()), &match))
    return match[1].str();
  return "";
}

bool ml2k::mlir_import::reportForeignDialect(Diagnostic const &parserMessage, llvm::MemoryBuffer const &source) {
  if (parserMessage.getSeverity() != DiagnosticSeverity::Error)
    return false;
  Location const location = parserMessage.getLocation();
  std::string const name = unknownName(parserMessage.str(), location, source);
  if (name.empty())
    return false;
  StringRef const dialect = StringRef(name).split('.').first;
  InFlightDiagnostic error = emitError(location);
  error << "'" << name << "': the dialect '" << dialect << "' is not read";
  if (Conversion const *conversion = conversionFrom(dialect))
    error << "; convert the file first: " << commandFor(*conversion, source.getBufferIdentifier())
          << " (torch-mlir-opt: pip install --no-deps torch-mlir)";
  else
    error << "; lower the file to linalg, tensor, arith, math, tosa, scf, affine, memref or sparse_tensor first";
  return true;
}
