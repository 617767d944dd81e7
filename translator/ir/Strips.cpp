//===- Strips.cpp - what the columns of a strip share, and what each of them has ----------------------------------===//

#include "translator/ir/Strips.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ml2k::nest;

static constexpr int64_t narrowest = 64, broadest = 4096; ///< columns that fit into a cache, or more than that
static constexpr int64_t carriedBytes = 64 * 1024;        ///< of all columns of a strip

static bool isMarked(scf::ForOp loop) { return loop->hasAttr(stripLoop); }

bool ml2k::nest::isStripLevel(Block *block, LoopKernelOp kernel) {
  Operation *const owner = block->getParentOp();
  auto const loop = dyn_cast<scf::ForOp>(owner);
  return owner == kernel || (loop && isMarked(loop));
}

StripValues::StripValues(LoopKernelOp kernel) : StripValues(kernel, isMarked) {}

StripValues::StripValues(LoopKernelOp kernel, Choice isChosen) : kernel(kernel) {
  for (Value position : kernel.getBody().getArguments())
    if (position != columnOf(kernel))
      shared.insert(position);
  DenseSet<Operation *> levels = {kernel};
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool const isLevel = op != kernel && levels.contains(op->getParentOp());
    auto const goesAlike = [&](Value value) { return this->goesAlike(value); };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Value const bounds[] = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
      if (isLevel && isChosen(loop)) {
        levels.insert(loop);
        shared.insert(loop.getInductionVar());
      } else if (llvm::all_of(bounds, goesAlike)) {
        alike.insert(loop.getInductionVar());
      }
    }
    if (!isPure(op) || op->getNumRegions() > 0)
      return;
    bool const isConstant = op->hasTrait<OpTrait::ConstantLike>();
    auto const isShared = [&](Value value) { return this->isShared(value); };
    if (isConstant || (isLevel && llvm::all_of(op->getOperands(), isShared)))
      shared.insert(op->result_begin(), op->result_end());
    else if (llvm::all_of(op->getOperands(), goesAlike))
      alike.insert(op->result_begin(), op->result_end());
  });
}

bool StripValues::lieAcrossRows() const {
  auto const isAcross = [&](Value memref, OperandRange at) {
    return !at.empty() && !memref.getDefiningOp<memref::AllocaOp>() &&
           llvm::any_of(at.drop_back(), [&](Value index) { return !goesAlike(index); });
  };
  auto const stops = [&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    return (load && isAcross(load.getMemref(), load.getIndices())) ||
           (store && isAcross(store.getMemref(), store.getIndices()));
  };
  return kernel->walk([&](Operation *op) { return stops(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

int64_t ml2k::nest::columnsOfStrip(LoopKernelOp kernel) {
  if (StripValues(kernel).lieAcrossRows())
    return columnsInRegisters;
  int64_t bytes = 0;
  kernel.walk([&](memref::AllocaOp array) {
    MemRefType const type = array.getType();
    unsigned const bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    if (array->hasAttr(ofColumns))
      bytes += type.getNumElements() * int64_t(llvm::divideCeil(bits, 8));
  });
  int64_t const columns = bytes == 0 ? broadest : int64_t(llvm::bit_floor(uint64_t(carriedBytes / bytes)));
  return std::clamp(columns, narrowest, broadest);
}

LogicalResult ml2k::nest::verifyStrips(LoopKernelOp kernel) {
  StripValues const values(kernel);
  WalkResult const result = kernel.walk([&](Operation *op) {
    if (op->hasAttr(ofColumns) && (!isa<memref::AllocaOp>(op) || !isStripLevel(op->getBlock(), kernel)))
      return op->emitOpError("is no memory of the columns of a strip"), WalkResult::interrupt();
    if (!op->hasAttr(stripLoop))
      return WalkResult::advance();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !isStripLevel(op->getBlock(), kernel) || loop.getNumResults() > 0)
      return op->emitOpError("is no loop of the columns of a strip"), WalkResult::interrupt();
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!values.isShared(bound))
        return op->emitOpError("differs among the columns of a strip"), WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
