//===- KernelBuffers.cpp - kernels get memory in the layout that they address: images with a halo, matrices -------===//
//
// Convolutions and windows address an image N H W C, or some of its channels, inside a halo of zeros that serves as
// padding; packed contractions address contiguous matrices. Only buffers of the workspace can have a halo (their
// attribute `border`), and one that has it cannot be addressed as a matrix.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/Labels.h"
#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"
#include "passes/lower/memory/Operands.h"
#include "translator/ir/Nest.h"
#include "translator/ir/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_KERNELBUFFERS
#include "passes/Passes.h.inc"

namespace {

using Border = std::array<int64_t, 4>; // rows, columns, planes, and the depth of volumes that have a halo of planes

bool isPadded(Border border) { return border[0] > 0 || border[1] > 0 || border[2] > 0; }

/// True if a kernel addresses the buffer without a halo: as a matrix, or as an image of another shape.
bool hasFlatAccess(Value root) {
  SmallVector<OpOperand *> uses;
  collectAccesses(root, uses);
  return llvm::any_of(uses, [](OpOperand *use) {
    return llvm::any_of(use->getOwner()->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() == use->get() &&
             (isMatrixOperand(operand) || (isImageOperand(operand) && !isChannelSlice(use->get())));
    });
  });
}

/// The depth of volumes whose planes the buffer has with a halo for some kernel; 0 if there is none.
int64_t volumeDepth(Value root) {
  SmallVector<OpOperand *> uses;
  collectAccesses(root, uses);
  int64_t depth = 0;
  for (OpOperand *use : uses)
    for (OpOperand &operand : use->getOwner()->getOpOperands())
      if (depth == 0 && operand.get() == use->get() && isImageOperand(operand))
        depth = borderFor(operand)[3];
  return depth;
}

/// True if something behind `place`, or in another block, writes the memory.
bool isWrittenAfter(Value root, Operation *place) {
  SmallVector<OpOperand *> uses;
  collectAccesses(root, uses);
  return llvm::any_of(uses, [&](OpOperand *use) {
    Operation *op = place->getBlock()->findAncestorOpInBlock(*use->getOwner());
    return accessOf(*use).writes && (!op || place->isBeforeInBlock(op));
  });
}

struct KernelBuffers : impl::KernelBuffersBase<KernelBuffers> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Labels taken(getOperation());
    labels = std::move(taken);
    SmallVector<memref::CollapseShapeOp> planes;
    getOperation().walk([&](memref::CollapseShapeOp op) { planes.push_back(op); });
    for (memref::CollapseShapeOp op : planes)
      allocateImages(op);
    for (memref::CollapseShapeOp op : planes)
      if (op->use_empty())
        op.erase();
    SmallVector<OpOperand *> operands;
    getOperation().walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isImageOperand(operand) || isMatrixOperand(operand))
          operands.push_back(&operand);
    });
    for (OpOperand *operand : operands)
      if (!isAddressable(*operand))
        copyOperand(*operand);
    for (OpOperand *operand : operands)
      if (auto buffer = rootOf(operand->get()).getDefiningOp<memref::AllocOp>())
        if (isImageOperand(*operand) && isChannelSlice(operand->get()))
          widen(buffer, borderFor(*operand));
  }

private:
  /// Rows and columns that are split, as those of an image whose pixels are written several times.
  static bool joinsPixels(memref::CollapseShapeOp op) {
    auto const groups = op.getReassociationIndices();
    return groups.size() == 4 && groups[0].size() == 1 && groups[3].size() == 1 &&
           llvm::all_of(op.getSrc().getUsers(), [&](Operation *user) {
             auto other = dyn_cast<memref::CollapseShapeOp>(user);
             return other ? llvm::equal(other.getReassociationIndices(), groups) : isa<nest::Kernel>(user);
           });
  }

  /// Volumes that some kernel reads as the images that are their planes are allocated as such, and so are images whose
  /// pixels are split; all others see volumes, or the parts.
  void allocateImages(memref::CollapseShapeOp planes) {
    SmallVector<ReassociationIndices> const groups = planes.getReassociationIndices();
    auto volumes = planes.getSrc().getDefiningOp<memref::AllocOp>();
    bool const isVolume = llvm::equal(groups, ArrayRef<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
    if (!volumes || !volumes.getType().hasStaticShape() || !(isVolume || joinsPixels(planes)) ||
        !llvm::any_of(planes->getUses(), isImageOperand))
      return;
    OpBuilder builder(volumes);
    auto images = builder.create<memref::AllocOp>(volumes.getLoc(), planes.getResultType());
    Value const whole =
        builder.create<memref::ExpandShapeOp>(volumes.getLoc(), volumes.getType().getShape(), images, groups);
    for (OpOperand &use : llvm::make_early_inc_range(volumes->getUses())) {
      auto other = dyn_cast<memref::CollapseShapeOp>(use.getOwner());
      if (other && llvm::equal(other.getReassociationIndices(), groups))
        other.replaceAllUsesWith(images.getResult());
      use.set(whole);
    }
    volumes.erase();
  }

  /// The operand moves to a buffer of its own, filled before or read out after the kernel.
  void copyOperand(OpOperand &operand) {
    Operation *kernel = operand.getOwner();
    Value const old = operand.get();
    bool const isOutput = cast<DestinationStyleOpInterface>(kernel).isDpsInit(&operand);
    flat.erase(rootOf(old));
    depths.erase(rootOf(old));
    if (Value const earlier = isOutput ? Value() : findCopy(operand)) {
      operand.set(earlier);
      return;
    }
    Value const fresh = allocateLike(old);
    operand.set(fresh);
    OpBuilder builder(kernel);
    if (isOutput)
      builder.setInsertionPointAfter(kernel);
    std::string const name =
        isOutput ? names.of(rootOf(old)) + ".copy" : names.of(old) + (isImageOperand(operand) ? ".image" : ".matrix");
    std::string const label = labels.unique(name, labelOf(kernel));
    if (isOutput) {
      createCopy(builder, kernel->getLoc(), label, fresh, old);
      names.forget(rootOf(old));
      lasting.clear();
      return;
    }
    Operation *copy = createCopy(builder, kernel->getLoc(), label, old, fresh);
    copies[old].push_back({fresh, copy});
  }

  /// An earlier copy of the same memory, if that is never written again.
  Value findCopy(OpOperand &operand) {
    for (auto [fresh, at] : copies.lookup(operand.get()))
      if (at->getBlock() == operand.getOwner()->getBlock() && isLasting(rootOf(operand.get()), at) &&
          fitsDepth(operand, fresh))
        return fresh;
    return {};
  }

  bool isLasting(Value root, Operation *copy) {
    auto const [known, isNew] = lasting.try_emplace(copy);
    if (isNew)
      known->second = !isWrittenAfter(root, copy);
    return known->second;
  }

  bool isFlat(Value root) {
    auto const [known, isNew] = flat.try_emplace(root);
    if (isNew)
      known->second = hasFlatAccess(root);
    return known->second;
  }

  bool isAddressable(OpOperand &operand) {
    Value const root = rootOf(operand.get());
    bool const padded = isPadded(borderFor(operand));
    if (isImageOperand(operand) && root.getDefiningOp<memref::AllocOp>() && isChannelSlice(operand.get()))
      return !(padded && isFlat(root)) && fitsDepth(operand, root);
    return !padded && isContiguous(cast<MemRefType>(operand.get().getType()));
  }

  /// A buffer has a halo for volumes of one depth, those of the first kernel that asks for it; others that go from
  /// plane to plane need the same.
  bool fitsDepth(OpOperand &operand, Value root) {
    auto conv = dyn_cast<nest::ConvOp>(operand.getOwner());
    if (!conv || operand.getOperandNumber() != 0 || !conv.getPlanes())
      return true;
    auto const [known, isNew] = depths.try_emplace(root);
    if (isNew)
      known->second = volumeDepth(root);
    return known->second == 0 || known->second == (*conv.getPlanes())[0];
  }

  Value allocateLike(Value image) {
    auto const type = cast<MemRefType>(image.getType());
    OpBuilder builder(&getContext());
    if (type.hasStaticShape())
      builder.setInsertionPoint(firstStatement());
    else
      builder.setInsertionPointAfterValue(image);
    return builder.create<memref::AllocOp>(image.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
                                           dynamicSizes(builder, image.getLoc(), image));
  }

  /// What comes after the weights and buffers.
  Operation *firstStatement() {
    for (Operation &op : getOperation().getBody().front())
      if (!isa<nest::WeightOp, memref::AllocOp, memref::DimOp, arith::ConstantOp>(op))
        return &op;
    llvm_unreachable("a function has a terminator");
  }

  void widen(memref::AllocOp buffer, Border border) {
    if (auto const known = buffer->getAttrOfType<DenseI64ArrayAttr>("border"))
      for (auto [extent, before] : llvm::zip(border, known.asArrayRef()))
        extent = std::max(extent, before);
    ArrayRef<int64_t> const extents(border);
    buffer->setAttr("border", DenseI64ArrayAttr::get(&getContext(), border[3] ? extents : extents.take_front(2)));
  }

  Labels labels;
  ContentNames names;
  DenseMap<Value, SmallVector<std::pair<Value, Operation *>>> copies; ///< of what: to where, and by what
  DenseMap<Operation *, bool> lasting;                                ///< copies whose source is never written again
  DenseMap<Value, bool> flat;                                         ///< buffers: see hasFlatAccess()
  DenseMap<Value, int64_t> depths;                                    ///< buffers: see volumeDepth()
};

} // namespace
} // namespace ml2k
