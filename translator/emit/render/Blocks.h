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

/// Blocks and parts with all that they need. `flags`: what the program is for and made of.
std::set<std::string> neededBlocks(std::set<std::string> const &used, bool embedded, Json const &flags);

/// Those in printing order: {"parts": [...], "details": [...], "blocks": [...]} and the headers.
Json viewBlocks(std::set<std::string> const &needed, std::set<std::string> const &headers, Json const &flags);

/// What those of them declare that are printed: for everybody, or the details of the header.
std::set<std::string> declaredNames(std::set<std::string> const &needed, Json const &flags, bool details);

/// Whether what it declares is of no use to anybody but the model.
bool isDetail(llvm::StringRef block);

/// How blocks ask for heights, widths and pitches: members of the types of images, or of the images themselves.
Json viewExtents(bool sized);

} // namespace ml2k

#endif
