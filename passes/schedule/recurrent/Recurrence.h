//===- Recurrence.h - one element of a step of a recurrent layer ----------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_RECURRENT_RECURRENCE_H
#define ML2K_PASSES_SCHEDULE_RECURRENT_RECURRENCE_H

#include "passes/schedule/SameExtent.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace ml2k {

/// A loop over steps, read as scalar code over (t, n, j): step, row and element of the state.
class Recurrence {
public:
  /// What the kernel writes: a carried tensor of the loop.
  struct Output {
    unsigned number;
    mlir::AffineMap map;
    bool isWhole = false; ///< a sequence each element of which is written
  };

  explicit Recurrence(mlir::scf::ForOp loop) : loop(loop), builder(loop.getContext()) {}

  /// Fills in what follows, or fails and leaves the loop as it is.
  mlir::LogicalResult match();

  mlir::Location location();

  mlir::scf::ForOp loop;
  nest::ContractOp product; ///< of the state and the weight
  int64_t steps = 0;
  mlir::Value count;                 ///< of the steps where run time tells it
  llvm::SmallVector<Output> outputs; ///< the state first
  llvm::SmallVector<mlir::Value> extras;
  llvm::SmallVector<mlir::AffineMap> extraMaps;
  mlir::Region next; ///< of the kernel

private:
  mlir::LogicalResult matchBounds();
  mlir::LogicalResult matchBody();
  mlir::LogicalResult matchProduct();
  mlir::LogicalResult matchOutputs();
  mlir::LogicalResult buildNext();

  /// The value of `tensor` at the position that `map` gives for (t, n, j); null if it is not of this kind.
  mlir::Value element(mlir::Value tensor, mlir::AffineMap map);
  mlir::Value sumAt(mlir::AffineMap map);
  mlir::Value inlined(nest::MapOp map, unsigned result);
  mlir::Value stateAt(unsigned number);
  mlir::Value extraAt(mlir::Value tensor, mlir::AffineMap map);
  mlir::Value sliceAt(mlir::tensor::ExtractSliceOp slice, mlir::AffineMap map);

  mlir::Value yielded(unsigned number) { return loop.getYieldedValues()[number]; }
  mlir::AffineExpr dim(unsigned number) { return builder.getAffineDimExpr(number); }
  mlir::AffineMap point() { return mapOf({dim(1), dim(2)}); }
  mlir::AffineMap mapOf(mlir::ArrayRef<mlir::AffineExpr> results);
  bool hasRows(mlir::Value tensor);
  bool isWhole(mlir::tensor::InsertSliceOp insert);
  bool isOutside(mlir::Operation *op);
  mlir::AffineExpr lastStep(mlir::Value last);
  mlir::AffineExpr stepOf(mlir::OpFoldResult index);
  std::optional<mlir::AffineExpr> stepOfSlice(mlir::ArrayRef<mlir::OpFoldResult> offsets, mlir::RankedTensorType part,
                                              mlir::RankedTensorType whole);
  bool isPoint(mlir::AffineMap map);

  mlir::OpBuilder builder;
  unsigned state = 0; ///< the carried tensor in the product
  int64_t rows = 0, hidden = 0, gates = 0;
  TracedExtent extentOfRows;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> done; ///< maps that are in the block
  llvm::SmallVector<mlir::Value> sums; ///< of each gate, behind the epilogue of the product
};

/// Says what the sums of an LSTM and its like are, and marks the values that deserve a name in the printed code.
void nameGates(nest::RecurrentOp kernel);

/// Recurrent kernels read and write their sequences in the order of dimensions that the network has.
void layOutSequences(mlir::func::FuncOp function);

} // namespace ml2k

#endif
