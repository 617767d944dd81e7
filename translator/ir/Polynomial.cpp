//===- Polynomial.cpp - sizes and positions as sums of products ---------------------------------------------------===//

#include "translator/ir/Polynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ml2k;

/// Larger ones are no positions of loops.
constexpr size_t mostTerms = 64;

void Polynomial::set(Product const &product, int64_t factor) {
  if (factor == 0)
    factors.erase(product);
  else
    factors[product] = factor;
}

Polynomial Polynomial::ofSymbol(unsigned symbol) {
  Polynomial result;
  result.set({symbol}, 1);
  return result;
}

int64_t Polynomial::constant() const {
  auto const found = factors.find({});
  return found == factors.end() ? 0 : found->second;
}

std::optional<Polynomial> Polynomial::plus(std::optional<Polynomial> const &other, int64_t factor) const {
  if (!other || factors.size() + other->factors.size() > mostTerms)
    return std::nullopt;
  Polynomial result = *this;
  for (auto const &[product, count] : other->factors) {
    auto const before = factors.find(product);
    int64_t more = 0, sum = 0;
    if (llvm::MulOverflow(count, factor, more) ||
        llvm::AddOverflow(before == factors.end() ? 0 : before->second, more, sum))
      return std::nullopt;
    result.set(product, sum);
  }
  return result;
}

std::optional<Polynomial> Polynomial::times(std::optional<Polynomial> const &other) const {
  if (!other || factors.size() * other->factors.size() > mostTerms)
    return std::nullopt;
  std::optional<Polynomial> result = Polynomial();
  for (auto const &[left, countLeft] : factors)
    for (auto const &[right, countRight] : other->factors) {
      Polynomial term;
      Product product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(product));
      int64_t count = 0;
      if (!result || llvm::MulOverflow(countLeft, countRight, count))
        return std::nullopt;
      term.set(product, count);
      result = result->plus(term);
    }
  return result;
}

std::optional<Polynomial> Polynomial::factorOf(unsigned symbol) const {
  Polynomial result;
  for (auto const &[product, count] : factors) {
    auto const times = llvm::count(product, symbol);
    if (times > 1)
      return std::nullopt;
    if (times == 0)
      continue;
    Product rest = product;
    rest.erase(llvm::find(rest, symbol));
    result.set(rest, count);
  }
  return result;
}

bool Polynomial::contains(unsigned symbol) const {
  return llvm::any_of(factors, [&](auto const &term) { return llvm::is_contained(term.first, symbol); });
}
