//===- ForwardPrinter.h - the body of forward() ---------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_MODEL_FORWARDPRINTER_H
#define ML2K_EMIT_MODEL_FORWARDPRINTER_H

#include "translator/emit/model/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// `image.extent_int(0)`
Expression extentOf(Identifier const &view, unsigned dim);

/// `left < right` and the like.
Expression comparison(mlir::arith::CmpIPredicate predicate, Expression left, Expression right);

/// The parameters of forward().
std::vector<cpp::Parameter> parametersOf(Program const &program);

/// Whether a tensor has more elements than an int can count, of those that are to be asked; none if all sizes are
/// known.
std::optional<Expression> tooManyElements(Program const &program);

/// Kernels and control flow are printed in Forward.cpp, what is checked in front of them in ForwardChecks.cpp.
class ForwardPrinter {
public:
  explicit ForwardPrinter(Program &program) : program(program), scope(&program.fileScope) {
    for (cpp::Parameter const &parameter : parametersOf(program))
      scope.take(parameter.name->str()); // which a loop inside may not hide
    for (Storage const &buffer : program.buffers)
      scope.take(buffer.name); // locals of kernels, which get the index of a loop
  }

  mlir::FailureOr<ForwardView> print();

private:
  mlir::LogicalResult print(mlir::Block &block, Body &statements) {
    for (mlir::Operation &op : block.without_terminator())
      if (failed(printOperation(&op, statements)))
        return mlir::failure();
    return mlir::success();
  }

  /// What has to hold, as the refusal where it does not.
  struct Check {
    cpp::Refuse refuse;
    bool isLowerBound;
  };

  Body readSizes(Body &checks);
  void addComputedSizes(std::vector<Expression> &differ);
  void fitWorkspace(Body &statements);
  Check checkOf(mlir::cf::AssertOp check);
  void printChecks(std::vector<Check> &checks);
  void shareChecks(std::vector<Check> const &checks, Body &statements);
  mlir::LogicalResult printOperation(mlir::Operation *op, Body &statements);
  mlir::LogicalResult printLocal(mlir::Operation *op, Body &statements);
  mlir::LogicalResult printKernel(mlir::Operation *op, KernelPrinter printer, Body &statements);
  mlir::LogicalResult printLoop(mlir::scf::ForOp loop, Body &statements);
  void printExchange(mlir::ValueRange carried, mlir::ValueRange yields, Body &statements);
  /// What a loop carries, as a variable that begins as `init`.
  cpp::Variable exchangedVariable(mlir::Value carried, mlir::Value init);
  mlir::LogicalResult printBranch(mlir::scf::IfOp branch, Body &statements);
  mlir::LogicalResult printWhile(mlir::scf::WhileOp loop, Body &statements);
  mlir::LogicalResult nameLocal(mlir::Operation *op, Expression const &value, bool isLong, Body &statements);
  mlir::LogicalResult printNumbers(mlir::Operation *first, Body &statements);
  mlir::LogicalResult printFirst(mlir::ValueRange variables, mlir::ValueRange inits, Body &statements);
  mlir::LogicalResult printNext(mlir::ValueRange variables, mlir::ValueRange yielded, Body &body);
  mlir::FailureOr<Expression> hostScalar(mlir::Value value);
  Expression readBack(mlir::Operation *load);
  std::optional<Expression> readBackTogether(mlir::ValueRange values, mlir::ValueRange variables);
  mlir::FailureOr<Expression> condition(mlir::Value value);
  Expression hostExpression(mlir::Value value, bool isChecked = false, int64_t distance = 0);

  Program &program;
  Scope scope;
  ForwardView view;
  llvm::DenseSet<mlir::Operation *> printed; ///< with the kernel that they follow
  llvm::DenseSet<mlir::Value> longLocals;    ///< indices computed of numbers of 64 bits
};

} // namespace ml2k

#endif
