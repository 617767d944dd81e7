//===- IndexPolynomial.h - sums of products of unknown integers -----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_INDEXPOLYNOMIAL_H
#define ML2K_PASSES_LOWER_LOOPS_INDEXPOLYNOMIAL_H

#include "translator/ir/Polynomial.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ml2k {

/// A polynomial of unknowns, which are numbered by the user, with operators. One that grew too large, in terms, factors
/// or coefficients, is not `isKnown`, and neither is what is computed from it.
class IndexPolynomial {
public:
  using Product = Polynomial::Product;

  IndexPolynomial(int64_t constant = 0) : sum(constant) {}
  static IndexPolynomial unknown(unsigned number) { return IndexPolynomial(Polynomial::ofSymbol(number)); }

  bool isKnown() const { return sum.has_value(); }
  std::map<Product, int64_t> const &terms() const { return sum ? sum->terms() : none().terms(); }
  bool isZero() const { return sum && sum->terms().empty(); }
  int64_t constant() const { return sum ? sum->constant() : 0; }
  bool operator==(IndexPolynomial const &other) const { return sum && other.sum && terms() == other.terms(); }

  IndexPolynomial operator+(IndexPolynomial const &other) const { return plus(other, 1); }
  IndexPolynomial operator-(IndexPolynomial const &other) const { return plus(other, -1); }
  IndexPolynomial operator*(IndexPolynomial const &other) const;

  bool has(unsigned number) const { return sum && sum->contains(number); }
  /// p = factor * unknown + rest; the factor is not known if the unknown is in it, too.
  struct Split;
  Split by(unsigned number) const;
  IndexPolynomial substituted(unsigned number, IndexPolynomial const &value) const;
  IndexPolynomial renumbered(llvm::function_ref<unsigned(unsigned)> numberOf) const;

  /// p = quotient * divisor + rest, by the divisor's term of the highest degree.
  struct Division;
  Division dividedBy(IndexPolynomial const &divisor) const;

private:
  explicit IndexPolynomial(std::optional<Polynomial> sum);
  IndexPolynomial plus(IndexPolynomial const &other, int64_t factor) const;
  static Polynomial const &none();
  static IndexPolynomial ofTerm(llvm::ArrayRef<unsigned> product, int64_t coefficient,
                                llvm::function_ref<IndexPolynomial(unsigned)> of);

  std::optional<Polynomial> sum;
};

struct IndexPolynomial::Split {
  IndexPolynomial factor, rest;
};

struct IndexPolynomial::Division {
  IndexPolynomial quotient, rest;
};

} // namespace ml2k

#endif
