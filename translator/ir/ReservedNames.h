//===- ReservedNames.h - names that a file which includes Kokkos has already ----------------------------*- C++ -*-===//

#ifndef ML2K_IR_RESERVEDNAMES_H
#define ML2K_IR_RESERVEDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace ml2k {

/// True for C++ keywords and for macros that everybody includes.
bool isCppWord(llvm::StringRef name);

/// True for global names of the C library's and of POSIX' headers that Kokkos or a standard header may bring.
bool isLibraryName(llvm::StringRef name);

/// True for global names of CUDA's headers: a namespace of such a name does not compile there.
bool isDeviceName(llvm::StringRef name);

} // namespace ml2k

#endif
