//===- Ownership.cpp - which files ml2kokkos wrote ----------------------------------------------------------------===//

#include "translator/output/Ownership.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <optional>

using namespace llvm;
using namespace ml2k;

static constexpr uint64_t longestBanner = 16 * 1024;

/// The first bytes of a regular file.
static std::optional<std::string> beginningOf(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status) || !sys::fs::is_regular_file(status))
    return std::nullopt;
  auto const start = MemoryBuffer::getFileSlice(path, std::min<uint64_t>(status.getSize(), longestBanner), 0);
  return start ? std::optional((*start)->getBuffer().str()) : std::nullopt;
}

/// The words of the banner, whatever clang-format made of the line.
static bool hasBanner(StringRef text) {
  SmallVector<StringRef> wanted;
  SplitString(generatedBy, wanted);
  text.consume_front("\xef\xbb\xbf");
  if (text.consume_front("! ")) // Fortran
    wanted.erase(wanted.begin());
  for (StringRef word : wanted) {
    text = text.ltrim();
    while (word != "//" && text.consume_front("//"))
      text = text.ltrim();
    if (!text.consume_front(word))
      return false;
  }
  return text.empty() || !isAlnum(text.front());
}

/// `{ "generator": "ml2kokkos"`, with any white space.
static bool namesGenerator(StringRef json) {
  std::string const wanted[] = {"{", "\"" + generatorKey.str() + "\"", ":", "\"" + generatorName.str() + "\""};
  for (StringRef token : wanted)
    if (json = json.ltrim(); !json.consume_front(token))
      return false;
  return true;
}

static bool isOwnSidecar(StringRef path, StringRef text) {
  StringRef json = text.substr(8); // behind the length of the header
  if (json.consume_front("{\"__metadata__\":") && namesGenerator(json))
    return true;
  SmallString<256> header(path);
  sys::path::replace_extension(header, ".hpp");
  auto const banner = beginningOf(header);
  return banner && hasBanner(*banner) && StringRef(*banner).contains(sys::path::filename(path));
}

bool ml2k::isOwnFile(StringRef path) {
  auto const text = beginningOf(path);
  if (!text)
    return false;
  if (text->empty() || hasBanner(*text) || namesGenerator(*text))
    return true;
  return sys::path::extension(path) == ".safetensors" && isOwnSidecar(path, *text);
}
