//===- ReadChannelsFirst.cpp - a convolution reads the caller's image as it lies ----------------------------------===//
//
// Callers have images N C H W. A convolution of few channels copies the rows that it needs anyway, so that the image
// needs no launch of its own to become N H W C.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/ChooseBlocks.h"
#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_READCHANNELSFIRST
#include "passes/prepare/Passes.h.inc"

/// What a host's thread copies for a row of results stays in its L1 with the tile that is multiplied, and the weights,
/// which every row meets again, in its L2 (bytes).
static constexpr int64_t mostOfRows = 32768, mostOfWeights = 262144;

/// The image rows that a row of results depends on, zeros around them.
static int64_t bytesOfRows(nest::ConvOp conv, Type type) {
  auto const results = cast<MemRefType>(conv.getOutputs()[0].getType());
  auto const [rows, columns] = conv.getKernel();
  int64_t const reach = (results.getDimSize(2) - 1) * conv.getStrides()[1] + columns;
  return conv.getImageExtent(2) * rows * reach * (type.getIntOrFloatBitWidth() / 8);
}

static bool canReadChannelsFirst(nest::ConvOp conv) {
  auto const image = cast<MemRefType>(conv.getInputs()[0].getType());
  auto const results = cast<MemRefType>(conv.getOutputs()[0].getType());
  auto weight = conv.getInputs()[1].getDefiningOp<nest::WeightOp>();
  if (!weight || !weight->hasOneUse() || !weight.getPacking() || !weight.getPacking()->isPanels() ||
      weight.getPacking()->getWinograd() != 0)
    return false;
  auto const kernels = cast<MemRefType>(weight.getType());
  Type const type = kernels.getElementType();
  auto const isKnown = [](MemRefType each) {
    return !llvm::any_of(each.getShape().drop_front(), ShapedType::isDynamic);
  };
  if ((!type.isF32() && !type.isF64()) || image.getElementType() != type || results.getElementType() != type ||
      !isKnown(image) || !isKnown(results))
    return false;
  bool const isPlain = conv.getGroups() == 1 && !conv.getTransposed() && !conv.getPlanes() &&
                       llvm::all_of(conv.getDilations(), [](int64_t d) { return d == 1; });
  return isPlain && bytesOfRows(conv, type) <= mostOfRows &&
         kernels.getNumElements() * (type.getIntOrFloatBitWidth() / 8) <= mostOfWeights;
}

/// The only reader of what the map writes, if that is a convolution of it.
static nest::ConvOp onlyReader(nest::MapOp map) {
  Value const image = map.getOutputs()[0];
  nest::ConvOp found;
  for (OpOperand &use : image.getUses()) {
    if (use.getOwner() == map)
      continue;
    auto conv = dyn_cast<nest::ConvOp>(use.getOwner());
    if (!conv || found || use.getOperandNumber() != 0)
      return nullptr;
    found = conv;
  }
  return found && found->getBlock() == map->getBlock() ? found : nullptr;
}

namespace {
struct ReadChannelsFirst : impl::ReadChannelsFirstBase<ReadChannelsFirst> {
  void runOnOperation() override {
    SmallVector<nest::MapOp> maps;
    if (getOperation()->hasAttr("nest.sized_images"))
      return;
    getOperation().walk([&](nest::MapOp map) {
      if (!nest::scheduleOf(map) && isChannelsLast(map) && isInput(map.getInputs()[0]))
        maps.push_back(map);
    });
    for (nest::MapOp map : maps)
      if (nest::ConvOp conv = onlyReader(map); conv && canReadChannelsFirst(conv))
        join(map, conv);
  }

  /// Arguments that no kernel writes.
  bool isInput(Value memref) {
    auto const argument = dyn_cast<BlockArgument>(memref);
    return argument && argument.getOwner() == &getOperation().getBody().front() &&
           !getOperation().getArgAttr(argument.getArgNumber(), "nest.output");
  }

  static void join(nest::MapOp map, nest::ConvOp conv) {
    Operation *const buffer = map.getOutputs()[0].getDefiningOp();
    conv->setOperand(0, map.getInputs()[0]);
    conv.setChannelsFirst(true);
    map.erase();
    if (buffer && buffer->use_empty())
      buffer->erase();
  }
};
} // namespace

} // namespace ml2k
