//===- Extent.h - sizes that are known at run time only -------------------------------------------------*- C++ -*-===//
//
// A size is a polynomial of the sizes of the model's inputs, so that two sizes which are computed in different ways can
// be told to be equal: 12 * (batch * seq) and batch * 12 * seq. In the constants of the import, where shapes are
// computed, each such size is a code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_EXTENT_H
#define ML2K_FRONTEND_ONNX_IMPORTER_EXTENT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ml2k::frontend {

/// A sum of products of atoms; the atoms of a product are sorted, the empty product is 1.
struct Extent {
  Extent(int64_t number = 0);
  static Extent ofAtom(unsigned atom);

  std::map<std::vector<unsigned>, int64_t> terms;

  /// Nothing if it is known at run time only.
  std::optional<int64_t> number() const;
  /// The atom that it is.
  std::optional<unsigned> atom() const;
  /// The atom, and the number that is added to it, if it is made of no more than that.
  std::pair<std::optional<unsigned>, int64_t> shiftedAtom() const;
  /// Whether it cannot be negative; atoms are not.
  bool isNatural() const;
  /// Nothing if the division leaves a rest in some term.
  std::optional<Extent> dividedBy(Extent const &divisor) const;

  bool operator==(Extent const &other) const { return terms == other.terms; }
  bool operator<(Extent const &other) const { return terms < other.terms; }
};

Extent operator+(Extent a, Extent const &b);
Extent operator-(Extent a, Extent const &b);
Extent operator*(Extent const &a, Extent const &b);

/// All sizes of a function.
class Extents {
public:
  explicit Extents(mlir::ImplicitLocOpBuilder &builder) : builder(builder) {}

  /// Operations of this block may be used by everything behind them.
  void setHome(mlir::Block *block) { home = block; }
  /// Dimensions of arguments that have the same name are equal.
  void name(mlir::Value argument, int64_t dim, std::string const &name);

  Extent of(mlir::Value tensor, int64_t dim);
  Extent of(mlir::OpFoldResult size);
  /// What a dimension is, for a tensor that was just made.
  Extent note(mlir::Value tensor, int64_t dim, Extent const &extent);
  /// Whether it cannot be negative, as what a division leaves.
  bool isNatural(Extent const &extent) const;
  /// Rounded down; neither may be negative.
  Extent quotient(Extent const &dividend, Extent const &divisor);

  /// An attribute, or operations that compute it.
  mlir::OpFoldResult size(Extent const &extent);
  mlir::Value value(Extent const &extent);
  /// Whether operations outside of all loops can compute it.
  bool isOfHome(Extent const &extent) const;

  /// A check before the first kernel, where it is not known already. Throws Refusal where it is known not to be so.
  void requireEqual(Extent const &a, Extent const &b);
  void requireAtLeast(Extent const &extent, int64_t least);

  static bool isCode(int64_t number);
  int64_t encode(Extent const &extent);
  Extent decode(int64_t number) const;
  /// ShapedType::kDynamic for a code.
  static int64_t shaped(int64_t number);
  static int64_t shaped(Extent const &extent);

  /// `4 * batch`, for messages.
  std::string text(Extent const &extent) const;
  /// Of symbols in the order of names(); null if it is made of other things than dimensions of arguments.
  mlir::AffineExpr affine(Extent const &extent) const;
  llvm::ArrayRef<std::string> names() const { return argumentNames; }

private:
  /// A dimension of a tensor, a value, or a quotient.
  struct Atom {
    std::string name;
    mlir::Value source;
    int64_t dim = -1;
    std::pair<Extent, Extent> division;
    size_t weight = 1; ///< how many sizes stand in it, as an expression
  };

  Extent atomOf(mlir::Value source, int64_t dim);
  /// Throws Refusal where it is very large.
  size_t weightOf(Extent const &extent) const;
  Extent ofResult(mlir::OpResult tensor, int64_t dim);
  mlir::Value compute(Atom const &atom);
  mlir::Value product(std::vector<unsigned> const &atoms, int64_t factor);
  void requireAtom(unsigned atom, int64_t least);
  void check(mlir::arith::CmpIPredicate predicate, Extent const &a, Extent const &b, llvm::StringRef relation);

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Block *home = nullptr;
  std::vector<Atom> atoms;
  std::vector<std::string> argumentNames;
  std::vector<Extent> codes;
  std::map<Extent, int64_t> codeOf;
  std::map<Extent, mlir::Value> made;
  std::map<std::string, Extent> named;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Extent> known;
  std::map<std::pair<Extent, Extent>, Extent> quotients;
  std::map<std::pair<Extent, Extent>, bool> checked;
};

} // namespace ml2k::frontend

#endif
