//===- Diff.h - unified differences of two texts --------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_OUTPUT_DIFF_H
#define ML2K_OUTPUT_DIFF_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ml2k {

/// The differences as `diff -u` prints them, three lines of context, without the two lines of file names. Empty if the
/// texts are equal.
std::string unifiedDiff(llvm::StringRef before, llvm::StringRef after);

} // namespace ml2k

#endif
