//===- Einsum.cpp - sums of products by equation ------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {

/// Dimensions of a term as letters; those under the ellipsis are '0', '1', ... counted from the last.
using Letters = std::string;

struct Equation {
  std::vector<Letters> terms;
  Letters result;
};

} // namespace

static Letters expand(Node &node, StringRef term, int64_t ellipsis) {
  Letters letters;
  while (!term.empty()) {
    if (term.consume_front("...")) {
      for (int64_t at = ellipsis - 1; at >= 0; --at)
        letters += static_cast<char>('0' + at);
      continue;
    }
    if (!llvm::isAlpha(term.front()))
      node.refuse("the equation has the term \"" + term + "\"");
    letters += term.front();
    term = term.drop_front();
  }
  return letters;
}

static Equation parse(Node &node) {
  std::string text = node.stringAttr("equation");
  llvm::erase(text, ' ');
  auto const [left, right] = StringRef(text).split("->");
  llvm::SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != node.inputCount())
    node.refuse("the equation has " + Twine(terms.size()) + " terms for " + Twine(node.inputCount()) + " inputs");
  Equation equation;
  int64_t widest = 0;
  for (auto [at, term] : llvm::enumerate(terms)) {
    bool const hasEllipsis = term.contains("...");
    int64_t const ellipsis = hasEllipsis ? node.rank(at) - static_cast<int64_t>(term.size()) + 3 : 0;
    widest = std::max(widest, ellipsis);
    equation.terms.push_back(expand(node, term, ellipsis));
    if (equation.terms.back().size() != static_cast<size_t>(node.rank(at)))
      node.refuse("term \"" + term + "\" does not fit input " + Twine(at) + " of shape " + shapeText(node.shape(at)));
  }
  if (StringRef(text).contains("->")) {
    equation.result = expand(node, right, widest);
    return equation;
  }
  // Without a result: the letters that occur once, in alphabetical order, after the ellipsis
  std::map<char, int> count;
  for (Letters const &term : equation.terms)
    for (char letter : term)
      ++count[letter];
  equation.result = expand(node, "...", widest);
  for (auto [letter, times] : count)
    if (llvm::isAlpha(letter) && times == 1)
      equation.result += letter;
  return equation;
}

static void importEinsum(Node &node) {
  Build &b = node.b;
  Equation const equation = parse(node);
  Letters loops = equation.result;
  std::map<char, OpFoldResult> sizes;
  for (auto [at, term] : llvm::enumerate(equation.terms))
    for (auto [dim, letter] : llvm::enumerate(term)) {
      if (loops.find(letter) == Letters::npos)
        loops += letter;
      OpFoldResult const size = b.sizeOf(node.in(at), dim);
      auto const [found, isNew] = sizes.try_emplace(letter, size);
      auto const known = getConstantIntValue(found->second), own = getConstantIntValue(size);
      if (!isNew && known && own && *known != *own && *known != 1 && *own != 1)
        node.refuse("dimension " + Twine(letter) + " is " + Twine(*known) + " and " + Twine(*own));
      if (known == 1)
        found->second = size;
    }
  Sizes resultSizes;
  for (char letter : equation.result) {
    if (!sizes.count(letter))
      node.refuse("the result's dimension " + Twine(letter) + " is in no term");
    resultSizes.push_back(sizes[letter]);
  }
  llvm::SmallVector<AffineMap> maps;
  for (auto [at, term] : llvm::enumerate(equation.terms)) {
    llvm::SmallVector<AffineExpr> exprs;
    for (auto [dim, letter] : llvm::enumerate(term)) {
      bool const isBroadcast = node.shape(at)[dim] == 1 && getConstantIntValue(sizes[letter]) != 1;
      exprs.push_back(isBroadcast ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(loops.find(letter)));
    }
    maps.push_back(AffineMap::get(loops.size(), 0, exprs, b.getContext()));
  }
  int64_t const kept = equation.result.size();
  node.out(0, b.contract(node.allInputs(), maps, resultSizes, kept));
}

void registerEinsum(Registry &table) { table.add("Einsum", {12}, importEinsum); }

} // namespace ml2k::frontend
