//===- Nouns.h - what values are called that need a name -----------------------------------------------*- C++ -*-===//
//
// First the name that the text of a loop program gives to the value, then what a person calls it: `u_im1` of u(i - 1).
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_SCALARS_NOUNS_H
#define ML2K_EMIT_SCALARS_NOUNS_H

#include "translator/emit/scalars/Scalars.h"

namespace ml2k {

/// Of an element that `read` reads.
ScalarPrinter::Nouns readNouns(mlir::Value value, Expression const &read);

/// Whether the text names a value and not what it is computed from: its writer wanted a reader to see the name.
bool isNamedOnPurpose(mlir::Value value);

/// Whether both are values of one variable of the text, `total_2` and `total_3`, or neither is of any.
bool isSameVariable(mlir::Value a, mlir::Value b);

} // namespace ml2k

#endif
