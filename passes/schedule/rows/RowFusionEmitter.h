//===- RowFusionEmitter.h - a group of operations as one nest.row ---------------------------------------*- C++ -*-===//
//
// Shared by RowFusionEmit.cpp, which makes the kernel and its operands, and RowFusionBody.cpp, which writes its block.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_SCHEDULE_ROWS_ROWFUSIONEMITTER_H
#define ML2K_PASSES_SCHEDULE_ROWS_ROWFUSIONEMITTER_H

#include "passes/schedule/KernelLoops.h"
#include "passes/schedule/rows/RowFusion.h"

namespace ml2k {

/// One loop along the row while its body is written.
struct RowPass {
  mlir::Value position;
  llvm::DenseMap<mlir::Value, mlir::Value> elements;      ///< of members
  llvm::DenseMap<mlir::BlockArgument, mlir::Value> reads; ///< of rows
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<BodyCopier>> copiers;
};

class RowEmitter {
public:
  RowEmitter(mlir::RewriterBase &rewriter, RowGroup const &group, RowPlan const &plan);

  bool emit();

private:
  bool collectOperands();
  void addInput(RowMember const &member, mlir::OpOperand &operand);
  void pinLoops(llvm::MutableArrayRef<KernelLoop> loops);
  void addRows(mlir::Block &block);
  void writeBody();
  void finish(nest::RowOp row);

  void prepare(RowMember const &member);
  void prepareOperand(RowMember const &member, mlir::OpOperand &operand);
  void computeScalars(RowMember const &member);
  void fold(RowMember const &member);
  void foldPosition(RowMember const &member, PositionReduction const &reduction);
  mlir::Value foldOver(RowMember const &member, nest::Combiner combiner, llvm::StringRef name, mlir::Type type,
                       llvm::function_ref<mlir::Value(RowPass &)> term);
  mlir::Value joinInitial(RowMember const &member, unsigned result, nest::Combiner combiner, mlir::Value folded);
  void store(mlir::Value value);
  void writeOutputs();
  void tidy(nest::RowOp row);

  void loopAlong(mlir::Region &region, llvm::function_ref<void(RowPass &)> body);
  mlir::Value read(RowMember const &member, mlir::OpOperand &operand, RowPass *pass);
  mlir::Value readRow(RowAccess const &access, RowPass *pass);
  mlir::Value element(mlir::Value value, RowPass &pass);
  BodyCopier copier(RowMember const &member, RowPass *pass);
  mlir::Value position(RowMember const &member, int64_t loop, RowPass *pass);

  mlir::AffineMap mapOf(RowAccess const &access) const {
    return mlir::AffineMap::get(group.extents.size(), 0, access.indices, group.context);
  }

  mlir::RewriterBase &rewriter;
  RowGroup const &group;
  RowPlan const &plan;
  std::vector<RowMember> const members;
  mlir::Location loc;
  std::optional<KernelLoops> loops;
  llvm::MapVector<std::pair<mlir::Value, mlir::AffineMap>, mlir::BlockArgument> inputRows;
  llvm::DenseMap<mlir::Value, mlir::BlockArgument> outputRows;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars; ///< of members
  llvm::DenseMap<mlir::BlockArgument, mlir::Value> scalarReads;
  llvm::DenseSet<mlir::Value> stored;
  llvm::DenseSet<mlir::Operation *> prepared;
};

} // namespace ml2k

#endif
