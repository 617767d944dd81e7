//===- UnsignedForms.h - arithmetic on integers that the caller has as unsigned -------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_SCALARS_UNSIGNEDFORMS_H
#define ML2K_EMIT_SCALARS_UNSIGNEDFORMS_H

#include "translator/emit/scalars/ScalarTable.h"

namespace ml2k {

/// Whether a name for a value had better be unsigned: something asks for that, or nothing needs it signed.
bool isBetterUnsigned(mlir::Value value);

/// Whether something asks for a value as an unsigned number in the end.
bool wantsUnsigned(mlir::Value value, unsigned depth = 0);

/// How a value is printed where an unsigned number is computed: a constant, or what has such a form.
std::optional<Expression> unsignedFormOf(mlir::Value value, Expression const &expression);

/// Has the entries of arithmetic compute unsigned what comes from unsigned memory.
void addUnsignedForms(Table &table);

} // namespace ml2k

#endif
