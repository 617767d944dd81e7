//===- IndexPolynomial.cpp - sums of products of unknown integers
//-----------------------------------------------------===//

#include "passes/lower/loops/IndexPolynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ml2k {

constexpr size_t mostTerms = 24, mostFactors = 5;

IndexPolynomial::IndexPolynomial(int64_t constant) { add({}, constant); }

IndexPolynomial IndexPolynomial::unknown(unsigned number) {
  IndexPolynomial result;
  result.add({number}, 1);
  return result;
}

int64_t IndexPolynomial::constant() const {
  auto const found = sum.find({});
  return found == sum.end() ? 0 : found->second;
}

void IndexPolynomial::add(Product product, int64_t coefficient) {
  if (coefficient == 0)
    return;
  int64_t &number = sum[product];
  known &= !AddOverflow(number, coefficient, number) && number != std::numeric_limits<int64_t>::min() &&
           sum.size() <= mostTerms && product.size() <= mostFactors;
  if (number == 0)
    sum.erase(product);
}

IndexPolynomial IndexPolynomial::plus(IndexPolynomial const &other, int64_t factor) const {
  IndexPolynomial result = *this;
  result.known &= other.known;
  for (auto const &[product, coefficient] : other.sum)
    result.add(product, factor * coefficient);
  return result;
}

IndexPolynomial IndexPolynomial::operator*(IndexPolynomial const &other) const {
  IndexPolynomial result;
  result.known = known && other.known;
  for (auto const &[left, a] : sum)
    for (auto const &[right, b] : other.sum) {
      Product product = left;
      product.append(right);
      llvm::sort(product);
      int64_t coefficient = 0;
      result.known &= !MulOverflow(a, b, coefficient);
      if (!result.known)
        return result;
      result.add(product, coefficient);
    }
  return result;
}

bool IndexPolynomial::has(unsigned number) const {
  return any_of(sum, [&](auto const &term) { return is_contained(term.first, number); });
}

IndexPolynomial::Split IndexPolynomial::by(unsigned number) const {
  Split split;
  split.factor.known = split.rest.known = known;
  for (auto const &[product, coefficient] : sum) {
    Product others = product;
    if (auto *found = llvm::find(others, number); found != others.end()) {
      others.erase(found);
      split.factor.known &= !is_contained(others, number);
      split.factor.add(others, coefficient);
    } else {
      split.rest.add(product, coefficient);
    }
  }
  return split;
}

IndexPolynomial IndexPolynomial::substituted(unsigned number, IndexPolynomial const &value) const {
  IndexPolynomial result;
  result.known = known;
  for (auto const &[product, coefficient] : sum) {
    IndexPolynomial term(coefficient);
    for (unsigned factor : product)
      term = term * (factor == number ? value : unknown(factor));
    result = result + term;
  }
  return result;
}

IndexPolynomial IndexPolynomial::renumbered(function_ref<unsigned(unsigned)> numberOf) const {
  IndexPolynomial result;
  result.known = known;
  for (auto const &[product, coefficient] : sum) {
    auto numbers = map_to_vector<3>(product, numberOf);
    llvm::sort(numbers);
    result.add(numbers, coefficient);
  }
  return result;
}

/// What is left of a product without another one's factors; nothing if it lacks one.
static std::optional<IndexPolynomial::Product> without(IndexPolynomial::Product product,
                                                       IndexPolynomial::Product const &factors) {
  for (unsigned factor : factors) {
    auto *found = llvm::find(product, factor);
    if (found == product.end())
      return std::nullopt;
    product.erase(found);
  }
  return product;
}

IndexPolynomial::Division IndexPolynomial::dividedBy(IndexPolynomial const &divisor) const {
  Division division{{}, *this};
  if (divisor.sum.empty())
    return division;
  auto const isLower = [](auto const &a, auto const &b) { return a.first.size() < b.first.size(); };
  auto const &[leading, by] = *max_element(divisor.sum, isLower);
  for (unsigned i = 0; i < mostTerms; ++i) {
    IndexPolynomial part;
    for (auto const &[product, coefficient] : division.rest.sum)
      if (auto const others = without(product, leading); others && part.isZero())
        part.add(*others, coefficient / by);
    if (part.isZero())
      break;
    division.quotient = division.quotient + part;
    division.rest = division.rest - part * divisor;
  }
  return division;
}

} // namespace ml2k
