//===- ColumnBody.h - the layers of a column as statements ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_FORMS_COLUMNBODY_H
#define ML2K_EMIT_FORMS_COLUMNBODY_H

#include "translator/emit/Emit.h"
#include "translator/emit/render/Render.h"
#include "translator/ir/Column.h"

#include <set>

namespace ml2k {

/// The layers as calls of linear(), each() and rows() with their lambdas over (c, o): one formula for every form.
/// `useBlock` is told of the functions that they call.
mlir::FailureOr<Json> viewLayers(Column const &column, EmitOptions const &options, std::set<std::string> &blocks);

/// The comment of a layer: its name and nodes, then its shapes.
Json viewComments(Column const &column, ColumnLayer const &layer, EmitOptions const &options);

} // namespace ml2k

#endif
