//===- SparseForms.cpp - where the entries of a sparse result come from -------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using ml2k::nest::Assembly;

namespace ml2k::mlir_import {

using Encoding = sparse_tensor::SparseTensorEncodingAttr;

bool isEmptyTensor(Value value) {
  Operation *made = value.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(made))
    return matchPattern(fill.value(), m_AnyZeroFloat()) || matchPattern(fill.value(), m_Zero());
  if (auto made_ = dyn_cast_or_null<bufferization::AllocTensorOp>(made); made_ && made_.getCopy())
    return false;
  return isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(made);
}

bool speaksOfEntries(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->getOperations(), [](Operation &inner) {
    return isa_and_nonnull<sparse_tensor::SparseTensorDialect>(inner.getDialect());
  });
}

std::optional<int64_t> patternOf(linalg::LinalgOp op, StorageOf storageOf) {
  OpOperand &output = *op.getDpsInitOperand(0);
  AffineMap const map = op.getMatchingIndexingMap(&output);
  auto const encoding = sparse_tensor::getSparseTensorEncoding(output.get().getType());
  Value const term = termOf(op, op.getMatchingBlockArgument(&output));
  if (!term || !map.isProjectedPermutation() || map.getNumResults() != op.getNumParallelLoops())
    return std::nullopt;
  std::optional<int64_t> pattern;
  SmallVector<Value> stored;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<Storage> const storage = storageOf(input->get());
    if (!storage)
      continue;
    if (storage->encoding != encoding || op.getMatchingIndexingMap(input) != map ||
        (pattern && *pattern != storage->entries))
      return std::nullopt;
    pattern = storage->entries;
    stored.push_back(op.getMatchingBlockArgument(input));
  }
  return pattern && (isStoredOnly(op) || vanishesAt(term, stored, /*asEntry=*/true)) ? pattern : std::nullopt;
}

//===--- Entries that are counted ---------------------------------------------------------------------------------===//

static bool isByRows(Encoding encoding) {
  std::optional<SmallVector<SparseLevel>> const levels = levelsOf(encoding);
  return levels && levels->size() == 2 && (*levels)[0].isDense() &&
         (*levels)[1].format == SparseLevel::Format::Compressed && (*levels)[0].part == SparseLevel::Part::Whole;
}

static bool isTriplets(Encoding encoding) {
  std::optional<SmallVector<SparseLevel>> const levels = levelsOf(encoding, /*takesLoose=*/true);
  return levels && levels->size() == 2 && (*levels)[0].format == SparseLevel::Format::Repeated;
}

static bool hasIndex(linalg::LinalgOp op) { return !op.getBlock()->getOps<linalg::IndexOp>().empty(); }

/// (i, k) * (k, j) -> (i, j)
static bool isProduct(linalg::LinalgOp op) {
  auto const dims = [&](OpOperand *operand) {
    return llvm::map_to_vector(op.getMatchingIndexingMap(operand).getResults(), [](AffineExpr expr) {
      auto const dim = dyn_cast<AffineDimExpr>(expr);
      return dim ? int(dim.getPosition()) : -1;
    });
  };
  SmallVector<int> const a = dims(op.getDpsInputOperand(0)), b = dims(op.getDpsInputOperand(1)),
                         c = dims(op.getDpsInitOperand(0));
  return a.size() == 2 && b.size() == 2 && c.size() == 2 && a[0] == c[0] && a[1] == b[0] && b[1] == c[1];
}

std::optional<Assembly> assemblyOf(linalg::LinalgOp op, StorageOf storageOf) {
  OpOperand &output = *op.getDpsInitOperand(0);
  SmallVector<OpOperand *> const inputs = op.getDpsInputOperands();
  auto const encoding = sparse_tensor::getSparseTensorEncoding(output.get().getType());
  BlockArgument const before = op.getMatchingBlockArgument(&output);
  Value const term = termOf(op, before);
  bool const areSparse = llvm::all_of(inputs, [&](OpOperand *input) {
    std::optional<Storage> const storage = storageOf(input->get());
    return storage && storage->encoding == encoding;
  });
  if (!isByRows(encoding) || !areSparse || inputs.size() != 2 || !term || hasIndex(op))
    return std::nullopt;
  AffineMap const map = op.getMatchingIndexingMap(&output);
  SmallVector<Value> const values = {op.getMatchingBlockArgument(inputs[0]), op.getMatchingBlockArgument(inputs[1])};
  auto const zero = [&](ArrayRef<Value> zeros) { return vanishesAt(term, zeros); };
  if (op.getNumLoops() == 2 && op.getNumReductionLoops() == 0 && before.use_empty() &&
      llvm::all_of(inputs, [&](OpOperand *input) { return op.getMatchingIndexingMap(input) == map; })) {
    if (zero(values[0]) && zero(values[1]))
      return Assembly::Intersection;
    return zero(values) ? std::optional(Assembly::Union) : std::nullopt;
  }
  bool const multiplies = op.getNumLoops() == 3 && op.getNumReductionLoops() == 1 && !before.use_empty() &&
                          zero(values[0]) && zero(values[1]);
  return multiplies && isProduct(op) ? std::optional(Assembly::Product) : std::nullopt;
}

std::optional<Assembly> conversionOf(std::optional<Storage> const &from, Encoding to) {
  if (!to || !isByRows(to))
    return std::nullopt;
  if (!from)
    return (*levelsOf(to))[0].dim == 0 ? std::optional(Assembly::Nonzeros) : std::nullopt;
  if (isByRows(from->encoding) && (*levelsOf(from->encoding))[0].dim != (*levelsOf(to))[0].dim)
    return Assembly::Transpose;
  return isTriplets(from->encoding) ? std::optional(Assembly::Triplets) : std::nullopt;
}

} // namespace ml2k::mlir_import
