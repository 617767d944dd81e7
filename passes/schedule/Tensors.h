//===- Tensors.h - small builders shared by the schedule passes -----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_TENSORS_H
#define ML2K_PASSES_SCHEDULE_TENSORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

namespace ml2k {

/// An uninitialised tensor; dynamic dimensions are taken from dimensions of other values: sources[i] = (value,
/// dimension).
mlir::Value emptyLike(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                      llvm::ArrayRef<std::pair<mlir::Value, int64_t>> sources);

/// Dimension i of the result is dimension permutation[i] of the value; the value itself for the identity.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> permutation);

llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> permutation);
bool isIdentity(llvm::ArrayRef<int64_t> permutation);

/// The multiplication of a sum of products, whatever its factors are: mulf + addf or muli + addi, two inputs, one
/// output. Null for other bodies.
mlir::Operation *multiplication(mlir::linalg::LinalgOp op);

/// Whether the factors are the two inputs, floating-point ones perhaps widened.
bool isMultiplyAdd(mlir::linalg::LinalgOp op);

/// A generic that adds (or what `make` builds) elementwise: result(loops) = make(first, second), result like `first`.
mlir::Value elementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first, mlir::Value second,
                        mlir::AffineMap secondMap,
                        llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value, mlir::Value)> make);

/// What brings a transpose together with the operation that takes it in where a reshape stands between them.
void populateLayoutThroughReshapes(mlir::RewritePatternSet &patterns);

/// Those of them that only bring one transpose to another.
void populateTransposeBeforeReshape(mlir::RewritePatternSet &patterns);

/// What undoes the joins of heads and batch that stand between attention and the products in front of it.
void populateJoinedHeads(mlir::RewritePatternSet &patterns);

/// What makes loops of their own of batch and heads that were joined for a product only.
void populateSeparateBatch(mlir::RewritePatternSet &patterns);

/// What lets operations that gather, such as resizing, read and write images as they lie.
void populateGathersInOrder(mlir::RewritePatternSet &patterns);

/// What computes norms over groups of channels as images lie.
void populateChannelGroups(mlir::RewritePatternSet &patterns);

/// What keeps images of one row images between convolutions.
void populateLines(mlir::RewritePatternSet &patterns);

/// What brings concatenations into the order of their operands, or of those who read them.
void populateConcatOrder(mlir::RewritePatternSet &patterns);

} // namespace ml2k

#endif
