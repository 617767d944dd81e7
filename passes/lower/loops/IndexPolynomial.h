//===- IndexPolynomial.h - sums of products of unknown integers ---------------------------------------------*- C++
//-*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_INDEXPOLYNOMIAL_H
#define ML2K_PASSES_LOWER_LOOPS_INDEXPOLYNOMIAL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>

namespace ml2k {

/// Σ coefficient * product of unknowns, which are numbered by the user. One that grew too large, in terms or in
/// coefficients, is not `isKnown`, and neither is what is computed from it.
class IndexPolynomial {
public:
  using Product = llvm::SmallVector<unsigned, 3>; ///< sorted; a square stands twice

  IndexPolynomial(int64_t constant = 0);
  static IndexPolynomial unknown(unsigned number);

  bool isKnown() const { return known; }
  std::map<Product, int64_t> const &terms() const { return sum; }
  bool isZero() const { return known && sum.empty(); }
  int64_t constant() const;
  bool operator==(IndexPolynomial const &other) const { return known && other.known && sum == other.sum; }

  IndexPolynomial operator+(IndexPolynomial const &other) const { return plus(other, 1); }
  IndexPolynomial operator-(IndexPolynomial const &other) const { return plus(other, -1); }
  IndexPolynomial operator*(IndexPolynomial const &other) const;

  bool has(unsigned number) const;
  /// p = factor * unknown + rest; not known if the unknown is in the factor, too.
  struct Split;
  Split by(unsigned number) const;
  IndexPolynomial substituted(unsigned number, IndexPolynomial const &value) const;
  IndexPolynomial renumbered(llvm::function_ref<unsigned(unsigned)> numberOf) const;

  /// p = quotient * divisor + rest, by the divisor's term of the highest degree.
  struct Division;
  Division dividedBy(IndexPolynomial const &divisor) const;

private:
  IndexPolynomial plus(IndexPolynomial const &other, int64_t factor) const;
  void add(Product product, int64_t coefficient);

  std::map<Product, int64_t> sum;
  bool known = true;
};

struct IndexPolynomial::Split {
  IndexPolynomial factor, rest;
};

struct IndexPolynomial::Division {
  IndexPolynomial quotient, rest;
};

} // namespace ml2k

#endif
