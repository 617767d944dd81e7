//===- Input.cpp - the bytes of a model and what they are ---------------------------------------------------------===//

#include "translator/tool/Input.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ml2k;

static Error problem(StringRef path, Twine const &message) {
  return createStringError(inconvertibleErrorCode(), Twine(path) + ": error: " + message);
}

static bool looksLikeText(StringRef bytes) {
  return all_of(bytes.take_front(4096),
                [](unsigned char c) { return c >= ' ' || c == '\n' || c == '\r' || c == '\t'; });
}

/// Text of MLIR starts with an operation, an attribute alias, a location, a resource or a comment.
static bool looksLikeMlir(StringRef text) {
  text = text.ltrim();
  for (char const *start :
       {"//", "#", "!", "{-#", "module", "func", "\"builtin.", "\"func.", "builtin.", "ml_program", "%"})
    if (text.starts_with(start))
      return true;
  return text.contains("func.func") || text.contains("builtin.module");
}

static Expected<InputKind> kindOf(StringRef path, StringRef bytes) {
  StringRef const extension = sys::path::extension(path);
  if (bytes.starts_with("version https://git-lfs"))
    return problem(path, "is a pointer to a file in Git LFS; fetch the file with 'git lfs pull'");
  if (bytes.starts_with("ML\xefR"))
    return InputKind::Mlir;
  if (extension == ".onnx")
    return InputKind::Onnx;
  if (extension == ".mlir" || extension == ".mlirbc")
    return InputKind::Mlir;
  if (!looksLikeText(bytes))
    return InputKind::Onnx;
  if (looksLikeMlir(bytes))
    return InputKind::Mlir;
  return problem(path, "is neither an ONNX model nor an MLIR module");
}

Expected<Input> ml2k::readInput(std::string const &path) {
  bool const isStandardInput = path == "-";
  if (!isStandardInput && sys::fs::is_directory(path))
    return problem(path, "is a directory; give the model's file");
  auto buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return problem(path, "cannot be read: " + buffer.getError().message());
  std::string const shown = isStandardInput ? "<stdin>" : path;
  if ((*buffer)->getBufferSize() == 0)
    return problem(shown, "is empty");
  auto kind = kindOf(shown, (*buffer)->getBuffer());
  if (!kind)
    return kind.takeError();
  std::string const directory = isStandardInput ? "." : sys::path::parent_path(path).str();
  return Input{shown, isStandardInput ? "model" : sys::path::filename(path).str(), directory.empty() ? "." : directory,
               *kind, std::move(*buffer)};
}
