//===- Identities.h - the values that change nothing when a reduction joins them ------------------------*- C++ -*-===//

#ifndef ML2K_IR_IDENTITIES_H
#define ML2K_IR_IDENTITIES_H

#include "translator/ir/Nest.h"

namespace ml2k {

/// The value that changes nothing when it is joined.
mlir::TypedAttr neutralOf(nest::Combiner combiner, mlir::Type type);

/// Whether a value joined with itself is that value: extrema, and, or.
bool isIdempotent(nest::Combiner combiner);

/// True for a constant that changes nothing when it is joined; zeros of either sign are one for sums.
bool isIdentity(nest::Combiner combiner, mlir::TypedAttr constant);
bool isIdentity(nest::Combiner combiner, mlir::Value value);

} // namespace ml2k

#endif
