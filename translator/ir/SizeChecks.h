//===- SizeChecks.h - what forward() asks of run-time sizes ---------------------------------------------*- C++ -*-===//
//
// Where the positions of an access are sums and products of loop indices, sizes and numbers passed by value, the
// largest one is known at the entry: forward() throws unless the extent that it is an index of is larger, and unless
// the smallest one is at least 0. Loops are taken to run at least once.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_SIZECHECKS_H
#define ML2K_IR_SIZECHECKS_H

#include "translator/ir/Polynomial.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <string>

namespace ml2k {

class SizeChecks {
public:
  using Value64 = std::optional<Polynomial>; ///< nothing: not known at the entry

  explicit SizeChecks(mlir::func::FuncOp entry) : entry(entry) {}
  virtual ~SizeChecks() = default;

protected:
  //===--- Values ---===//

  /// Of a memref or a tensor.
  virtual Value64 extent(mlir::Value shaped, int64_t dim) = 0;
  /// Of an argument of the entry, by its name.
  Value64 extentOfArgument(mlir::BlockArgument argument, int64_t dim);
  Value64 polynomial(mlir::Value value);
  Value64 polynomialOf(mlir::OpFoldResult value);
  bool isOfEntry(mlir::Value value);

  static Value64 sum(Value64 const &a, Value64 const &b, int64_t factor);
  static Value64 product(Value64 const &a, Value64 const &b);

  //===--- Loops ---===//

  void enter(mlir::Value index, mlir::Value lower, mlir::Value upper, mlir::Value step = {});
  void leave(unsigned count = 1) { loops.resize(loops.size() - count); }
  /// The value at the position where it is largest, or smallest.
  Value64 extreme(Value64 value, bool largest);
  /// 1 where no value of the symbols makes it negative, -1 where none makes it positive, 0 where neither is known.
  int signOf(Polynomial const &value) const;

  //===--- Requirements ---===//

  /// `value` <= 0 has to hold. What never holds is a loop that never runs.
  void atMostZero(Value64 const &value);
  void zero(Value64 const &value);
  /// Over the names of extents and numbers, which `names` gets; nothing where an index of a loop is in it.
  mlir::AffineExpr affine(Polynomial const &value, llvm::SmallVectorImpl<std::string> &names) const;
  /// Asserts at the start of the block what is needed.
  void write(mlir::Block &block);
  /// What only a branch needs is asserted there.
  void inBranch(mlir::Block &block, llvm::function_ref<void()> visit);

  mlir::func::FuncOp entry;

private:
  /// What polynomials are over: an extent of an argument, a number passed by value, or the index of a loop.
  struct Symbol {
    mlir::Value value; ///< the argument of an extent, the number, the index
    int64_t dim = -1;  ///< of an extent
    std::string name;  ///< as messages call it
    bool isNatural = false;
  };
  /// A loop around an access.
  struct Loop {
    unsigned index;
    Value64 lower, upper;
    bool isDense = true; ///< its step is 1
  };
  /// The terms of one sign, as a value and in words.
  struct Side {
    mlir::Value value;
    std::string text;
  };

  unsigned symbolOf(Symbol symbol);
  Value64 computed(mlir::Value value);
  std::string nameOf(mlir::Value number);
  mlir::Value valueOf(mlir::OpBuilder &builder, Symbol const &symbol);
  void add(mlir::OpBuilder &builder, Side &side, mlir::Value term, std::string const &text);
  void addTerm(mlir::OpBuilder &builder, Side &side, Polynomial::Product const &product, int64_t factor);
  std::pair<Side, Side> sidesOf(mlir::OpBuilder &builder, Polynomial const &value, int64_t constant);
  bool isEquality(Polynomial const &value, int64_t constant) const;
  bool isOfLast(Polynomial const &value) const;

  std::vector<Symbol> symbols;
  llvm::StringMap<unsigned> extentSymbols; ///< by name
  llvm::DenseMap<mlir::Value, unsigned> valueSymbols;
  llvm::DenseMap<mlir::Value, Value64> known; ///< values that were asked for
  unsigned depth = 0;
  std::vector<Loop> loops;
  unsigned firstLoop = 0;               ///< of the innermost branch: what is outside has no index here
  std::map<Polynomial, int64_t> needed; ///< that this plus that is at most 0
};

} // namespace ml2k

#endif
