//===- Scalars.h - the scalar operations of a region as C++ statements and expressions ------------------*- C++ -*-===//
//
// One printer for every region of every kernel. Values used once stand inside the expression that uses them; values
// used more often get a name that says what they are. Operations are looked up in two tables: those that are
// expressions (ScalarTable.cpp) and those that are statements (ControlFlow.cpp, the kernels). What is in neither is
// refused.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_SCALARS_SCALARS_H
#define ML2K_EMIT_SCALARS_SCALARS_H

#include "translator/emit/model/Names.h"
#include "translator/emit/scalars/Values.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <functional>
#include <map>

namespace ml2k {

class ScalarPrinter {
public:
  using Nouns = std::vector<std::string>;
  /// Prints an operation as statements of `to`; results are bound by the handler.
  using Handler = std::function<mlir::LogicalResult(mlir::Operation *, ScalarPrinter &, Body &to)>;

  /// `names` are the identifiers that the region may not hide.
  explicit ScalarPrinter(Scope &names) : names(&names) {}

  /// Adds or replaces how operations of this name are printed.
  void handle(llvm::StringRef operation, Handler handler) { handlers[operation.str()] = std::move(handler); }

  /// What prints operations of this name that are no expressions.
  Handler handlerOf(llvm::StringRef operation) const { return handlers.at(operation.str()); }

  /// What a value defined outside the region, or a block argument, is called.
  void bind(mlir::Value value, Expression expression) { bound[value] = std::move(expression); }
  bool isBound(mlir::Value value) const { return bound.contains(value); }

  /// Binds a value that is used once to an expression, which gets a name where something is written in between.
  void bindLater(mlir::Value value, Expression expression);

  /// Binds a block argument or a load to a read of memory: named if it is used more than once.
  void bindRead(mlir::Value value, Expression read, Body &to);

  /// The expression of a value for one use of it.
  mlir::FailureOr<Expression> use(mlir::Value value);
  mlir::FailureOr<llvm::SmallVector<Expression>> use(mlir::ValueRange values);

  /// `value` of those operations, each of which serves the next, as one expression.
  mlir::FailureOr<Expression> chain(llvm::ArrayRef<mlir::Operation *> operations, mlir::Value value);

  /// Prints all operations of the block but its terminator.
  mlir::LogicalResult print(mlir::Block &block, Body &to);

  /// Some of them.
  mlir::LogicalResult print(llvm::ArrayRef<mlir::Operation *> operations, Body &to);

  /// Declares a constant and returns its name; `identity` tells it from others of the same nouns.
  Expression let(Body &to, mlir::Type type, Expression const &value, Nouns const &nouns, llvm::StringRef identity = "");

  /// The same for a value, unsigned where it has that form and nothing needs another.
  Expression letValue(Body &to, mlir::Value value, Expression const &expression, Nouns const &nouns,
                      llvm::StringRef identity = "");

  /// An operand that an expression repeats: a name or a literal as it is, else a constant.
  Expression repeatable(Expression const &operand, mlir::Type type);

  /// Gives names to reads that are still to be used: a write follows.
  void settleReads(Body &to);
  /// The same for a write to `memref`: not to those of memory for which `mayMeet` is false.
  void settleReads(Body &to, mlir::Value memref, llvm::function_ref<bool(mlir::Value, mlir::Value)> mayMeet);

  Scope names;
  bool constantsFirst = false; ///< `0.25 * x`; MLIR's canonicalizer has put constants behind
  unsigned longest = 100;      ///< characters of an expression that the text of a loop program has a name for
  bool fastMath = false;       ///< exp, log, tanh and erf of float are blocks
  bool readsBools = true;      ///< from memory; those that a form converts are none there
  /// Whether a value gets a name though it is used once; none if not set.
  std::function<bool(mlir::Value)> isNamed;
  /// What memory is called; empty for what has no name.
  std::function<std::string(mlir::Value)> memoryName;
  /// Prints a value that is defined outside of the region; fails for what it does not know.
  std::function<mlir::FailureOr<Expression>(mlir::Value)> outside;

  /// Constants that have become variables, and among which statements they are declared.
  std::map<Identifier, Body const *> changing;
  llvm::DenseSet<mlir::Value> changed; ///< later values of those

private:
  mlir::LogicalResult printOperation(mlir::Operation *op, Body &to);
  mlir::LogicalResult printSum(mlir::Operation *op, Body &to);
  unsigned mostWidth(mlir::Value value) const;
  Nouns settledNouns(mlir::Value value) const;
  Nouns storedNouns(mlir::Value value, Nouns nouns);
  void place(mlir::Value value, Expression expression, Nouns const &nouns, Body &to);

  std::map<std::string, Handler> handlers;
  llvm::DenseMap<mlir::Value, Expression> bound;
  std::vector<mlir::Value> pendingReads; ///< inlined reads that no statement has used yet, in program order
  unsigned depth = 0;                    ///< of blocks in blocks: names of an inner one are free after it
  Body *current = nullptr;               ///< where repeatable() declares
  bool isChain = false;                  ///< no value gets a name
};

/// `nouns` with the name in front that the text of a loop program gives to the value, if it gives one.
ScalarPrinter::Nouns withSourceName(mlir::Value value, ScalarPrinter::Nouns nouns);

/// How an operation is printed as an expression of its operands, and what its result is called if it needs a name.
struct ScalarEntry {
  std::vector<std::string> nouns;
  std::function<mlir::FailureOr<Expression>(mlir::Operation *, llvm::ArrayRef<Expression>, ScalarPrinter &)> print;
};

/// What the verifiers let pass has a printed form. A mistake of theirs ends here, with an error instead of a wrong
/// file.
mlir::LogicalResult unprintable(mlir::Operation *op, llvm::Twine const &why);

/// The entry of an arith or math operation, null if there is none.
ScalarEntry const *lookUpScalar(llvm::StringRef operation);

/// A loop as it stands.
mlir::LogicalResult printFor(mlir::Operation *op, ScalarPrinter &printer, Body &to);
/// The bounds of a loop, which may go down; the index has no name yet.
mlir::FailureOr<cpp::For> loopHead(mlir::scf::ForOp loop, ScalarPrinter &printer);
/// Names the index.
void bindIndex(mlir::scf::ForOp loop, cpp::For &head, ScalarPrinter &printer);

/// The variable of a loop that goes on with `value`, if nothing needs what it holds now: `total += x; y(k) = total;`.
std::optional<Identifier> variableNextHeldBy(mlir::Value value, ScalarPrinter &printer);

/// The variable whose earlier value, which nothing needs any more, `value` replaces: `x ^= x << 13u;`.
std::optional<Identifier> variableChangedBy(mlir::Value value, ScalarPrinter &printer, Body &to);

/// Registers scf.if, scf.for and scf.while.
void handleControlFlow(ScalarPrinter &printer);

} // namespace ml2k

#endif
