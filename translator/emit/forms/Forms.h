//===- Forms.h - forms of a network to call inside kernels and without Kokkos ---------------------------*- C++ -*-===//
//
// The whole-model launch is printed by Emit.h. Other forms come from the scheduled kernels on tensors (ir/Column.h): a
// form chooses where buffers lie and who runs a layer; the formula of a layer is printed once for all of them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_FORMS_FORMS_H
#define ML2K_EMIT_FORMS_FORMS_H

#include "translator/emit/Emit.h"
#include "translator/ir/Column.h"

namespace ml2k {

/// The view of what readColumn() gave for these forms, which are called inside kernels. The sidecar refers to memory of
/// the module's attributes.
mlir::FailureOr<ModelView> viewForms(Column column, EmitOptions const &options, Forms const &forms);

/// What of the view of such forms concerns the blocks that they are printed with: types, widths of vectors.
Json viewOfBlocks(Json const &view);

/// What these blocks declare, beside those of block/.
std::set<std::string> namesOfForms(Json const &flags);

/// Prints what readColumn() gave for these forms. The sidecar refers to memory of the module's attributes.
mlir::FailureOr<EmittedFiles> emitForms(Column column, EmitOptions const &options, Forms const &forms);

} // namespace ml2k

#endif
