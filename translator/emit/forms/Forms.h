//===- Forms.h - forms of a network to call inside kernels and without Kokkos ---------------------------*- C++ -*-===//
//
// The whole-model launch is printed by Emit.h. Other forms come from the scheduled kernels on tensors (Column.h): a
// form chooses where buffers lie and who runs a layer; the formula of a layer is printed once for all of them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_FORMS_FORMS_H
#define ML2K_EMIT_FORMS_FORMS_H

#include "translator/emit/Emit.h"

namespace ml2k {

struct Forms {
  bool launch = false;  ///< all columns of views
  bool team = false;    ///< a column by a team, inside the caller's TeamPolicy
  bool thread = false;  ///< a column by a thread, or by a vector lane of a host
  bool runner = false;  ///< a class without Kokkos in its interface
  bool c = false;       ///< functions for C over it
  bool fortran = false; ///< a Fortran module over these
};

/// Prints the entry function of a module at the stage `scheduled`. Refuses with a located diagnostic what does not act
/// on columns one by one, and what a form cannot hold.
mlir::FailureOr<EmittedFiles> emitForms(mlir::ModuleOp module, EmitOptions const &options, Forms const &forms);

} // namespace ml2k

#endif
