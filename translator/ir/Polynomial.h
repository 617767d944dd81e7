//===- Polynomial.h - sizes and positions as sums of products -------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_POLYNOMIAL_H
#define ML2K_IR_POLYNOMIAL_H

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ml2k {

/// A sum of products of symbols, which are numbers of the caller's, with integer factors. An operation whose factors
/// leave 64 bits, or that has more than 64 terms, gives nothing.
class Polynomial {
public:
  using Product = std::vector<unsigned>; ///< of symbols, sorted; the empty one is 1

  Polynomial(int64_t constant = 0) { set({}, constant); }
  static Polynomial ofSymbol(unsigned symbol);

  std::map<Product, int64_t> const &terms() const { return factors; }
  int64_t constant() const;
  bool isConstant() const { return factors.empty() || (factors.size() == 1 && factors.begin()->first.empty()); }

  /// this + factor * other.
  std::optional<Polynomial> plus(std::optional<Polynomial> const &other, int64_t factor = 1) const;
  std::optional<Polynomial> times(std::optional<Polynomial> const &other) const;

  /// What is multiplied with `symbol`; nothing where that is in a square.
  std::optional<Polynomial> factorOf(unsigned symbol) const;
  bool contains(unsigned symbol) const;

  friend bool operator<(Polynomial const &a, Polynomial const &b) { return a.factors < b.factors; }

private:
  void set(Product const &product, int64_t factor);

  std::map<Product, int64_t> factors; ///< none is 0
};

} // namespace ml2k

#endif
