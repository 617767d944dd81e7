//===- Format.h - the printed code in the style of the project that it goes to --------------------------*- C++ -*-===//

#ifndef ML2K_OUTPUT_FORMAT_H
#define ML2K_OUTPUT_FORMAT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ml2k {

/// Formats C++ as clang-format does for a file of this path. `style` is what clang-format's --style takes: "file" (the
/// .clang-format beside the path or above it; ours where there is none), a name such as "llvm", or {key: value, ...}.
llvm::Expected<std::string> formatCode(std::string code, llvm::StringRef path, llvm::StringRef style);

} // namespace ml2k

#endif
