//===- Text.cpp - the only ways for bytes of an input to reach a file or a terminal -------------------------------===//

#include "translator/text/Text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ml2k {

//===--- Code points ----------------------------------------------------------------------------------------------===//

namespace {

constexpr char32_t notUtf8 = char32_t(-1);

struct CodePoint {
  char32_t value; ///< notUtf8 for a byte that is none
  size_t size;    ///< in bytes
};

size_t sizeFromLead(unsigned char lead) {
  if (lead < 0x80)
    return 1;
  return lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
}

/// Only the shortest form counts: longer ones and surrogates are not UTF-8.
bool isEncodedAs(char32_t point, size_t size) {
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  return point >= least[size] && point <= 0x10ffff && !(0xd800 <= point && point <= 0xdfff);
}

CodePoint decode(std::string_view text) {
  auto const byteAt = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t const size = sizeFromLead(byteAt(0));
  if (size == 0 || size > text.size())
    return {notUtf8, 1};
  char32_t point = size == 1 ? byteAt(0) : byteAt(0) & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (byteAt(i) >> 6 != 2)
      return {notUtf8, 1};
    point = point << 6 | (byteAt(i) & 0x3fu);
  }
  return isEncodedAs(point, size) ? CodePoint{point, size} : CodePoint{notUtf8, 1};
}

/// What everybody sees, left to right, one cell or two each. A list of what is allowed: letters of right-to-left
/// scripts reorder their neighbours without any control character, and Unicode adds invisible ones every year.
bool isVisible(char32_t point) {
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x20, 0x7e},     {0xa1, 0xac},     {0xae, 0x2af},    {0x384, 0x3ff},   {0x400, 0x482},   {0x48a, 0x52f},
      {0x2010, 0x2027}, {0x2190, 0x22ff}, {0x3041, 0x3096}, {0x30a1, 0x30fc}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}};
  return std::ranges::any_of(ranges, [&](auto range) { return range.first <= point && point <= range.second; });
}

std::string inHex(char32_t value, size_t digits) {
  std::string text;
  for (; value != 0 || text.size() < digits; value >>= 4)
    text += "0123456789ABCDEF"[value & 15];
  std::ranges::reverse(text);
  return text;
}

/// <U+202E>, or <FF> for a byte that is no UTF-8.
std::string spelled(std::string_view text, CodePoint point) {
  return point.value == notUtf8 ? "<" + inHex(static_cast<unsigned char>(text[0]), 2) + ">"
                                : "<U+" + inHex(point.value, 4) + ">";
}

/// `text` with each code point as it is or spelled out; cut between code points.
template <typename Keeps> std::string rewritten(std::string_view text, size_t limit, Keeps const &keeps) {
  std::string out;
  while (!text.empty()) {
    CodePoint const point = decode(text);
    if (out.size() >= limit)
      return out + "...";
    out +=
        point.value != notUtf8 && keeps(point.value) ? std::string(text.substr(0, point.size)) : spelled(text, point);
    text.remove_prefix(point.size);
  }
  return out;
}

//===--- Words that tools obey ------------------------------------------------------------------------------------===//

char lowered(char c) { return 'A' <= c && c <= 'Z' ? char(c + 32) : c; }

bool startsWith(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::ranges::equal(text.substr(0, word.size()), word, {}, lowered, lowered);
}

/// Where such a word stands in a line does not matter to who looks for it.
constexpr std::string_view directives[] = {"clang-format",
                                           "NOLINT",
                                           "IWYU",
                                           "SPDX-",
                                           "LCOV_",
                                           "LCOV-",
                                           "GCOV_",
                                           "GCOVR_",
                                           "-*-",
                                           "Local Variables:",
                                           "@formatter:",
                                           "noinspection",
                                           "cppcheck-suppress",
                                           "coverity[",
                                           "NOSONAR",
                                           "@generated",
                                           "REUSE-Ignore",
                                           "cspell:",
                                           "codespell:",
                                           "DO NOT EDIT",
                                           "astyle:",
                                           "uncrustify:"};

/// Only at the start of a line or behind a space: "index:0" is a name that TensorFlow gives.
constexpr std::string_view modelines[] = {"vim:", "vi:", "ex:", "vim<", "vim>", "vim=", "kate:", "language="};

/// R"x( : clang-format's sorter of includes looks for raw strings in comments, too.
bool startsRawString(std::string_view text) {
  if (!text.starts_with("R\""))
    return false;
  size_t const open = text.find_first_of(" ()\"\\", 2);
  return open != std::string_view::npos && text[open] == '(';
}

bool isDirective(std::string_view text, size_t at) {
  auto const begins = [&](std::string_view word) { return startsWith(text.substr(at), word); };
  bool const startsWord = at == 0 || text[at - 1] == ' ';
  return std::ranges::any_of(directives, begins) || startsRawString(text.substr(at)) ||
         (startsWord && std::ranges::any_of(modelines, begins));
}

/// Spells the first letter of each such word.
std::string withoutDirectives(std::string const &text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i)
    if (isDirective(text, i))
      out += spelled("", {char32_t(text[i]), 1});
    else
      out += text[i];
  return out;
}

/// Whether two characters may not follow each other in a comment.
bool isComment(char first, char second) {
  return (first == '*' && second == '/') || (first == '/' && second == '*') || (first == '?' && second == '?');
}

} // namespace

//===--- Places ---------------------------------------------------------------------------------------------------===//

std::string terminalText(std::string_view bytes, size_t limit) { return rewritten(bytes, limit, isVisible); }

std::string terminalLines(std::string_view bytes) {
  return rewritten(bytes, anyLength, [](char32_t c) { return c == '\n' || c == '\t' || isVisible(c); });
}

std::string commentText(std::string_view bytes, size_t limit) {
  // Any backslash: a formatter may break the line behind one
  std::string const text =
      withoutDirectives(rewritten(bytes, limit, [](char32_t c) { return c != '\\' && isVisible(c); }));
  std::string out;
  for (char c : text) {
    if (!out.empty() && isComment(out.back(), c))
      out += ' ';
    out += c;
  }
  return out;
}

std::string literalText(std::string_view bytes, size_t limit) {
  std::string out;
  for (char c : withoutDirectives(terminalText(bytes, limit))) {
    if (c == '"' || c == '\\' || (c == '?' && out.ends_with('?')))
      out += '\\';
    out += c;
  }
  return out;
}

std::string quotedText(std::string_view bytes, size_t limit) { return '"' + literalText(bytes, limit) + '"'; }

std::string validUtf8(std::string_view bytes) {
  return rewritten(bytes, anyLength, [](char32_t) { return true; });
}

} // namespace ml2k
