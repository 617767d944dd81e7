//===- LoopPrinter.h - nest.kernel as a call of Kokkos or of a block ------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_KERNELS_LOOPPRINTER_H
#define ML2K_EMIT_KERNELS_LOOPPRINTER_H

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace ml2k {

/// Prints one kernel; what ordered loops need is in LoopUpdates.cpp.
class LoopPrinter {
public:
  LoopPrinter(nest::LoopKernelOp kernel, Layer &layer) : kernel(kernel), layer(layer), printer(layer.scalars({})) {}

  mlir::FailureOr<std::string> print();

private:
  mlir::LogicalResult bindHostValues();
  mlir::LogicalResult bindPositions();
  void handleMemory();
  void findChange();
  mlir::FailureOr<Expression> element(mlir::Value memref, mlir::ValueRange positions);
  mlir::LogicalResult printLoad(mlir::memref::LoadOp load, Json &to);
  mlir::LogicalResult printStore(mlir::memref::StoreOp store, Json &to);
  mlir::LogicalResult printArray(mlir::memref::AllocaOp array, Json &to);

  /// --schedule=naive: a policy of Kokkos over all loops.
  bool isBox() { return layer.program.entry->hasAttr("nest.naive") && kernel.getInto().empty(); }

  using Bounds = std::pair<Expression, Expression>;
  mlir::FailureOr<Expression> host(mlir::Value value);
  mlir::FailureOr<Bounds> bounds(unsigned loop);
  mlir::FailureOr<std::string> span(unsigned loop);
  mlir::FailureOr<Expression> length(unsigned loop);
  mlir::FailureOr<std::string> rangePolicy();
  mlir::FailureOr<std::string> boxPolicy();
  mlir::FailureOr<std::string> rows();

  /// Loops that run as one, of that name.
  struct Group {
    unsigned first, end;
    std::string name;
  };
  mlir::FailureOr<Expression> count(Group const &group);
  mlir::LogicalResult recover(Group const &group, Json &to);
  mlir::FailureOr<Group> groupOf(unsigned first, unsigned end, llvm::StringRef name);
  unsigned orderedFrom() { return llvm::find(*kernel.getOrdered(), true) - kernel.getOrdered()->begin(); }
  unsigned columnsFrom() { return orderedFrom() + llvm::count(*kernel.getOrdered(), true); }
  mlir::LogicalResult printUpdates(Json statements);
  mlir::LogicalResult printChange(mlir::memref::StoreOp store, Expression const &target, Expression const &value,
                                  Json &to);
  mlir::LogicalResult printCall(Json statements);
  std::string describe();

  nest::LoopKernelOp kernel;
  Layer &layer;
  ScalarPrinter printer;
  std::vector<std::string> positions;
  unsigned fused = 0;                              ///< outer loops that run as one
  std::string row;                                 ///< that one
  mlir::Operation *changed = nullptr;              ///< of an element that the block changes: its load
  std::string before;                              ///< what that is called
  llvm::DenseMap<mlir::Value, std::string> arrays; ///< local arrays
  llvm::DenseSet<mlir::Operation *> started;       ///< stores that are the first values of those
  llvm::SetVector<mlir::Value> reads, writes;      ///< in the order of the text
};

} // namespace ml2k

#endif
