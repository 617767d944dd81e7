//===- Code.cpp - text that may stand in generated C++ ------------------------------------------------------------===//

#include "translator/emit/cpp/Code.h"
#include "translator/text/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <charconv>

namespace ml2k::cpp {

Identifier::Identifier(llvm::StringRef name) : text(name) {
  bool const isName = !name.empty() && !llvm::isDigit(name.front()) &&
                      llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName)
    llvm::report_fatal_error("a name of the generated code is no identifier");
}

/// The shortest text that reads back as the same value; with a point or an exponent.
template <class Float> static std::string shortest(Float value) {
  char buffer[64];
  auto const end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += '.';
  return text;
}

Code Code::floatLiteral(float value) { return Code(shortest(value) + "f"); }

Code Code::doubleLiteral(double value) {
  std::string text = shortest(value);
  return Code(text.back() == '.' ? text + "0" : text);
}

Code Code::quoted(llvm::StringRef text, size_t limit) { return Code(quotedText(text, limit)); }

Code listOf(llvm::ArrayRef<int64_t> numbers, Raw separator) {
  return listOf(llvm::map_to_vector(numbers, [](int64_t number) { return Code(number); }), separator);
}

Code listOf(llvm::ArrayRef<Code> parts, Raw separator) {
  Code list;
  for (auto const &[i, part] : llvm::enumerate(parts))
    list += (i ? Code(separator) : Code()) + part;
  return list;
}

} // namespace ml2k::cpp
