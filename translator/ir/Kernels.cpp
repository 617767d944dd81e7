//===- Kernels.cpp - kernels through their interface --------------------------------------------------------------===//

#include "translator/ir/Nest.h"

using namespace mlir;
using namespace ml2k::nest;

#include "translator/ir/KernelInterface.cpp.inc"

static constexpr llvm::StringLiteral futureLabel = "nest.label";

StringRef ml2k::nest::labelOf(Operation *op) {
  if (auto kernel = dyn_cast<Kernel>(op))
    return kernel.getLabel();
  auto const label = op->getAttrOfType<StringAttr>(futureLabel);
  return label ? label.getValue() : StringRef();
}

void ml2k::nest::setLabel(Operation *op, StringRef label) {
  if (auto kernel = dyn_cast<Kernel>(op))
    return kernel.setLabel(label);
  op->setAttr(futureLabel, StringAttr::get(op->getContext(), label));
}

//===--- Operands, maps and regions by kind -----------------------------------------------------------------------===//

static SmallVector<AffineMap> valuesOf(ArrayAttr maps) {
  return llvm::to_vector(maps.getAsValueRange<AffineMapAttr>());
}

SmallVector<Value> MapOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> ReduceOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> ContractOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> ConvOp::getMappedOperands() { return SmallVector<Value>(getExtras()); }
SmallVector<Value> WindowOp::getMappedOperands() { return SmallVector<Value>(getExtras()); }
SmallVector<Value> RowOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> RecurrentOp::getMappedOperands() { return SmallVector<Value>(getOperands().drop_front()); }

SmallVector<AffineMap> MapOp::getMaps() { return valuesOf(getIndexingMaps()); }
SmallVector<AffineMap> ReduceOp::getMaps() { return valuesOf(getIndexingMaps()); }
SmallVector<AffineMap> ContractOp::getMaps() { return valuesOf(getIndexingMaps()); }
SmallVector<AffineMap> ConvOp::getMaps() { return valuesOf(getExtraMaps()); }
SmallVector<AffineMap> WindowOp::getMaps() { return valuesOf(getExtraMaps()); }
SmallVector<AffineMap> RowOp::getMaps() { return valuesOf(getIndexingMaps()); }
SmallVector<AffineMap> RecurrentOp::getMaps() { return valuesOf(getIndexingMaps()); }

Region &MapOp::getStoringRegion() { return getBody(); }
Region &ReduceOp::getStoringRegion() { return getFinish(); }
Region &ContractOp::getStoringRegion() { return getEpilogue(); }
Region &ConvOp::getStoringRegion() { return getEpilogue(); }
Region &WindowOp::getStoringRegion() { return getFinish(); }
Region &RowOp::getStoringRegion() { return getBody(); }
Region &RecurrentOp::getStoringRegion() { return getNext(); }
Region &LoopKernelOp::getStoringRegion() { return getBody(); }

//===--- Contractions ---------------------------------------------------------------------------------------------===//

Role ContractOp::getRole(unsigned loop) { return cast<RoleAttr>(getIterators()[loop]).getValue(); }

SmallVector<Role> ContractOp::getRoles() {
  return llvm::map_to_vector(getIterators(), [](Attribute role) { return cast<RoleAttr>(role).getValue(); });
}

ArrayAttr ml2k::nest::rolesAttr(MLIRContext *context, ArrayRef<Role> roles) {
  return ArrayAttr::get(
      context, llvm::map_to_vector(roles, [&](Role role) -> Attribute { return RoleAttr::get(context, role); }));
}
