//===- Packing.cpp - how weights lie in memory and which function of the loader puts them there -------------------===//

#include "translator/emit/model/Program.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// The type of a weight whose elements a loader arranges.
static cpp::Type packedType(Raw name, cpp::Type const &scalar, ArrayRef<Code> sizes) {
  cpp::Type type(Code(name) + Raw("<") + cpp::listOf(sizes) + Raw(">"));
  type.isFixedWidth = scalar.isFixedWidth;
  return type;
}

/// Panels<float, 64, 7 * 7 * 3>: outputs, terms of a sum, groups.
static cpp::Type panelsOf(nest::PackingAttr packing, cpp::Type const &scalar) {
  int64_t const taps = packing.getRows() * packing.getColumns();
  SmallVector<Code> sizes;
  if (!packing.getPaired())
    sizes.push_back(scalar.code);
  sizes.push_back(Code(packing.getOutputs()));
  sizes.push_back(taps == 1 ? Code(packing.getDepth())
                            : cpp::listOf({packing.getRows(), packing.getColumns(), packing.getDepth()}, " * "));
  if (packing.getGroups() != 1)
    sizes.push_back(Code(packing.getGroups()));
  return packedType(packing.getPaired() ? Raw("BfloatPanels") : Raw("Panels"), scalar, sizes);
}

static std::string panelsReader(nest::PackingAttr packing) {
  if (packing.getWinograd())
    return "read_winograd<" + std::to_string(packing.getWinograd()) + ">";
  return packing.getDepthFirst() ? "read_panels_kn"
                                 : "read_panels<" + std::to_string(packing.getRows() * packing.getColumns()) + ">";
}

/// The type of a weight and the function that fills it.
static std::pair<cpp::Type, std::string> packed(nest::PackingAttr packing, ArrayRef<int64_t> shape,
                                                cpp::Type const &scalar) {
  switch (packing.getKind()) {
  case nest::PackingKind::Panels:
    return {panelsOf(packing, scalar), panelsReader(packing)};
  case nest::PackingKind::Taps:
    return {tensorType(scalar, true, {shape[2] * shape[3], shape[0]}), "read_taps"};
  case nest::PackingKind::Gates:
    return {packedType(Raw("GateWeights"), scalar, {scalar.code, Code(shape[0] / shape[1]), Code(shape[1])}),
            "read_gates"};
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
    std::tie(storage.cpp, storage.reader) = packed(*packing, type.getShape(), scalar);
    if (packing->isPanels())
      useBlock("panels");
    if (packing->getKind() == nest::PackingKind::Gates)
      useBlock("gate_weights");
  }
  weights.push_back(std::move(storage));
}

} // namespace ml2k
