//===- Code.h - text that may stand in generated C++ ----------------------------------------------------*- C++ -*-===//
//
// Code is made of constant text of this program, of identifiers, numbers and other code: there is no way from any other
// string to it, and none back but for the serializer. So no byte of a model becomes code, and nobody searches what was
// printed.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_CPP_CODE_H
#define ML2K_EMIT_CPP_CODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <set>
#include <string>

namespace ml2k::cpp {

/// Constant text of this program: the compiler runs the constructor, so no buffer and no std::string becomes one.
class Raw {
public:
  template <size_t N> consteval Raw(char const (&text)[N]) : data(text), length(N - 1) {}
  constexpr Raw() = default;
  llvm::StringRef str() const { return {data, length}; }
  bool empty() const { return length == 0; }
  bool operator==(Raw other) const { return str() == other.str(); }
  bool operator<(Raw other) const { return str() < other.str(); }

private:
  char const *data = "";
  size_t length = 0;
};

/// A name: letters, digits and underscores.
class Identifier {
public:
  Identifier(Raw ours) : text(ours.str()) {}
  /// Aborts for anything that is no name: whoever makes names (model/Names.h) makes only such.
  explicit Identifier(llvm::StringRef name);
  std::string const &str() const { return text; }
  auto operator<=>(Identifier const &) const = default;

private:
  std::string text;
};

using Names = std::set<Identifier>;

class Code {
public:
  Code() = default;
  Code(Raw ours) : text(ours.str()) {}
  Code(Identifier const &name) : text(name.str()) {}
  explicit Code(int64_t number) : text(std::to_string(number)) {}

  size_t width() const { return text.size(); }
  size_t hash() const { return std::hash<std::string>()(text); }
  bool empty() const { return text.empty(); }
  auto operator<=>(Code const &) const = default;
  Code &operator+=(Code const &other) { return text += other.text, *this; }
  friend Code operator+(Code a, Code const &b) { return a += b; }

  static Code floatLiteral(float value);
  static Code doubleLiteral(double value);
  static Code quoted(llvm::StringRef text, size_t limit = -1); ///< `"text"`, at most so many bytes of it
  static Code integerLiteral(uint64_t value) { return Code(std::to_string(value)); }

private:
  friend class Serializer;
  explicit Code(std::string digits) : text(std::move(digits)) {}
  std::string text;
};

/// `1, 2, 3`
Code listOf(llvm::ArrayRef<int64_t> numbers, Raw separator = ", ");
Code listOf(llvm::ArrayRef<Code> parts, Raw separator = ", ");

} // namespace ml2k::cpp

#endif
