//===- TextWords.cpp - the words of MLIR text, before it is parsed ------------------------------------------------===//

#include "translator/frontend/mlir/TextWords.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace ml2k::mlir_import;

static bool inWord(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '-'; }

void TextWords::skipBlanks() {
  while (at < text.size()) {
    if (isSpace(text[at]))
      ++at;
    else if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else
      return;
  }
}

StringRef TextWords::skipString() {
  size_t const start = at++;
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' ? 2 : 1;
  at = std::min(at + 1, text.size());
  return text.slice(start, at);
}

StringRef TextWords::word(size_t from) {
  while (at < text.size() && inWord(text[at]))
    ++at;
  return text.slice(from, at);
}

StringRef TextWords::next() {
  skipBlanks();
  if (at == text.size())
    return {};
  if (text[at] == '"')
    return skipString();
  size_t const start = at++;
  if (text.substr(start).starts_with("->"))
    return text.slice(start, ++at);
  if (!inWord(text[start]) && !StringRef("%^@#!").contains(text[start]))
    return text.slice(start, at);
  return word(start);
}

mlir::Location ml2k::mlir_import::locationIn(MemoryBuffer const &source, StringRef word, mlir::MLIRContext &context) {
  StringRef const text = source.getBuffer(), before = text.take_front(word.data() - text.data());
  return mlir::FileLineColLoc::get(&context, source.getBufferIdentifier(), before.count('\n') + 1,
                                   before.size() - (before.rfind('\n') + 1) + 1);
}
