//===- VerifyMemory.cpp - the printer finds every element that a kernel reads or writes ---------------------------===//
//
// Packed weights are for one operand of one kind of kernel, some blocks take a pointer to contiguous memory, images are
// cut along channels only, and indices of more dimensions than a view has are one sum over extents.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/HostCode.h"
#include "passes/lower/memory/Memory.h"
#include "passes/prepare/ChooseBlocks.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/Sizes.h"
#include "translator/ir/StoredSums.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k {

static bool isMember(Value root) {
  if (exchangeOf(root).loop)
    return true;
  auto const argument = dyn_cast<BlockArgument>(root);
  return argument ? isa<func::FuncOp>(argument.getOwner()->getParentOp())
                  : isa<nest::BufferOp, nest::WeightOp>(root.getDefiningOp());
}

static nest::WeightOp packedWeight(Value root) {
  auto weight = root.getDefiningOp<nest::WeightOp>();
  return weight && weight.getPacking() ? weight : nest::WeightOp();
}

/// The operands that may be packed weights.
static SmallVector<Value> packedOperands(Operation *kernel) {
  if (auto contract = dyn_cast<nest::ContractOp>(kernel);
      contract && nest::scheduleOf(kernel).getBlock() == nest::KernelBlock::Contract)
    return {contract.getInputs()[1]};
  if (auto conv = dyn_cast<nest::ConvOp>(kernel))
    return {conv.getInputs()[1]};
  auto recurrent = dyn_cast<nest::RecurrentOp>(kernel);
  return recurrent ? SmallVector<Value>(recurrent.getInputs()) : SmallVector<Value>();
}

/// Memory without a view of its rank, or from the middle of which a pointer is taken, is indexed by one sum.
static bool hasKnownRows(Value root) {
  auto const type = cast<MemRefType>(root.getType());
  return llvm::all_of(llvm::seq<unsigned>(1, std::max<int64_t>(type.getRank(), 1)),
                      [&](unsigned dim) { return isHostExtent(root, dim); });
}

static bool isBordered(Value root) {
  auto buffer = root.getDefiningOp<nest::BufferOp>();
  return buffer && llvm::any_of(buffer.getBorder().value_or(ArrayRef<int64_t>()), [](int64_t b) { return b != 0; });
}

/// A block takes a pointer to its first element.
static LogicalResult checkPointer(Value memref, Operation *kernel) {
  Value const root = rootOf(memref);
  if (!isContiguous(cast<MemRefType>(memref.getType())) || isBordered(root))
    return kernel->emitError("works on contiguous memory, operand of type ") << memref.getType() << " is not";
  if (memref != root && !hasKnownRows(root))
    return kernel->emitError("nothing tells the sizes of the memory that ") << memref.getType() << " is a part of";
  return success();
}

/// An image of convolutions, some of its channels, or contiguous memory as an image without border.
static LogicalResult checkImage(Value memref, Operation *kernel) {
  Value const root = rootOf(memref);
  auto const type = cast<MemRefType>(memref.getType()), whole = cast<MemRefType>(root.getType());
  bool const isCut = type.getShape().drop_back() != whole.getShape().drop_back();
  if (!isImage(root) || (!isBordered(root) && isContiguous(type) && isCut))
    return checkPointer(memref, kernel);
  if (memref == root || isChannelSlice(memref))
    return success();
  return kernel->emitError("reads or writes a part of an image that is not a range of its channels: ") << type;
}

/// A whole view of images N C H W of one known size, whose elements are multiplied as they are.
static LogicalResult checkChannelsFirst(nest::ConvOp conv) {
  Value const image = conv.getInputs()[0];
  auto const type = cast<MemRefType>(image.getType());
  auto const isKnown = [](Value each) {
    return !llvm::any_of(cast<MemRefType>(each.getType()).getShape().drop_front(), ShapedType::isDynamic);
  };
  auto weight = conv.getInputs()[1].getDefiningOp<nest::WeightOp>();
  if (nest::scheduleOf(conv).getBlock() != nest::KernelBlock::ConvChannelsFirst || weight.getPacking()->getWinograd())
    return conv.emitError("channels_first wants a weight packed in panels, not for Winograd's method");
  bool const isSized = conv->getParentOfType<func::FuncOp>()->hasAttr("nest.sized_images");
  if (rootOf(image) == image && !isImage(image) && isKnown(image) && isKnown(conv.getOutputs()[0]) && !isSized &&
      type.getElementType() == getElementTypeOrSelf(conv.getInputs()[1].getType()))
    return success();
  return conv.emitError(
      "channels_first wants a whole tensor of the weight's type, its size and that of all images known");
}

static LogicalResult checkBlock(Operation *kernel) {
  auto const both = [&](auto check, Value in, Value out) {
    return success(succeeded(check(in, kernel)) && succeeded(check(out, kernel)));
  };
  if (auto conv = dyn_cast<nest::ConvOp>(kernel); conv && conv.getChannelsFirst())
    return success(succeeded(checkChannelsFirst(conv)) && succeeded(checkImage(conv.getOutputs()[0], conv)));
  if (auto conv = dyn_cast<nest::ConvOp>(kernel))
    return both(checkImage, conv.getInputs()[0], conv.getOutputs()[0]);
  if (auto window = dyn_cast<nest::WindowOp>(kernel))
    return both(checkImage, window.getInputs()[0], window.getOutputs()[0]);
  if (auto contract = dyn_cast<nest::ContractOp>(kernel); contract && !packedOperands(kernel).empty())
    return nest::columnsOfPart(contract) ? checkPointer(contract.getInputs()[0], kernel)
                                         : both(checkPointer, contract.getInputs()[0], contract.getOutputs()[0]);
  if (auto recurrent = dyn_cast<nest::RecurrentOp>(kernel))
    return success(llvm::all_of(recurrent.getOutputs(), [&](Value output) {
      return !recurrent.isState(output) || succeeded(checkPointer(output, kernel));
    }));
  return success();
}

static LogicalResult checkAccess(Value memref, ArrayRef<Value> packed, Operation *kernel) {
  Value const root = rootOf(memref);
  if (root.getDefiningOp<memref::AllocaOp>()) // a thread's own
    return success();
  if (!isMember(root))
    return emitError(memref.getLoc(), "memory that has no name in the generated code");
  if (auto weight = packedWeight(root); weight && !llvm::is_contained(packed, memref))
    return kernel->emitError("weight '") << weight.getName() << "' is packed for another kind of kernel";
  if (cast<MemRefType>(root.getType()).getRank() > nest::maxViewRank && !hasKnownRows(root))
    return kernel->emitError("memory of ")
           << root.getType() << " has too many dimensions for a view, and nothing tells its sizes";
  return success();
}

LogicalResult checkMemory(Operation *kernel) {
  SmallVector<Value> memory;
  kernel->walk([&](Operation *op) {
    llvm::copy_if(op->getOperands(), std::back_inserter(memory),
                  [](Value operand) { return isa<MemRefType>(operand.getType()); });
  });
  SmallVector<Value> const packed = packedOperands(kernel);
  for (Value memref : memory)
    if (failed(checkAccess(memref, packed, kernel)))
      return failure();
  return checkBlock(kernel);
}

} // namespace ml2k
