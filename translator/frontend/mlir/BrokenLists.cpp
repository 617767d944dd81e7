//===- BrokenLists.cpp - `permutation = [1, 0]` of linalg holds integers ------------------------------------------===//
//
// The parser of LLVM 19 reports a list that it cannot read, and goes on with an attribute that is null; where the
// levels of a sparse tensor are blocks, it counts on an `i mod 2` for each `i floordiv 2`. Other text is refused before
// the parser sees it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/frontend/mlir/TextWords.h"

using namespace llvm;
using namespace ml2k;

static bool isInteger(StringRef word) {
  int64_t value;
  word.consume_front("-");
  bool const isHex = word.consume_front("0x");
  return word == "true" || word == "false" || !word.getAsInteger(isHex ? 16 : 10, value);
}

/// What follows the equals sign: integers of 64 bits, with commas between them, in brackets.
static bool isList(mlir_import::TextWords &words) {
  if (words.next() != "[")
    return false;
  StringRef word = words.next();
  if (word == "]")
    return true;
  while (true) {
    if (word == "-")
      word = words.next();
    if (!isInteger(word))
      return false;
    word = words.next();
    if (word != ",")
      return word == "]";
    word = words.next();
  }
}

/// The first list that cannot be read: the word in front of it; empty when there is none.
static StringRef findBrokenList(StringRef text) {
  mlir_import::TextWords words(text);
  StringRef wanted;
  for (StringRef word = words.next(); !word.empty(); word = words.next()) {
    if (word == "linalg.transpose")
      wanted = "permutation";
    else if (word == "linalg.broadcast" || word == "linalg.reduce")
      wanted = "dimensions";
    if (wanted.empty() || word != wanted)
      continue;
    wanted = {};
    if (words.next() == "=" && !isList(words))
      return word;
  }
  return {};
}

/// The first map to levels of blocks, `(i, j) -> (i floordiv 2 : dense, i mod 2 : dense, j : compressed)`, that divides
/// and takes the rest of other dimensions; empty when there is none.
static StringRef findUnevenBlocks(StringRef text) {
  mlir_import::TextWords words(text);
  for (StringRef word = words.next(); !word.empty(); word = words.next()) {
    if (word != "map" || words.next() != "=")
      continue;
    StringRef const map = word;
    word = words.next();
    if (word != "(" && word != "[") // of another attribute
      continue;
    SmallVector<StringRef> divided, rests;
    for (StringRef before; !word.empty() && word != "}"; before = word, word = words.next())
      if (word == "floordiv")
        divided.push_back(before);
      else if (word == "mod")
        rests.push_back(before);
    llvm::sort(divided);
    llvm::sort(rests);
    if (!rests.empty() && divided != rests)
      return map;
  }
  return {};
}

mlir::LogicalResult mlir_import::refuseBrokenLists(MemoryBuffer const &source, mlir::MLIRContext &context) {
  if (StringRef const name = findBrokenList(source.getBuffer()); !name.empty())
    return mlir::emitError(locationIn(source, name, context))
           << name << " has to be a list of integers: " << name << " = [1, 0]";
  if (StringRef const map = findUnevenBlocks(source.getBuffer()); !map.empty())
    return mlir::emitError(locationIn(source, map, context))
           << "levels of blocks need one `mod` for each `floordiv` of a dimension";
  return mlir::success();
}
