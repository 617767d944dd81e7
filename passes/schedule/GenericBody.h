//===- GenericBody.h - reading linalg.generic while kernels are formed ----------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_GENERICBODY_H
#define ML2K_PASSES_SCHEDULE_GENERICBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <functional>

namespace ml2k {

/// Copies out of the body of a linalg.generic what a value needs, each operation once, arguments read on first use.
class BodyCopier {
public:
  using Argument = std::function<mlir::Value(mlir::BlockArgument)>;
  using Position = std::function<mlir::Value(int64_t loop)>;

  BodyCopier(mlir::OpBuilder &builder, mlir::linalg::GenericOp op, Argument argument, Position position)
      : builder(builder), body(op.getBody()), argument(std::move(argument)), position(std::move(position)) {}

  /// The copy of a value of the body.
  mlir::Value copy(mlir::Value value);

  /// From now on `from` is `to`.
  void replace(mlir::Value from, mlir::Value to) { mapping.map(from, to); }

private:
  void replacePositions(mlir::Operation *copied);

  mlir::OpBuilder &builder;
  mlir::Block *body;
  Argument argument;
  Position position;
  mlir::IRMapping mapping;
};

/// The operand of the terminator for a result.
mlir::Value yielded(mlir::linalg::GenericOp op, unsigned result);

/// True if the body, for any of its results, reads the argument of this operand.
bool reads(mlir::linalg::GenericOp op, mlir::OpOperand &operand);

/// True for an operation on tensors whose maps hold only loops and constants, and whose body only computes: no gather,
/// no control flow.
bool isPlain(mlir::linalg::GenericOp op);

/// True for a body with a function that costs more than reading its result back: exp, erf, a division...
bool isExpensive(mlir::linalg::GenericOp op);

/// True if the operations of both bodies may stand in one kernel: beyond some hundred neither a reader nor a compiler
/// follows, and each fusion copies what was fused before.
bool fitOneKernel(mlir::Block &a, mlir::Block &b);

/// True if one operation reads the value; those that fusion has left behind do not count.
bool hasOneReader(mlir::Value value);

/// True where the producer makes one element of a total, its mean say, that many elements of the reader read: it
/// belongs to the kernel that sums.
bool finishesTotal(mlir::linalg::GenericOp producer, mlir::linalg::GenericOp reader);

/// The one value that all elements of an operand have, as a scalar at the builder's place; null if there is none.
mlir::Value uniformValue(mlir::OpBuilder &builder, mlir::Value operand);

/// True if uniformValue finds one.
bool isUniform(mlir::Value operand);

/// Looks through reshapes that only add or drop dimensions of extent 1; `indices` (of `value`) become those of the
/// result. Constants stand for positions in dimensions of extent 1.
mlir::Value throughUnitReshapes(mlir::Value value, llvm::SmallVectorImpl<mlir::AffineExpr> &indices);

/// True for a reshape that only adds or drops dimensions of extent 1.
bool isUnitReshape(mlir::Operation *op);

/// The indices at which a loop nest reads an operand: results of the map with loops replaced, 0 in dimensions of
/// extent 1.
llvm::SmallVector<mlir::AffineExpr> indicesOf(mlir::AffineMap map, mlir::ShapedType type,
                                              llvm::ArrayRef<mlir::AffineExpr> loops);

/// Whether no loop of it sums up; false of none.
bool isElementwise(mlir::linalg::GenericOp op);

/// Something else than a view that the kernel writes: a tensor.empty of its own, unless the operand is a destination
/// that the program chose (a slice of a larger tensor, a value that a loop carries).
mlir::Value freshDestination(mlir::OpBuilder &builder, mlir::Value output);

/// Generics that read a tensor as it was before dimensions of extent 1 were added or dropped.
void populateReadThroughReshape(mlir::RewritePatternSet &patterns);

/// Loops that change elements named by an index array, and compute what they add themselves where that is little work.
void populateFuseTerms(mlir::RewritePatternSet &patterns);

/// Erases operations whose results nobody uses.
void eraseDead(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace ml2k

#endif
