//===- Verify.h - ---------------------------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_OUTPUT_VERIFY_H
#define ML2K_OUTPUT_VERIFY_H

#include "translator/output/Writer.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace ml2k {

struct VerifyOptions {
  std::string kokkos;             ///< where Kokkos is installed; empty: the environment variable Kokkos_ROOT
  std::vector<std::string> flags; ///< more flags for the compiler
};

/// Parses C++ files that are not written yet, as they would lie in `directory`, with clang and the headers of Kokkos.
/// Returns what the compiler says; empty if it accepts them without a warning.
std::string verifyFiles(llvm::ArrayRef<OutputFile> files, std::string const &directory, VerifyOptions const &options);

/// The folder of Kokkos_Core.hpp below an installation or a CMake package folder of it; empty if there is none.
std::string findKokkosHeaders(std::string const &root);

} // namespace ml2k

#endif
