//===- Names.cpp - the model's names as C++ identifiers -----------------------------------------------------------===//

#include "translator/emit/Names.h"
#include "translator/emit/Safetensors.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ml2k {

bool isReservedWord(StringRef name) {
  static StringSet<> const words = {
      "alignas",     "alignof",  "and",       "and_eq",    "asm",          "auto",         "bitand",
      "bitor",       "bool",     "break",     "case",      "catch",        "char",         "char16_t",
      "char32_t",    "char8_t",  "class",     "co_await",  "co_return",    "co_yield",     "compl",
      "concept",     "const",    "consteval", "constexpr", "constinit",    "const_cast",   "continue",
      "decltype",    "default",  "delete",    "do",        "double",       "dynamic_cast", "else",
      "enum",        "explicit", "export",    "extern",    "false",        "float",        "for",
      "friend",      "goto",     "if",        "inline",    "int",          "long",         "mutable",
      "namespace",   "new",      "noexcept",  "not",       "not_eq",       "nullptr",      "operator",
      "or",          "or_eq",    "private",   "protected", "public",       "register",     "reinterpret_cast",
      "requires",    "return",   "short",     "signed",    "sizeof",       "static",       "static_assert",
      "struct",      "switch",   "template",  "this",      "thread_local", "throw",        "true",
      "static_cast", "try",      "typedef",   "typeid",    "typename",     "union",        "unsigned",
      "using",       "virtual",  "void",      "volatile",  "wchar_t",      "while",        "xor",
      "xor_eq",      "assert",   "errno",     "linux",     "unix",         "std",          "Kokkos",
      "main",        "NULL",     "stdin",     "stdout",    "stderr",       "major",        "minor"};
  return words.contains(name);
}

std::string snakeCase(StringRef full, StringRef prefix) {
  std::string out;
  for (size_t i = 0; i < full.size(); ++i) {
    char const c = full[i];
    if (!isAlnum(c)) {
      if (!out.empty() && out.back() != '_')
        out += '_';
      continue;
    }
    bool const afterSmall = i > 0 && (isLower(full[i - 1]) || isDigit(full[i - 1]));
    bool const startsWord = i > 0 && i + 1 < full.size() && isUpper(full[i - 1]) && isLower(full[i + 1]);
    if (isUpper(c) && (afterSmall || startsWord) && !out.empty() && out.back() != '_')
      out += '_';
    out += toLower(c);
  }
  while (!out.empty() && out.back() == '_')
    out.pop_back();
  if (out.empty() || isDigit(out.front()))
    out = out.empty() ? prefix.str() : (prefix + "_" + out).str();
  return isReservedWord(out) ? out + "_" : out;
}

std::string camelCase(StringRef full, StringRef prefix) {
  std::string out;
  for (StringRef rest = full; !rest.empty();) {
    rest = rest.drop_until([](char c) { return isAlnum(c); });
    StringRef const word = rest.take_while([](char c) { return isAlnum(c); });
    rest = rest.drop_front(word.size());
    if (!word.empty())
      out += toUpper(word.front()) + word.drop_front().str();
  }
  if (out.empty() || isDigit(out.front()))
    out = prefix.str() + out;
  return isReservedWord(out) ? out + "_" : out;
}

std::string shortHash(StringRef full) {
  uint64_t hash = fnv1a(full);
  hash ^= hash >> 32;
  static char const letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string out;
  for (int i = 0; i < 4; ++i, hash /= 36)
    out += letters[hash % 36];
  return out;
}

StringMap<std::string> nameTable(std::vector<std::string> const &names, StringRef prefix, StringSet<> const &taken) {
  StringMap<unsigned> uses;
  StringSet<> seen;
  for (std::string const &full : names)
    if (seen.insert(full).second)
      ++uses[snakeCase(full, prefix)];
  StringMap<std::string> table;
  for (std::string const &full : names) {
    std::string const name = snakeCase(full, prefix);
    bool const unique = uses[name] == 1 && !taken.contains(name);
    table[full] = unique ? name : (name.back() == '_' ? name : name + "_") + shortHash(full);
  }
  return table;
}

bool Scope::isTaken(StringRef name) const {
  return names.contains(name) || isReservedWord(name) || (outer && outer->isTaken(name));
}

std::string Scope::fresh(std::vector<std::string> const &wanted) {
  std::string name = wanted.front();
  for (std::string const &candidate : wanted) {
    name = candidate;
    if (!isTaken(name))
      break;
  }
  std::string const stem = name;
  for (char letter = 'b'; isTaken(name); ++letter) // a second `scaled` is `scaled_b`
    name = letter <= 'z' ? stem + "_" + letter : name + "_b";
  take(name);
  return name;
}

} // namespace ml2k
