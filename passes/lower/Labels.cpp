//===- Labels.cpp - names of copies and buffers -------------------------------------------------------------------===//

#include "passes/lower/Labels.h"

#include "passes/Provenance.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ml2k;

//===--- Unique names ---------------------------------------------------------------------------------------------===//

static std::string shortHash(StringRef full) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (unsigned char c : full.bytes())
    hash = (hash ^ c) * 0x100000001b3u;
  hash ^= hash >> 32;
  std::string out;
  for (int i = 0; i < 4; ++i, hash /= 36)
    out += "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
  return out;
}

StringRef ml2k::labelOf(Operation *op) {
  if (auto kernel = op->getParentOfType<nest::LoopKernelOp>()) // a load or a store in it
    return kernel.getLabel();
  return nest::labelOf(op);
}

Labels::Labels(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (StringRef const label = labelOf(op); !label.empty())
      taken.insert(label);
  });
}

std::string Labels::unique(StringRef wanted, StringRef detail) {
  std::string name = wanted.str(), salt = detail.str();
  while (!taken.insert(name).second) {
    name = (wanted + "_" + shortHash((wanted + "|" + salt).str())).str();
    salt += "'"; // only where the details are equal too
  }
  return name;
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
