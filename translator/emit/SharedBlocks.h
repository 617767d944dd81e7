//===- SharedBlocks.h - one header with the building blocks of several models ---------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_SHAREDBLOCKS_H
#define ML2K_EMIT_SHAREDBLOCKS_H

#include "translator/emit/Emit.h"

#include "llvm/ADT/ArrayRef.h"

namespace ml2k {

struct BlocksFile {
  std::string name; ///< without its folder; its stem is the namespace
  std::string regenerate;
  std::string license; ///< empty: no SPDX line
};

/// The namespace of the blocks in a file of this name.
std::string blocksNamespace(llvm::StringRef file);

/// Prints the blocks of all models, not yet formatted, and lets the models include them. A block can do what any of the
/// models asks of it; the order of the models changes nothing. What differs in the interface of blocks lies in a
/// namespace of its own: images of run-time size (`sized`), kernels that a host does not launch (`small`).
std::string shareBlocks(llvm::MutableArrayRef<ModelView> models, BlocksFile const &file);

} // namespace ml2k

#endif
