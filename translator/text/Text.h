//===- Text.h - the only ways for bytes of an input to reach a file or a terminal -----------------------*- C++ -*-===//
//
// A model comes from somewhere else. Its names, doc strings and file names are bytes that somebody chose: they never
// become code, an escape sequence of a terminal, or text that reads as something else. What nobody sees, or what
// reorders its neighbours, is written as clang's diagnostics write it: <U+202E>, and <FF> for a byte that is no UTF-8.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TEXT_TEXT_H
#define ML2K_TEXT_TEXT_H

#include <string>
#include <string_view>

namespace ml2k {

constexpr size_t anyLength = size_t(-1);

/// Bytes of a name that are printed; longer ones end in "...".
constexpr size_t longestName = 240;

/// Text for a terminal: one line, printable, left to right, without combining marks.
std::string terminalText(std::string_view bytes, size_t limit = anyLength);

/// The same for text of several lines: newlines and tabs stay.
std::string terminalLines(std::string_view bytes);

/// Text behind `//`. Compilers, formatters, linters and editors read comments, too: `*/`, trigraphs, backslashes and
/// words such as `clang-format off` or NOLINT are broken up. Twice is the same as once.
std::string commentText(std::string_view bytes, size_t limit = anyLength);

/// What stands between the quotes of a string literal that people will see. It contains no control character.
std::string literalText(std::string_view bytes, size_t limit = anyLength);

/// `"text"`.
std::string quotedText(std::string_view bytes, size_t limit = anyLength);

/// The same bytes where they are UTF-8, else with <FF> for each that is not: for JSON, which can hold nothing else.
std::string validUtf8(std::string_view bytes);

} // namespace ml2k

#endif
