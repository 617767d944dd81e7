//===- Values.cpp - what a tag of a template may print in its place -----------------------------------------------===//

#include "translator/emit/render/Values.h"
#include "translator/text/Text.h"

#include <algorithm>
#include <stdexcept>

namespace ml2k {

bool isTag(std::string_view tag) {
  return !tag.empty() && std::string_view("{&=").find(tag[0]) == std::string_view::npos;
}

/// Behind the literal that begins at `at`; npos if it does not end.
static size_t behindLiteral(std::string_view text, size_t at) {
  char const quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i)
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1;
  return std::string_view::npos;
}

static bool isQuote(char c) { return c == '"' || c == '\''; }

TagPlace placeBehind(std::string_view lineBefore) {
  if (lineBefore.starts_with("! ")) // Fortran
    return TagPlace::Comment;
  for (size_t i = 0; i < lineBefore.size();)
    if (lineBefore.substr(i).starts_with("//")) {
      return TagPlace::Comment;
    } else if (isQuote(lineBefore[i])) {
      i = behindLiteral(lineBefore, i);
      if (i == std::string_view::npos)
        return TagPlace::Literal;
    } else {
      ++i;
    }
  return TagPlace::Word;
}

/// Letters, digits and `_`: locales have no say in what C++ is.
static bool isWordCharacter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
}

/// Identifiers and numbers joined by `::`, `.` or `/`: conv1.rows, std::uint16_t, cuda/std/array, mma.h; or nothing.
static bool isWord(std::string_view text) {
  while (!text.empty()) {
    size_t const size = std::ranges::find_if_not(text, isWordCharacter) - text.begin();
    if (size == 0)
      return false;
    text.remove_prefix(size);
    if (text.empty())
      return true;
    size_t const joint = text.starts_with("::") ? 2 : text[0] == '.' || text[0] == '/' ? 1 : 0;
    if (joint == 0 || joint == text.size())
      return false;
    text.remove_prefix(joint);
  }
  return true;
}

/// The size of a comment that only names a parameter without a use: /*batch*/
static size_t sizeOfNameComment(std::string_view text) {
  if (!text.starts_with("/*"))
    return 0;
  size_t const word = std::ranges::find_if_not(text.substr(2), isWordCharacter) - text.substr(2).begin();
  return word > 0 && text.substr(2 + word).starts_with("*/") ? word + 4 : 0;
}

/// What no expression, type, parameter list or statement of ours contains outside a literal.
static bool isForeign(std::string_view rest) {
  return rest[0] < ' ' || rest[0] > '~' || std::string_view("#\\`@$").find(rest[0]) != std::string_view::npos ||
         rest.starts_with("//") || rest.starts_with("/*");
}

/// Closes the brackets and literals that it opens and begins no comment.
static bool isClosedCode(std::string_view text) {
  constexpr std::string_view opening = "([{", closing = ")]}";
  std::string open;
  for (size_t i = 0; i < text.size();) {
    if (size_t const comment = sizeOfNameComment(text.substr(i))) {
      i += comment;
      continue;
    }
    if (isForeign(text.substr(i)))
      return false;
    if (isQuote(text[i])) {
      size_t const end = behindLiteral(text, i);
      if (end == std::string_view::npos)
        return false;
      i = end;
      continue;
    }
    size_t const kind = closing.find(text[i]);
    if (opening.find(text[i]) != std::string_view::npos)
      open += text[i];
    else if (kind != std::string_view::npos && (open.empty() || open.back() != opening[kind]))
      return false;
    else if (kind != std::string_view::npos)
      open.pop_back();
    ++i;
  }
  return open.empty();
}

std::string printedAt(TagPlace place, std::string const &value) {
  auto const refuse = [&](char const *why) {
    throw std::runtime_error("'" + terminalText(value, longestName) + "' " + why);
  };
  switch (place) {
  case TagPlace::Comment:
    return commentText(value);
  case TagPlace::Literal:
    return literalText(value);
  case TagPlace::Word:
    if (!isWord(value))
      refuse("is no word; C++ is printed by {{code ...}}");
    return value;
  case TagPlace::Code:
    if (!isClosedCode(value))
      refuse("is no C++ that closes what it opens");
    return value;
  }
  return value;
}

} // namespace ml2k
