//===- ChooseBufferForms.cpp - what type each member of the workspace has -----------------------------------------===//

#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CHOOSEBUFFERFORMS
#include "passes/prepare/Passes.h.inc"

static bool isImageOf(Operation *kernel, Value memref) {
  return llvm::is_contained(ArrayRef<Value>({kernel->getOperand(0), kernel->getOperands().back()}), memref);
}

/// Convolutions and pools work on images; whether one touches this memref or a slice of its channels.
static bool isUsedAsImage(Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    if (isa<nest::ConvOp, nest::WindowOp>(user))
      return isImageOf(user, memref);
    return isa<memref::SubViewOp, memref::CastOp>(user) &&
           cast<MemRefType>(user->getResult(0).getType()).getRank() == 4 && isUsedAsImage(user->getResult(0));
  });
}

static nest::BufferForm formOf(nest::BufferOp buffer) {
  int64_t const rank = cast<MemRefType>(buffer.getType()).getRank();
  if (rank == 4 && (buffer.getBorder() || isUsedAsImage(buffer.getResult())))
    return nest::BufferForm::Image;
  return rank > nest::maxViewRank ? nest::BufferForm::Flat : nest::BufferForm::Tensor;
}

/// Whether the height or width of a kernel's images is known at run time only.
static bool hasUnknownExtents(Operation *kernel) {
  return llvm::any_of(ArrayRef<Value>({kernel->getOperand(0), kernel->getOperands().back()}), [](Value image) {
    return llvm::any_of(cast<MemRefType>(image.getType()).getShape().slice(1, 2), ShapedType::isDynamic);
  });
}

namespace {
struct ChooseBufferForms : impl::ChooseBufferFormsBase<ChooseBufferForms> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto buffer = dyn_cast<nest::BufferOp>(op); buffer && !buffer.getForm())
        buffer.setForm(formOf(buffer));
      if (isa<nest::ConvOp, nest::WindowOp>(op) && hasUnknownExtents(op))
        getOperation()->setAttr("nest.sized_images", UnitAttr::get(&getContext()));
    });
  }
};
} // namespace

} // namespace ml2k
