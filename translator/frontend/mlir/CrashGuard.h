//===- CrashGuard.h - work of another library that may crash on some input -----------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_CRASHGUARD_H
#define ML2K_FRONTEND_MLIR_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ml2k::mlir_import {

/// Does the work, on this thread. False if it was ended by a signal that a defect raises, an overflow of the stack
/// among them: what it had made is lost, and its memory is not given back.
bool survives(llvm::function_ref<void()> work);

} // namespace ml2k::mlir_import

#endif
