//===- ColumnDims.h - dimensions along which the iterations of a loop never meet ------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_RECURRENT_COLUMNDIMS_H
#define ML2K_PASSES_SCHEDULE_RECURRENT_COLUMNDIMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ml2k {

/// Dimensions of tensors and loops of linalg operations in the body of a loop, in sets of those that go together: all
/// that is computed for one index along a set of columns reads and writes this index alone.
class ColumnDims {
public:
  explicit ColumnDims(mlir::scf::ForOp loop) : loop(loop) {}

  /// False if the body holds something else than elementwise work and sums on parts of tensors, or has no columns.
  bool find();

  /// How many sets of columns there are.
  unsigned count() const { return columns.size(); }

  /// The set that a dimension of what the loop carries belongs to; `carried` is an argument of its body.
  std::optional<unsigned> ofCarried(mlir::Value carried, unsigned dim) const;

  /// The set that a loop of an operation in the body belongs to.
  std::optional<unsigned> ofLoop(mlir::linalg::GenericOp op, unsigned number) const;

private:
  using Key = std::pair<void *, unsigned>;

  Key keyOf(mlir::OpOperand &use, unsigned dim) const;
  unsigned number(Key key);
  unsigned root(unsigned number) const;
  void join(Key a, Key b);
  void fix(Key key) { areFixed[root(number(key))] = true; }
  void fixAll(mlir::OpOperand &use);
  std::optional<unsigned> column(Key key) const;

  bool read(mlir::Operation *op);
  void readGeneric(mlir::linalg::GenericOp op);
  void readReshape(mlir::Operation *op);
  void readSlice(mlir::OpOperand &whole, mlir::OffsetSizeAndStrideOpInterface slice, Key part);
  bool isEverywhere(unsigned set);

  mlir::scf::ForOp loop;
  llvm::DenseMap<Key, unsigned> numbers;
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<bool> areFixed;    ///< of a set, at its root: its indices do meet
  llvm::SmallVector<unsigned> columns; ///< roots
};

/// Looks at one element or all of it: a reshape, a transpose, a slice.
bool isViewOfTensor(mlir::Operation *op);

} // namespace ml2k

#endif
