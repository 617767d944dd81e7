//===- Strips.cpp - what the columns of a strip share, and what each of them has ----------------------------------===//

#include "translator/ir/Strips.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ml2k::nest;

static constexpr int64_t narrowest = 64;           ///< columns, if they fit into a cache or not
static constexpr int64_t carriedBytes = 64 * 1024; ///< of all columns of a strip

static bool isMarked(scf::ForOp loop) { return loop->hasAttr(stripLoop); }

Value ml2k::nest::columnOf(Operation *owner) {
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    return loop.getInductionVar();
  return cast<LoopKernelOp>(owner).getBody().getArguments().back();
}

bool ml2k::nest::isStripLevel(Block *block, Operation *owner) {
  Operation *const around = block->getParentOp();
  auto const loop = dyn_cast<scf::ForOp>(around);
  return around == owner || (loop && isMarked(loop));
}

StripValues::StripValues(Operation *owner) : StripValues(owner, isMarked) {}

StripValues::StripValues(Operation *owner, Choice isChosen) : owner(owner) {
  if (auto kernel = dyn_cast<LoopKernelOp>(owner))
    for (unsigned i = 0; i + 1 < kernel.getBody().getNumArguments(); ++i)
      shared.insert(kernel.getBody().getArgument(i));
  DenseSet<Operation *> levels = {owner};
  owner->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == owner)
      return;
    bool const isLevel = levels.contains(op->getParentOp());
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
  return owner->walk([&](Operation *op) { return stops(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// The columns of a kernel that has but a few.
static std::optional<int64_t> fewColumns(Operation *owner) {
  auto kernel = dyn_cast<ml2k::nest::LoopKernelOp>(owner);
  if (!kernel || kernel.getLowers().empty())
    return std::nullopt;
  std::optional<int64_t> const lower = getConstantIntValue(kernel.getLowers().back()),
                               upper = getConstantIntValue(kernel.getUppers().back());
  if (!lower || !upper || *upper <= *lower || *upper - *lower >= ml2k::nest::leastColumns)
    return std::nullopt;
  return *upper - *lower;
}

int64_t ml2k::nest::columnsOfStrip(Operation *owner) {
  if (std::optional<int64_t> const few = fewColumns(owner))
    return *few;
  auto scan = dyn_cast<scf::ForOp>(owner->getRegion(0).front().front());
  bool const isScan = scan && scan->hasAttr(columnScan);
  if (!isScan && StripValues(owner).lieAcrossRows())
    return columnsInRegisters;
  int64_t bytes = isScan ? int64_t(llvm::divideCeil(scan.getResult(0).getType().getIntOrFloatBitWidth(), 8)) : 0;
  owner->walk([&](memref::AllocaOp array) {
    MemRefType const type = array.getType();
    unsigned const bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    if (array->hasAttr(ofColumns))
      bytes += type.getNumElements() * int64_t(llvm::divideCeil(bits, 8));
  });
  int64_t const columns = bytes == 0 ? broadestStrip : int64_t(llvm::bit_floor(uint64_t(carriedBytes / bytes)));
  return std::clamp(columns, narrowest, broadestStrip);
}

LogicalResult ml2k::nest::verifyStrips(Operation *owner) {
  StripValues const values(owner);
  WalkResult const result = owner->walk([&](Operation *op) {
    if (op == owner)
      return WalkResult::advance();
    if (op->hasAttr(stripColumns))
      return op->emitOpError("has columns inside of others"), WalkResult::interrupt();
    if (op->hasAttr(ofColumns) && (!isa<memref::AllocaOp>(op) || !isStripLevel(op->getBlock(), owner)))
      return op->emitOpError("is no memory of the columns of a strip"), WalkResult::interrupt();
    if (!op->hasAttr(stripLoop))
      return WalkResult::advance();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !isStripLevel(op->getBlock(), owner) || loop.getNumResults() > 0)
      return op->emitOpError("is no loop of the columns of a strip"), WalkResult::interrupt();
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!values.isShared(bound))
        return op->emitOpError("differs among the columns of a strip"), WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
