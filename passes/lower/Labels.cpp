//===- Labels.cpp - names of copies and buffers -------------------------------------------------------------------===//

#include "passes/lower/Labels.h"

#include "passes/Provenance.h"
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

ContentNames::Parts &ContentNames::partsOf(Value root) {
  auto const [entry, isNew] = writers.try_emplace(root);
  if (isNew)
    for (Access const &access : accessesOf(root))
      if (access.writes)
        entry->second[boxOf(access.alias)].push_back(access.op);
  return entry->second;
}

void ContentNames::replace(Operation *copy, Value target, Operation *kernel) {
  auto const found = writers.find(rootOf(target));
  if (found == writers.end())
    return;
  auto &writers = found->second[boxOf(target)];
  std::replace(writers.begin(), writers.end(), copy, kernel);
}

/// The first writer of exactly this part of a buffer, else of all of it, else the layer that made the buffer.
std::string ContentNames::writerName(Value memref) {
  Value const root = rootOf(memref);
  Parts &parts = partsOf(root);
  for (Value const wanted : {memref, root})
    for (Operation *writer : parts[boxOf(wanted)])
      if (StringRef const label = labelOf(writer); !label.empty())
        return label.str();
  return nameFromLocation(root.getLoc());
}

std::string ContentNames::of(Value memref) {
  Value const root = rootOf(memref);
  if (auto argument = dyn_cast<BlockArgument>(root))
    return argumentName(argument);
  if (auto weight = root.getDefiningOp<nest::WeightOp>())
    return weight.getName().str();
  return writerName(memref);
}
