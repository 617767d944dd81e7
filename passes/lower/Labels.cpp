//===- Labels.cpp - names of copies and buffers -------------------------------------------------------------------===//

#include "passes/lower/Labels.h"

#include "passes/Provenance.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

using namespace mlir;
using namespace ml2k;

//===--- Unique names ---------------------------------------------------------------------------------------------===//

StringRef ml2k::labelOf(Operation *op) {
  if (auto kernel = op->getParentOfType<nest::LoopKernelOp>()) // a load or a store in it
    return kernel.getLabel();
  return nest::labelOf(op);
}

Labels::Labels(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (StringRef const label = labelOf(op); !label.empty())
      take(label);
  });
}

//===--- Contents -------------------------------------------------------------------------------------------------===//

static std::string argumentName(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name") : StringAttr();
  return name ? name.str() : ("arg" + Twine(argument.getArgNumber())).str();
}

static bool isSame(Box const &a, Box const &b) { return a.offsets == b.offsets && a.sizes == b.sizes; }

/// The first writer of exactly this part of a buffer, else of all of it, else the layer that made the buffer.
static std::string writerName(Value memref) {
  Value const root = rootOf(memref);
  for (Box const &wanted : {boxOf(memref), boxOf(root)})
    for (Access const &access : accessesOf(root))
      if (access.writes && !labelOf(access.op).empty() && isSame(boxOf(access.alias), wanted))
        return labelOf(access.op).str();
  return nameFromLocation(root.getLoc());
}

std::string ml2k::nameOfContents(Value memref) {
  Value const root = rootOf(memref);
  if (auto argument = dyn_cast<BlockArgument>(root))
    return argumentName(argument);
  if (auto weight = root.getDefiningOp<nest::WeightOp>())
    return weight.getName().str();
  return writerName(memref);
}
