//===- RowFolds.cpp - rows of which one reduction is all there is -------------------------------------------------===//

#include "translator/ir/RowFolds.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ml2k;

nest::FoldOp nest::onlyFoldOf(RowOp row) {
  Block &body = row.getBody().front();
  FoldOp only;
  for (Operation &op : body.without_terminator()) {
    if (isa<EachOp>(op) || (only && isa<FoldOp>(op)))
      return {};
    if (auto fold = dyn_cast<FoldOp>(op))
      only = fold;
  }
  if (!only)
    return {};
  bool const isApart =
      !only.walk([&](Operation *inner) {
             return llvm::any_of(inner->getOperands(),
                                 [&](Value operand) {
                                   Operation *const made = operand.getDefiningOp();
                                   return made && made->getBlock() == &body && !matchPattern(made, m_Constant());
                                 })
                        ? WalkResult::interrupt()
                        : WalkResult::advance();
           })
           .wasInterrupted();
  return isApart ? only : FoldOp();
}
