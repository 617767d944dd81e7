//===- fuzz-mlir.cpp - libFuzzer on the translation of MLIR programs ----------------------------------------------===//
//
// Bytes that are changed at random hardly ever parse: the mutator changes whole tokens and lines. Bytecode is left out:
// upstream's reader of it asserts nothing about hostile files.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "test/fuzz/MutateProgram.h"
#include "test/fuzz/Translations.h"

#include "translator/frontend/mlir/MlirImport.h"

#include <iterator>
#include <regex>
#include <set>

/// The parser of LLVM 19 looks into a null attribute after the error about a `permutation` without a list of numbers.
static bool hasOddPermutation(std::string const &text) {
  static std::regex const odd("permutation(?!\\s*=\\s*\\[[0-9]+(\\s*,\\s*[0-9]+)*\\s*\\])");
  return std::regex_search(text, odd);
}

/// Two of the functions that a program may have been written for; the only one has no name here.
static std::set<std::string> entriesOf(std::string const &text) {
  static std::regex const definition("func\\.func (?:public )?@(\\w+)");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end && names.size() < 2; ++at)
    names.insert((*at)[1]);
  return names.size() > 1 ? names : std::set<std::string>{""};
}

extern "C" int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
  std::string const text(reinterpret_cast<char const *>(data), size);
  if (text.find("ML\xefR") != std::string::npos || hasOddPermutation(text))
    return -1;
  for (std::string const &entry : entriesOf(text))
    ml2k::fuzz::checkTranslation(
        [&](mlir::MLIRContext &context) { return ml2k::importMlir(text, {"fuzz.mlir", entry, {}}, context); });
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  return ml2k::fuzz::store(ml2k::fuzz::mutateProgram({reinterpret_cast<char const *>(data), size}, random), data,
                           limit);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(uint8_t const *first, size_t firstSize, uint8_t const *second,
                                            size_t secondSize, uint8_t *out, size_t limit, unsigned seed) {
  std::minstd_rand random(seed);
  std::string_view const donor(reinterpret_cast<char const *>(second), secondSize);
  return ml2k::fuzz::store(ml2k::fuzz::spliceLines({reinterpret_cast<char const *>(first), firstSize}, donor, random),
                           out, limit);
}
