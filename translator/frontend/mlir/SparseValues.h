//===- SparseValues.h - which operations run over stored elements alone ---------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_SPARSEVALUES_H
#define ML2K_FRONTEND_MLIR_SPARSEVALUES_H

#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/Nest.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ml2k::mlir_import {

inline bool isSparse(mlir::Value value) {
  return mlir::sparse_tensor::getSparseTensorEncoding(value.getType()) != nullptr;
}

/// Whether `value` is zero where all of `zeros` are. As the value of an entry it may be a quotient, too: where nothing
/// is stored nothing is divided.
bool vanishesAt(mlir::Value value, llvm::ArrayRef<mlir::Value> zeros, bool asEntry = false);
inline bool vanishes(mlir::Value value, mlir::Value zero, bool asEntry = false) {
  return vanishesAt(value, zero, asEntry);
}

/// What is added to `before`, or the whole value if nothing reads that; null if it is neither.
mlir::Value termOf(mlir::linalg::LinalgOp op, mlir::BlockArgument before);

/// Whether the operation can run over the elements that an operand stores alone: it is zero where that is.
bool runsOverStored(mlir::linalg::LinalgOp op, mlir::OpOperand &sparse);

/// How a sparse value is stored, and a number that others with the same entries share.
struct Storage {
  mlir::sparse_tensor::SparseTensorEncodingAttr encoding;
  int64_t entries;
};
using StorageOf = llvm::function_ref<std::optional<Storage>(mlir::Value)>;

/// The sparse input over whose entries the operation can run. Others have the same entries, or what they have at an
/// entry can be looked up: no loop of theirs is another one. Null if there is none.
mlir::OpOperand *walkedInput(mlir::linalg::LinalgOp op, StorageOf storageOf);

/// The argument that stands for a sparse tensor; null for others.
mlir::BlockArgument standInOf(mlir::func::FuncOp entry, mlir::Value value);

/// Checks that operations on what stands for sparse tensors can run over the entries of one of them, and says which.
mlir::LogicalResult chooseWalked(mlir::func::FuncOp entry);

/// Whether an operation says what it does to stored elements, not to elements.
bool speaksOfEntries(mlir::linalg::LinalgOp op);

/// Whether a destination has no elements yet but zeros.
bool isEmptyTensor(mlir::Value value);

/// The tensor whose positions and coordinates the result of an operation has.
std::optional<int64_t> patternOf(mlir::linalg::LinalgOp op, StorageOf storageOf);

/// How the result of an operation, or of a conversion from a dense or sparse tensor, is assembled by a kernel.
std::optional<nest::Assembly> assemblyOf(mlir::linalg::LinalgOp op, StorageOf storageOf);
std::optional<nest::Assembly> conversionOf(std::optional<Storage> const &from,
                                           mlir::sparse_tensor::SparseTensorEncodingAttr to);

/// The elements of a sparse tensor as a dense one.
mlir::Value densified(mlir::OpBuilder &builder, mlir::Location location, mlir::Value sparse,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Whether loops can collect the entries of a result that is stored so.
bool canCollect(mlir::sparse_tensor::SparseTensorEncodingAttr encoding);

/// At the end of the program: the entries of a dense tensor in arrays of the caller's.
void collectEntries(mlir::func::FuncOp entry, mlir::Value dense, mlir::RankedTensorType type, mlir::StringAttr name,
                    int64_t number);

/// Until densifyOthers(): on an operation whose sparse result is computed as a dense tensor.
inline constexpr llvm::StringLiteral madeDense = "ml2k.made_dense";

/// On what stands for a result whose entries are collected: no kernel runs over them.
inline constexpr llvm::StringLiteral sparseCollected = "nest.collected";

/// Whether the text says that the operation has nothing to do where nothing is stored.
bool isStoredOnly(mlir::linalg::LinalgOp op);

/// The arrays of a stored tensor as arguments from `place` on; with `counts` a first level of coordinates has
/// positions, too.
void addArrays(mlir::func::FuncOp entry, unsigned place, llvm::StringRef name, mlir::RankedTensorType type,
               int64_t number, bool valuesOnly = false, bool counts = false);

/// Operations whose results are sparse, behind those on sparse arguments; tensors are numbered from `next` on.
mlir::LogicalResult takeSparseResults(mlir::func::FuncOp entry, int64_t next);

/// Operations that do something where one operand stores an element and another one does not, or that drop entries,
/// become such on dense tensors.
void spellOutEntries(mlir::func::FuncOp entry);

/// Until dropStoredOnly(): sparse_tensor.unary, binary and reduce become what they do to stored elements.
mlir::LogicalResult inlineStoredBodies(mlir::func::FuncOp entry);
mlir::LogicalResult dropStoredOnly(mlir::func::FuncOp entry);

} // namespace ml2k::mlir_import

#endif
