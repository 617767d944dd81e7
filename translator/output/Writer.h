//===- Writer.h - puts a set of files in place, all or none ---------------------------------------------*- C++ -*-===//

#ifndef ML2K_OUTPUT_WRITER_H
#define ML2K_OUTPUT_WRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ml2k {

struct OutputFile {
  std::string name; ///< without its folder
  std::string contents;
};

/// Fails if files of these names could not be written into the folder; touches nothing. For asking before the work.
llvm::Error checkWritable(llvm::StringRef directory, llvm::ArrayRef<std::string> names);

/// Writes each file to a temporary beside its place and then renames all. After an error every file is as it was
/// before. Files whose contents are right already keep their time stamp.
llvm::Error writeFiles(llvm::StringRef directory, llvm::ArrayRef<OutputFile> files);

} // namespace ml2k

#endif
