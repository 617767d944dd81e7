//===- IndexPolynomial.cpp - sums of products of unknown integers -------------------------------------------------===//

#include "passes/lower/loops/IndexPolynomial.h"

#include "llvm/ADT/STLExtras.h"

namespace ml2k {

constexpr size_t mostFactors = 5, mostSteps = 24;

IndexPolynomial::IndexPolynomial(std::optional<Polynomial> computed) : sum(std::move(computed)) {
  auto const isLong = [](auto const &term) {
    return term.first.size() > mostFactors || term.second == std::numeric_limits<int64_t>::min();
  };
  if (sum && llvm::any_of(sum->terms(), isLong))
    sum.reset();
}

Polynomial const &IndexPolynomial::none() {
  static Polynomial const zero;
  return zero;
}

IndexPolynomial IndexPolynomial::plus(IndexPolynomial const &other, int64_t factor) const {
  return IndexPolynomial(sum ? sum->plus(other.sum, factor) : std::nullopt);
}

IndexPolynomial IndexPolynomial::operator*(IndexPolynomial const &other) const {
  return IndexPolynomial(sum ? sum->times(other.sum) : std::nullopt);
}

IndexPolynomial::Split IndexPolynomial::by(unsigned number) const {
  IndexPolynomial const factor(sum ? sum->factorOf(number) : std::nullopt);
  return {factor, *this - factor * unknown(number)};
}

IndexPolynomial IndexPolynomial::ofTerm(llvm::ArrayRef<unsigned> product, int64_t coefficient,
                                        llvm::function_ref<IndexPolynomial(unsigned)> of) {
  IndexPolynomial term(coefficient);
  for (unsigned factor : product)
    term = term * of(factor);
  return term;
}

IndexPolynomial IndexPolynomial::substituted(unsigned number, IndexPolynomial const &value) const {
  IndexPolynomial result(sum ? std::optional<Polynomial>(0) : std::nullopt);
  for (auto const &[product, coefficient] : terms())
    result = result + ofTerm(product, coefficient, [&](unsigned n) { return n == number ? value : unknown(n); });
  return result;
}

IndexPolynomial IndexPolynomial::renumbered(llvm::function_ref<unsigned(unsigned)> numberOf) const {
  IndexPolynomial result(sum ? std::optional<Polynomial>(0) : std::nullopt);
  for (auto const &[product, coefficient] : terms())
    result = result + ofTerm(product, coefficient, [&](unsigned n) { return unknown(numberOf(n)); });
  return result;
}

/// What is left of a product without another one's factors; nothing if it lacks one.
static std::optional<Polynomial::Product> without(Polynomial::Product const &product,
                                                  Polynomial::Product const &factors) {
  if (!std::includes(product.begin(), product.end(), factors.begin(), factors.end()))
    return std::nullopt;
  Polynomial::Product left;
  std::set_difference(product.begin(), product.end(), factors.begin(), factors.end(), std::back_inserter(left));
  return left;
}

IndexPolynomial::Division IndexPolynomial::dividedBy(IndexPolynomial const &divisor) const {
  Division division{{}, *this};
  if (divisor.terms().empty())
    return division;
  auto const isLower = [](auto const &a, auto const &b) { return a.first.size() < b.first.size(); };
  auto const &[leading, by] = *llvm::max_element(divisor.terms(), isLower);
  for (unsigned i = 0; i < mostSteps; ++i) {
    IndexPolynomial part;
    for (auto const &[product, coefficient] : division.rest.terms())
      if (auto const others = without(product, leading); others && part.isZero())
        part = ofTerm(*others, coefficient / by, unknown);
    if (part.isZero())
      break;
    division.quotient = division.quotient + part;
    division.rest = division.rest - part * divisor;
  }
  return division;
}

} // namespace ml2k
