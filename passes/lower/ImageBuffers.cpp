//===- ImageBuffers.cpp - convolutions and windows get images, convolutions a border of zeros ----------------*- C++
//-*-===//
//
// The printed kernels address an image N H W C, or some of its channels, inside a border of zeros that serves as
// padding. Only buffers of the workspace can have one, and a buffer with a border cannot be seen in another shape.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/Copies.h"
#include "passes/lower/Labels.h"
#include "passes/lower/Memory.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_IMAGEBUFFERS
#include "passes/Passes.h.inc"

namespace {

using Border = std::array<int64_t, 2>;

/// The image operands of a convolution or window: the input, then the output.
SmallVector<OpOperand *> imagesOf(Operation *op) {
  if (!isa<nest::ConvOp, nest::WindowOp>(op))
    return {};
  auto kernel = cast<DestinationStyleOpInterface>(op);
  return {kernel.getDpsInputOperand(0), kernel.getDpsInitOperand(0)};
}

Border borderFor(OpOperand &image) {
  auto conv = dyn_cast<nest::ConvOp>(image.getOwner());
  if (!conv || conv.isDpsInit(&image))
    return {0, 0};
  ArrayRef<int64_t> const pads = conv.getPads();
  return {std::max(pads[0], pads[2]), std::max(pads[1], pads[3])};
}

bool isPadded(Border border) { return border[0] > 0 || border[1] > 0; }

/// True if somebody sees the buffer in another shape: as rows of a matrix, say.
bool isReshaped(Value root) {
  return llvm::any_of(accessesOf(root), [](Access const &access) {
    if (isa<nest::ContractOp>(access.op))
      return true;
    for (Value v = access.alias; isAlias(v.getDefiningOp()); v = v.getDefiningOp()->getOperand(0))
      if (!isa<memref::SubViewOp>(v.getDefiningOp()))
        return true;
    return false;
  });
}

bool isImage(OpOperand &operand) {
  Value const root = rootOf(operand.get());
  return root.getDefiningOp<memref::AllocOp>() && isChannelSlice(operand.get()) &&
         !(isPadded(borderFor(operand)) && isReshaped(root));
}

struct ImageBuffers : impl::ImageBuffersBase<ImageBuffers> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Labels taken(getOperation());
    labels = std::move(taken);
    SmallVector<OpOperand *> images;
    getOperation().walk([&](Operation *op) { llvm::append_range(images, imagesOf(op)); });
    for (OpOperand *image : images)
      if (!isImage(*image))
        copyImage(*image);
    for (OpOperand *image : images)
      widen(rootOf(image->get()).getDefiningOp<memref::AllocOp>(), borderFor(*image));
  }

private:
  /// The operand moves to a buffer of its own, filled before or read out after the kernel.
  void copyImage(OpOperand &image) {
    Operation *kernel = image.getOwner();
    Value const old = image.get();
    bool const isOutput = cast<DestinationStyleOpInterface>(kernel).isDpsInit(&image);
    if (Value const earlier = isOutput ? Value() : findCopy(image)) {
      image.set(earlier);
      return;
    }
    Value const fresh = allocateLike(old);
    image.set(fresh);
    OpBuilder builder(kernel);
    if (isOutput)
      builder.setInsertionPointAfter(kernel);
    std::string const name = isOutput ? nameOfContents(rootOf(old)) + ".copy" : nameOfContents(old) + ".image";
    std::string const label = labels.unique(name, labelOf(kernel));
    if (isOutput) {
      createCopy(builder, kernel->getLoc(), label, fresh, old);
      return;
    }
    createCopy(builder, kernel->getLoc(), label, old, fresh);
    copies.push_back({old, fresh});
  }

  /// An earlier copy of the same image, if what it was made of is never written in between.
  Value findCopy(OpOperand &image) {
    for (auto [old, fresh] : copies)
      if (old == image.get() && isa<BlockArgument>(rootOf(old)) &&
          fresh.getParentBlock() == image.getOwner()->getBlock())
        return fresh;
    return {};
  }

  Value allocateLike(Value image) {
    auto const type = cast<MemRefType>(image.getType());
    OpBuilder builder(&getContext());
    if (image.getParentRegion() == &getOperation().getBody())
      builder.setInsertionPointAfterValue(image);
    else
      builder.setInsertionPointToStart(&getOperation().getBody().front());
    return builder.create<memref::AllocOp>(image.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
                                           dynamicSizes(builder, image.getLoc(), image));
  }

  void widen(memref::AllocOp buffer, Border border) {
    if (auto const known = buffer->getAttrOfType<DenseI64ArrayAttr>("border"))
      for (int d : {0, 1})
        border[d] = std::max(border[d], known[d]);
    buffer->setAttr("border", DenseI64ArrayAttr::get(&getContext(), border));
  }

  Labels labels;
  SmallVector<std::pair<Value, Value>> copies;
};

} // namespace
} // namespace ml2k
