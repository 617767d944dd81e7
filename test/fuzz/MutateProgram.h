//===- MutateProgram.h - small changes to the text of a program that often still parse ------------------*- C++ -*-===//

#ifndef ML2K_TEST_FUZZ_MUTATE_PROGRAM_H
#define ML2K_TEST_FUZZ_MUTATE_PROGRAM_H

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ml2k::fuzz {

/// Words and numbers, one token each; any other character is a token of its own. `%name`, `@name` and `#name` are one.
inline std::vector<std::string> tokensOf(std::string_view text) {
  auto const inWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  std::vector<std::string> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    bool const word = inWord(text[at]) || std::strchr("%@#!", text[at]);
    while (word && end < text.size() && inWord(text[end]))
      ++end;
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

inline std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t const end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

inline std::string joined(std::vector<std::string> const &parts) {
  std::string text;
  for (std::string const &part : parts)
    text += part;
  return text;
}

/// Extents, steps and constants at which code has to decide.
inline std::string otherNumber(std::minstd_rand &random) {
  static char const *const numbers[] = {"0",  "1",  "2",    "3",          "4",  "5",   "7",   "8",
                                        "16", "-1", "1000", "2147483648", "17", "0.5", "1.0", "9223372036854775807"};
  return numbers[random() % std::size(numbers)];
}

inline bool isNumber(std::string const &token) { return std::isdigit(static_cast<unsigned char>(token.front())); }

/// A number (`8x4xf32` counts as one) gets another leading one, a name or word becomes one that stands elsewhere.
inline std::string mutateToken(std::vector<std::string> tokens, std::minstd_rand &random) {
  if (tokens.empty())
    return "";
  std::string &token = tokens[random() % tokens.size()];
  if (isNumber(token)) {
    size_t const digits =
        std::find_if_not(token.begin(), token.end(), [](unsigned char c) { return std::isdigit(c); }) - token.begin();
    bool const extent = digits < token.size() && token[digits] == 'x';
    token = (extent && random() % 4 == 0 ? "?" : otherNumber(random)) + token.substr(digits);
    return joined(tokens);
  }
  for (int attempt = 0; attempt < 32; ++attempt) {
    std::string const &other = tokens[random() % tokens.size()];
    if (other.front() == token.front() || (std::isalpha(static_cast<unsigned char>(other.front())) &&
                                           std::isalpha(static_cast<unsigned char>(token.front())))) {
      token = std::string(other);
      break;
    }
  }
  return joined(tokens);
}

/// A line is left out, doubled, or changes places with another.
inline std::string mutateLines(std::vector<std::string> lines, std::minstd_rand &random) {
  if (lines.empty())
    return "";
  size_t const at = random() % lines.size();
  switch (random() % 3) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at, std::string(lines[at]));
    break;
  default:
    std::swap(lines[at], lines[random() % lines.size()]);
  }
  return joined(lines);
}

inline std::string mutateProgram(std::string_view text, std::minstd_rand &random) {
  std::string changed(text);
  for (unsigned left = 1 + random() % 3; left > 0; --left)
    changed = random() % 4 == 0 ? mutateLines(linesOf(changed), random) : mutateToken(tokensOf(changed), random);
  return changed;
}

/// Some lines of `donor` in the middle of `text`.
inline std::string spliceLines(std::string_view text, std::string_view donor, std::minstd_rand &random) {
  std::vector<std::string> lines = linesOf(text), others = linesOf(donor);
  if (lines.empty() || others.empty())
    return std::string(text);
  size_t const from = random() % others.size();
  size_t const count = std::min<size_t>(1 + random() % 8, others.size() - from);
  lines.insert(lines.begin() + random() % (lines.size() + 1), others.begin() + from, others.begin() + from + count);
  return joined(lines);
}

inline size_t store(std::string const &text, uint8_t *out, size_t limit) {
  size_t const size = std::min(text.size(), limit);
  std::memcpy(out, text.data(), size);
  return size;
}

} // namespace ml2k::fuzz

#endif
