//===- Macros.h - macros that a file which includes Kokkos has to live with -----------------------------*- C++ -*-===//

#ifndef ML2K_IR_MACROS_H
#define ML2K_IR_MACROS_H

#include "llvm/ADT/StringRef.h"

namespace ml2k {

/// True for macros that come with the headers of Kokkos or of the standard library, e.g. EINVAL.
bool isMacro(llvm::StringRef name);

} // namespace ml2k

#endif
