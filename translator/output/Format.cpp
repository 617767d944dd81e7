//===- Format.cpp - the printed code in the style of the project that it goes to ----------------------------------===//
//
// clang's libFormat, repeated until it changes nothing: one pass is not idempotent, and a user's own clang-format must
// find nothing to do in a committed file.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/output/Format.h"

#include "clang/Format/Format.h"
#include "clang/Tooling/Core/Replacement.h"

using namespace llvm;
using namespace ml2k;

static constexpr int mostRounds = 3;

/// Where the project has no .clang-format.
static constexpr char const *ourStyle = "{BasedOnStyle: LLVM, ColumnLimit: 120}";

static Error problem(StringRef path, Twine const &message) {
  return createStringError(inconvertibleErrorCode(), Twine(path) + ": error: " + message);
}

static std::vector<clang::tooling::Range> whole(std::string const &code) {
  return {{0, static_cast<unsigned>(code.size())}};
}

static Expected<std::string> formatOnce(std::string const &code, StringRef path,
                                        clang::format::FormatStyle const &style) {
  clang::format::FormattingAttemptStatus status;
  auto const changes = clang::format::reformat(style, code, whole(code), path, &status);
  if (!status.FormatComplete)
    return problem(path, "clang-format does not understand line " + Twine(status.Line) + " of the printed code");
  return clang::tooling::applyAllReplacements(code, changes);
}

static Expected<clang::format::FormatStyle> findStyle(std::string const &code, StringRef path, StringRef name) {
  auto style = clang::format::getStyle(name, path, "none", code);
  if (!style)
    return problem(path, "no style for the printed code: " + toString(style.takeError()));
  if (!style->DisableFormat)
    return style;
  auto otherwise = clang::format::getStyle(name, path, "llvm", code);
  if (!otherwise)
    return otherwise.takeError();
  bool const isFound = otherwise->DisableFormat; // the fallback was not taken
  return isFound ? std::move(style) : clang::format::getStyle(ourStyle, path, "llvm", code);
}

/// The comment at the top says how to print the file again: a command to copy, which formatting would break into lines.
static std::string keepBanner(std::string const &code, clang::format::FormatStyle const &style) {
  if (!style.ReflowComments || style.ColumnLimit == 0)
    return code;
  StringRef const first = StringRef(code).split('\n').first;
  StringRef const lines = StringRef(code).drop_front(std::min(first.size() + 1, code.size()));
  size_t size = 0;
  bool isLong = false;
  for (StringRef rest = lines; rest.starts_with("//"); rest = rest.split('\n').second) {
    size_t const length = rest.find('\n');
    isLong |= rest.take_front(length).size() > style.ColumnLimit;
    size += std::min(rest.size(), length == StringRef::npos ? length : length + 1);
  }
  if (!first.starts_with("//") || !isLong)
    return code;
  return (first + "\n// clang-format off\n" + lines.take_front(size) + "// clang-format on\n" + lines.drop_front(size))
      .str();
}

Expected<std::string> ml2k::formatCode(std::string code, StringRef path, StringRef styleName) {
  auto style = findStyle(code, path, styleName);
  if (!style)
    return style.takeError();
  // Two passes over all tokens that find nothing to do: printed namespaces end in their names, and using-declarations
  // are not printed
  style->FixNamespaceComments = false;
  style->SortUsingDeclarations = clang::format::FormatStyle::SUD_Never;
  code = keepBanner(code, *style);
  auto sorted =
      clang::tooling::applyAllReplacements(code, clang::format::sortIncludes(*style, code, whole(code), path));
  if (!sorted)
    return sorted.takeError();
  code = std::move(*sorted);
  for (int round = 0; round < mostRounds; ++round) {
    auto formatted = formatOnce(code, path, *style);
    if (!formatted)
      return formatted.takeError();
    if (*formatted == code)
      break;
    code = std::move(*formatted);
  }
  return code;
}
