//===- Unwritten.cpp - warnings of reads of memory that nothing wrote --------------------------------------------===//
//
// Program order is asked, so that a read in a loop before the loop's own write counts. Reads in branches do not: the
// branch may be taken in later iterations only.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace {
enum class Use { Size, Read, Write, Unknown };
} // namespace

static Use useOf(OpOperand &operand) {
  Operation *const op = operand.getOwner();
  if (isa<memref::DimOp, memref::DeallocOp, tensor::DimOp>(op))
    return Use::Size;
  if (isa<memref::LoadOp, affine::AffineLoadOp, tensor::ExtractOp>(op))
    return Use::Read;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return operand.get() == copy.getSource() ? Use::Read : Use::Write;
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return linalg.payloadUsesValueFromOperand(&operand) ? Use::Read : Use::Write;
  return Use::Unknown; // a store, or a view or a loop, through which it may be written
}

/// The first use in the order of the text, which is the order in which blocks run.
static OpOperand *firstUse(Value memory) {
  OpOperand *first = nullptr;
  auto const isBefore = [](Operation *a, Operation *b) {
    for (Operation *outer = a; outer; outer = outer->getParentOp())
      if (Operation *other = outer->getBlock()->findAncestorOpInBlock(*b))
        return outer != other && outer->isBeforeInBlock(other);
    return false;
  };
  for (OpOperand &use : memory.getUses()) {
    if (useOf(use) == Use::Size)
      continue;
    bool const together = first && first->getOwner() == use.getOwner() && useOf(*first) != Use::Read;
    if (!first || together || isBefore(use.getOwner(), first->getOwner()))
      first = &use;
  }
  return first;
}

static bool isInBranch(Operation *read, Operation *made) {
  for (Operation *op = read->getParentOp(); op && op != made->getParentOp(); op = op->getParentOp())
    if (isa<scf::IfOp, affine::AffineIfOp, scf::IndexSwitchOp>(op))
      return true;
  return false;
}

void ml2k::mlir_import::warnOfUnwritten(func::FuncOp entry) {
  entry.walk([](Operation *made) {
    if (!isa<memref::AllocOp, memref::AllocaOp, tensor::EmptyOp>(made) ||
        sparse_tensor::getSparseTensorEncoding(made->getResult(0).getType())) // that is zero
      return;
    OpOperand *const first = firstUse(made->getResult(0));
    if (!first || useOf(*first) != Use::Read || isInBranch(first->getOwner(), made))
      return;
    InFlightDiagnostic warning = first->getOwner()->emitWarning();
    warning << "'" << first->getOwner()->getName() << "' reads memory that nothing wrote";
    warning.attachNote(made->getLoc()) << "made here";
  });
}
