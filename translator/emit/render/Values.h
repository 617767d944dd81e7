//===- Values.h - what a tag of a template may print in its place ---------------------------------------*- C++ -*-===//
//
// The last gate in front of the printed file. A template says what it prints where: behind `//` a tag prints the text
// of a comment, between quotes that of a literal, elsewhere a word such as `conv1` or `Kokkos::max`. Only `{{code
// name}}` prints C++, and only such that closes what it opens.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_RENDER_VALUES_H
#define ML2K_EMIT_RENDER_VALUES_H

#include <string>
#include <string_view>

namespace ml2k {

/// False for tags that would print what nobody looked at: `{{{name}}}`, `{{& name}}`, other delimiters.
bool isTag(std::string_view tag);

enum class TagPlace : char { Comment = 'c', Literal = 'l', Word = 'w', Code = 'C' };

/// The place that the text of a line in front of a tag opens.
TagPlace placeBehind(std::string_view lineBefore);

/// `value` as it is printed there; throws std::runtime_error for one that may not stand there.
std::string printedAt(TagPlace place, std::string const &value);

} // namespace ml2k

#endif
