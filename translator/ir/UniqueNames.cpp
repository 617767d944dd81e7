//===- UniqueNames.cpp - names that collide get a hash ------------------------------------------------------------===//

#include "translator/ir/UniqueNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace ml2k {

/// FNV-1a, folded: short hashes only, which a model may make collide.
static std::string fourCharacters(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text.bytes())
    hash = (hash ^ c) * 0x100000001b3u;
  hash ^= hash >> 32;
  std::string out;
  for (int i = 0; i < 4; ++i, hash /= 36)
    out += "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
  return out;
}

std::string nameHash(StringRef text, unsigned length) {
  if (length <= 4)
    return fourCharacters(text);
  return toHex(SHA256::hash(arrayRefFromStringRef(text)), /*LowerCase=*/true).substr(0, length);
}

std::string hashedName(StringRef wanted, StringRef detail, unsigned &equal, function_ref<bool(StringRef)> isTaken) {
  std::string const stem = (wanted + (wanted.ends_with("_") ? "" : "_")).str();
  std::string const text = (wanted + "|" + detail).str();
  for (;;) {
    std::string const salted = equal == 0 ? text : text + "'" + std::to_string(equal);
    ++equal;
    for (unsigned length : {4, 8, 16, 64})
      if (std::string name = stem + nameHash(salted, length); !isTaken(name))
        return name;
  }
}

std::string UniqueNames::unique(StringRef wanted, StringRef detail) {
  if (take(wanted))
    return wanted.str();
  unsigned &equal = equals[(wanted + "|" + detail).str()];
  std::string name = hashedName(wanted, detail, equal, [&](StringRef candidate) { return isTaken(candidate); });
  take(name);
  return name;
}

} // namespace ml2k
