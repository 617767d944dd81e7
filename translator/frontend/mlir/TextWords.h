//===- TextWords.h - the words of MLIR text, before it is parsed ----------------------------------------*- C++ -*-===//
//
// For what has to be found in a text because LLVM's parser cannot be let near it. No grammar is known here.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_MLIR_TEXTWORDS_H
#define ML2K_FRONTEND_MLIR_TEXTWORDS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ml2k::mlir_import {

class TextWords {
public:
  explicit TextWords(llvm::StringRef text) : text(text) {}

  /// What stands between two words, without blanks and comments: the name of a value, an operation or anything else, a
  /// number, a string, one character. Empty at the end.
  llvm::StringRef next();

  /// The text behind the last word.
  llvm::StringRef rest() const { return text.substr(at); }

private:
  llvm::StringRef word(size_t from);
  void skipBlanks();
  llvm::StringRef skipString();

  llvm::StringRef text;
  size_t at = 0;
};

/// Where a part of the text stands.
mlir::Location locationIn(llvm::MemoryBuffer const &source, llvm::StringRef word, mlir::MLIRContext &context);

} // namespace ml2k::mlir_import

#endif
