//===- Check.h - ----------------------------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_OUTPUT_CHECK_H
#define ML2K_OUTPUT_CHECK_H

#include "translator/output/Writer.h"

#include "llvm/Support/raw_ostream.h"

namespace ml2k {

/// Compares each file with the one of its name in `directory` and prints what differs: unified differences of texts, a
/// line for a missing file and for a sidecar that is stale. `sidecars` are the names that sidecars would have; one is
/// an orphan if it exists though it is not among `files`. True if nothing differs.
bool checkFiles(llvm::StringRef directory, llvm::ArrayRef<OutputFile> files, llvm::ArrayRef<std::string> sidecars,
                llvm::raw_ostream &out);

/// True if a sidecar lies in the folder that is not among the files.
bool hasOrphan(llvm::StringRef directory, llvm::ArrayRef<OutputFile> files, llvm::StringRef sidecar);

} // namespace ml2k

#endif
