//===- Nouns.h - what values are called that need a name -----------------------------------------------*- C++ -*-===//
//
// First the name that the text of a loop program gives to the value, then what a person calls it: `u_im1` of u(i - 1).
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_SCALARS_NOUNS_H
#define ML2K_EMIT_SCALARS_NOUNS_H

#include "translator/emit/scalars/Scalars.h"

namespace ml2k {

/// `u_ij` of `u(i, j)`, `u_im1_j` of `u(i - 1, j)`; empty where it would be long.
std::string elementNoun(llvm::StringRef array, llvm::ArrayRef<Expression> positions);

/// Of an element that `read` reads.
ScalarPrinter::Nouns readNouns(mlir::Value value, Expression const &read);

/// What an index that is computed is called: `at` where something is read or written there, `offset` of what is added.
ScalarPrinter::Nouns indexNouns(mlir::Value value, ScalarPrinter::Nouns nouns);

/// Whether the text names a value and not what it is computed from: its writer wanted a reader to see the name.
bool isNamedOnPurpose(mlir::Value value);

/// The variable of the text that a value is one of, `total` of `total_2`; empty if there is none.
std::string sourceVariable(mlir::Value value);

} // namespace ml2k

#endif
