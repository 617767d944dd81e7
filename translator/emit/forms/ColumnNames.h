//===- ColumnNames.h - what a column's tensors and weights are called -----------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_FORMS_COLUMNNAMES_H
#define ML2K_EMIT_FORMS_COLUMNNAMES_H

#include "translator/ir/Column.h"

namespace ml2k {

/// Settles the identifiers of arguments, buffers and types.
void nameColumn(Column &column);

} // namespace ml2k

#endif
