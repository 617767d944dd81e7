//===- Writer.h - puts a set of files in place, all or none ---------------------------------------------*- C++ -*-===//

#ifndef ML2K_OUTPUT_WRITER_H
#define ML2K_OUTPUT_WRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ml2k {

struct OutputFile {
  std::string name; ///< without its folder
  std::string contents;
};

/// What may be replaced.
struct WriteRules {
  std::vector<std::string> inputs = {}; ///< what the outputs were made from: never replaced, by whatever path
  bool force = false;                   ///< also regular files that ml2kokkos did not write
};

/// Fails if files of these names could not be written into the folder, or if one would replace a file that is not ours
/// (Ownership.h), an input, another output or something that is no regular file; touches nothing.
llvm::Error checkWritable(llvm::StringRef directory, llvm::ArrayRef<std::string> names, WriteRules const &rules = {});

/// Asks checkWritable, writes each file to a temporary beside its place and then renames all. After an error every file
/// is as it was before. Files whose contents are right already keep their time stamp.
llvm::Error writeFiles(llvm::StringRef directory, llvm::ArrayRef<OutputFile> files, WriteRules const &rules = {});

} // namespace ml2k

#endif
