//===- Einsum.cpp - sums of products by equation ------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>
#include <map>

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

/// The extent of each letter; 1 broadcasts.
using LetterSizes = std::map<char, OpFoldResult>;

static LetterSizes letterSizesOf(Node &node, Equation const &equation) {
  LetterSizes extents;
  for (auto [at, term] : llvm::enumerate(equation.terms))
    for (auto [dim, letter] : llvm::enumerate(term)) {
      OpFoldResult const size = node.b.sizeOf(node.in(at), dim);
      auto const [found, isNew] = extents.try_emplace(letter, size);
      auto const known = getConstantIntValue(found->second), own = getConstantIntValue(size);
      if (!isNew && known && own && *known != *own && *known != 1 && *own != 1)
        node.refuse("dimension " + Twine(letter) + " is " + Twine(*known) + " and " + Twine(*own));
      if (known == 1)
        found->second = size;
    }
  for (char letter : equation.result)
    if (!extents.count(letter))
      node.refuse("the result's dimension " + Twine(letter) + " is in no term");
  return extents;
}

//===--- Several terms --------------------------------------------------------------------------------------------===//

namespace {
struct Term {
  Letters letters;
  Value value;
};

/// Two terms that become one.
struct Pair {
  size_t left = 0, right = 1;
};
} // namespace

/// More terms than that are one sum of products: a graph's edges would be a search without end.
static constexpr size_t mostOrdered = 6;
/// Of a dimension whose extent is known at run time only.
static constexpr double assumedExtent = 64;

static Letters joined(Letters letters, Letters const &more) {
  for (char letter : more)
    if (letters.find(letter) == Letters::npos)
      letters += letter;
  return letters;
}

/// Multiplications of a contraction over these letters.
static double workOf(Letters const &letters, LetterSizes const &extents) {
  double work = 1;
  for (char letter : letters)
    work *= getConstantIntValue(extents.at(letter)).value_or(assumedExtent);
  return work;
}

/// What is left of a pair: the letters that the result or another term has.
static Letters keptOf(std::vector<Letters> const &terms, Pair pair, Letters const &result) {
  Letters others = result, kept;
  for (auto [at, term] : llvm::enumerate(terms))
    if (at != pair.left && at != pair.right)
      others += term;
  for (char letter : joined(joined("", terms[pair.left]), terms[pair.right]))
    if (others.find(letter) != Letters::npos)
      kept += letter;
  return kept;
}

static std::vector<Letters> without(std::vector<Letters> terms, Pair pair, Letters const &kept) {
  terms.erase(terms.begin() + pair.right);
  terms[pair.left] = kept;
  return terms;
}

/// The cheapest order of contractions of two terms each: its work, and the first pair.
static std::pair<double, Pair> cheapest(std::vector<Letters> const &terms, Letters const &result,
                                        LetterSizes const &extents) {
  if (terms.size() <= 2)
    return {workOf(joined(terms.front(), terms.back()), extents), {}};
  std::pair<double, Pair> best{std::numeric_limits<double>::infinity(), {}};
  for (size_t left = 0; left < terms.size(); ++left)
    for (size_t right = left + 1; right < terms.size(); ++right) {
      Pair const pair{left, right};
      double const work = workOf(joined(joined("", terms[left]), terms[right]), extents) +
                          cheapest(without(terms, pair, keptOf(terms, pair, result)), result, extents).first;
      if (work < best.first)
        best = {work, pair};
    }
  return best;
}

/// The sum of products of terms over the letters that the result does not have; the products where it has all.
static Value contracted(Build &b, ArrayRef<Term> terms, Letters const &result, LetterSizes const &extents) {
  Letters loops = result;
  for (Term const &term : terms)
    loops = joined(loops, term.letters);
  Sizes sizes;
  for (char letter : result)
    sizes.push_back(extents.at(letter));
  llvm::SmallVector<AffineMap> maps;
  llvm::SmallVector<Value> values;
  for (Term const &term : terms) {
    llvm::SmallVector<AffineExpr> exprs;
    for (auto [dim, letter] : llvm::enumerate(term.letters)) {
      bool const isBroadcast = Build::shapeOf(term.value)[dim] == 1 && getConstantIntValue(extents.at(letter)) != 1;
      exprs.push_back(isBroadcast ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(loops.find(letter)));
    }
    maps.push_back(AffineMap::get(loops.size(), 0, exprs, b.getContext()));
    values.push_back(term.value);
  }
  if (loops.size() == result.size())
    return b.map(values, maps, sizes, Build::elementOf(values[0]), [](Scalars &s, ValueRange factors) {
      Value product = factors[0];
      for (Value factor : factors.drop_front())
        product = s.mul(product, factor);
      return product;
    });
  return b.contract(values, maps, sizes, result.size());
}

static void importEinsum(Node &node) {
  Equation const equation = parse(node);
  LetterSizes const extents = letterSizesOf(node, equation);
  std::vector<Term> terms;
  for (auto [letters, value] : llvm::zip(equation.terms, node.allInputs()))
    terms.push_back({letters, value});
  while (terms.size() > 2 && terms.size() <= mostOrdered) {
    std::vector<Letters> letters;
    for (Term const &term : terms)
      letters.push_back(term.letters);
    Pair const pair = cheapest(letters, equation.result, extents).second;
    Letters const kept = keptOf(letters, pair, equation.result);
    Value const product = contracted(node.b, {terms[pair.left], terms[pair.right]}, kept, extents);
    terms.erase(terms.begin() + pair.right);
    terms[pair.left] = {kept, product};
  }
  node.out(0, contracted(node.b, terms, equation.result, extents));
}

void registerEinsum(Registry &table) { table.add("Einsum", {12, 28}, importEinsum); }

} // namespace ml2k::frontend
