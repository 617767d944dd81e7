//===- Provenance.cpp - the comment in front of a layer -----------------------------------------------------------===//

#include "translator/emit/model/Provenance.h"

#include "translator/ir/Parts.h"
#include "translator/text/Text.h"

using namespace mlir;

namespace ml2k {

/// In their order.
static void collectNodes(Location location, SmallVectorImpl<StringRef> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (StringRef const node = wholeOf(name.getName()); !llvm::is_contained(nodes, node))
      nodes.push_back(node);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectNodes(part, nodes);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectNodes(call.getCallee(), nodes);
  }
}

constexpr size_t widestComment = 117; // of 120 columns

/// Breaks text at spaces: a comment that clang-format had to break would run into the line behind it.
static void addLines(std::vector<std::string> &comments, StringRef text) {
  std::string line;
  while (!text.empty()) {
    auto const [word, rest] = text.split(' ');
    if (!line.empty() && line.size() + 1 + word.size() > widestComment) {
      comments.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word.str();
    text = rest;
  }
  comments.push_back(line);
}

std::vector<std::string> provenanceLines(StringRef label, Location location, StringRef shapes, LocationStyle style) {
  SmallVector<StringRef> nodes;
  if (style != LocationStyle::None)
    collectNodes(location, nodes);
  llvm::erase(nodes, label);
  std::string const title = commentText(label, longestName);
  std::string text = "--- " + title;
  // "ex:" at the start of a word is a command of editors, which would be spelled
  StringRef separator = commentText((label + ":").str(), longestName) == title + ":" ? ": " : " : ";
  for (StringRef node : nodes) {
    text += separator.str() + commentText(style == LocationStyle::Plain ? node.split(' ').first : node, longestName);
    separator = " + ";
  }
  std::vector<std::string> lines;
  addLines(lines, text);
  addLines(lines, shapes);
  return lines;
}

} // namespace ml2k
