//===- Packing.cpp - how weights lie in memory and which function of the loader puts them there -------------------===//

#include "translator/emit/model/Program.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// The type of a weight whose elements a loader arranges.
static cpp::Type packedType(Raw name, Raw block, cpp::Type const &scalar, ArrayRef<Code> sizes) {
  cpp::Type type(Code(name) + Raw("<") + cpp::listOf(sizes) + Raw(">"));
  type.block = block;
  type.isFixedWidth = scalar.isFixedWidth;
  return type;
}

/// Panels<float, 64, 7 * 7 * 3>: outputs, terms of a sum, groups.
static cpp::Type panelsOf(nest::PackingAttr packing, cpp::Type const &scalar, bool isFloat) {
  int64_t const taps = packing.getRows() * packing.getColumns();
  SmallVector<Code> sizes;
  if (!packing.getPaired() || !isFloat)
    sizes.push_back(scalar.code);
  sizes.push_back(Code(packing.getOutputs()));
  sizes.push_back(taps == 1 ? Code(packing.getDepth())
                            : cpp::listOf({packing.getRows(), packing.getColumns(), packing.getDepth()}, " * "));
  if (packing.getGroups() != 1)
    sizes.push_back(Code(packing.getGroups()));
  Raw const paired = isFloat ? Raw("BfloatPanels") : Raw("ShortPanels");
  return packedType(packing.getPaired() ? paired : Raw("Panels"), "panels", scalar, sizes);
}

/// The function that fills panels, and its template argument.
static std::pair<Raw, Code> panelsReader(nest::PackingAttr packing) {
  if (packing.getWinograd())
    return {Raw("read_winograd"), packing.getRows() == 3
                                      ? Code(packing.getWinograd())
                                      : cpp::listOf({packing.getWinograd(), packing.getRows() / 3})}; // planes
  if (packing.getDepthFirst())
    return {Raw("read_panels_kn"), Code()};
  return {Raw("read_panels"), Code(packing.getRows() * packing.getColumns())};
}

/// The type of a packed weight and what fills it.
static void setPacked(Storage &storage, nest::PackingAttr packing, cpp::Type const &scalar) {
  ArrayRef<int64_t> const shape = storage.type.getShape();
  switch (packing.getKind()) {
  case nest::PackingKind::Panels:
    storage.cpp = panelsOf(packing, scalar, isa<FloatType>(storage.type.getElementType()));
    std::tie(storage.reader, storage.readerArguments) = panelsReader(packing);
    return;
  case nest::PackingKind::Taps:
    storage.cpp = tensorType(scalar, true, {shape[2] * shape[3], shape[0]});
    storage.reader = "read_taps";
    return;
  case nest::PackingKind::Gates:
    storage.cpp =
        packedType("GateWeights", "gate_weights", scalar, {scalar.code, Code(shape[0] / shape[1]), Code(shape[1])});
    storage.reader = "read_gates";
    return;
  }
  llvm_unreachable("another packing");
}

void Program::addWeight(nest::WeightOp op) {
  auto const type = cast<MemRefType>(op.getType());
  Storage storage{};
  storage.kind = StorageKind::Weight;
  storage.value = op.getResult();
  storage.type = type;
  storage.modelName = op.getName().str();
  cpp::Type const scalar = storage.scalarType();
  setTensorType(storage, true);
  storage.reader = "read_plain";
  if (auto const packing = op.getPacking()) {
    storage.packing = packing->getKind();
    storage.winograd = packing->getWinograd();
    storage.isPaired = packing->getPaired();
    setPacked(storage, *packing, scalar);
  }
  weights.push_back(std::move(storage));
}

} // namespace ml2k
