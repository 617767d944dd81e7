//===- Names.cpp - the model's names as C++ identifiers -----------------------------------------------------------===//

#include "translator/emit/model/Names.h"
#include "translator/ir/ReservedNames.h"
#include "translator/ir/UniqueNames.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ml2k {

bool isReservedWord(StringRef name) { return isCppWord(name); }

/// Names that are equal so far get hashes of their full texts.
static constexpr size_t longestIdentifier = 160;

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
  out.resize(std::min(out.size(), longestIdentifier));
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
  out.resize(std::min(out.size(), longestIdentifier));
  if (out.empty() || isDigit(out.front()))
    out = prefix.str() + out;
  return isReservedWord(out) ? out + "_" : out;
}

std::string namespaceName(StringRef model) {
  std::string const name = snakeCase(model, "model");
  return isLibraryName(name) || isDeviceName(name) ? name + "_model" : name;
}

/// `name` with four characters of a hash of `full`, more where these are taken.
static std::string withHash(std::string const &name, StringRef full, function_ref<bool(StringRef)> isTaken) {
  if (std::string four = (name.back() == '_' ? name : name + "_") + nameHash(full); !isTaken(four))
    return four;
  unsigned equal = 0;
  return hashedName(name, full, equal, isTaken);
}

StringMap<std::string> nameTable(std::vector<std::string> const &names, StringRef prefix, StringSet<> const &taken) {
  StringMap<unsigned> uses;
  StringSet<> seen;
  for (std::string const &full : names)
    if (seen.insert(full).second)
      ++uses[snakeCase(full, prefix)];
  auto const isPlain = [&](StringRef name) { return uses.lookup(name) == 1 && !taken.contains(name); };
  StringSet<> hashed;
  auto const isTaken = [&](StringRef name) { return taken.contains(name) || hashed.contains(name) || isPlain(name); };
  StringMap<std::string> table;
  for (std::string const &full : names) {
    std::string const name = snakeCase(full, prefix);
    if (table.contains(full))
      continue;
    table[full] = isPlain(name) ? name : withHash(name, full, isTaken);
    if (!isPlain(name))
      hashed.insert(table[full]);
  }
  return table;
}

bool Scope::isTaken(StringRef name) const {
  return names.contains(name) || isReservedWord(name) || (outer && outer->isTaken(name));
}

void Scope::take(StringRef name) {
  if (names.insert(name).second)
    order.push_back(name.str());
  for (Scope *around = outer; around; around = around->outer)
    around->inside.insert(name);
}

void Scope::release(size_t count) {
  for (; order.size() > count; order.pop_back())
    names.erase(order.back());
}

std::string Scope::firstFree(std::vector<std::string> const &wanted, StringRef identity) {
  for (std::string const &candidate : wanted)
    if (isFree(candidate))
      return candidate;
  std::string const &stem = wanted.back();
  for (char letter = 'b'; letter <= 'z'; ++letter) // a second `scaled` is `scaled_b`
    if (std::string name = stem + "_" + letter; isFree(name))
      return name;
  unsigned &equal = equals[(stem + "|" + identity).str()];
  return hashedName(stem, identity, equal, [&](StringRef name) { return !isFree(name); });
}

cpp::Identifier Scope::fresh(std::vector<std::string> const &wanted, StringRef identity) {
  std::string name = firstFree(wanted, identity);
  take(name);
  return cpp::Identifier(name);
}

} // namespace ml2k
