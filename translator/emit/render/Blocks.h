//===- Blocks.h - the building blocks that generated files print for themselves -------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_RENDER_BLOCKS_H
#define ML2K_EMIT_RENDER_BLOCKS_H

#include "translator/emit/render/Render.h"

#include "llvm/ADT/StringSet.h"

#include <set>
#include <string>

namespace ml2k {

/// The functions, types and constants that parts and blocks declare in the model's namespace. All of them, used or not:
/// a new layer, with its blocks, must not rename what is there already.
llvm::StringSet<> const &blockNames();

/// The blocks and parts in use with all that they need, in printing order: {"parts": [...], "blocks": [...]} and the
/// headers. `flags`: what the program is for and made of.
Json viewBlocks(std::set<std::string> const &used, bool embedded, std::set<std::string> const &headers,
                Json const &flags);

} // namespace ml2k

#endif
