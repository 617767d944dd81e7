//===- Packing.cpp - how weights lie in memory and which function of the loader puts them there -------------------===//

#include "translator/emit/model/Program.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k {

/// The type of panels. Those of bfloat16 that only such numbers are multiplied by are told apart: hosts may do that in
/// pairs.
static cpp::Type panelsOf(Storage &storage, Code const &sizes) {
  storage.isPaired = storage.type.getElementType().isBF16() &&
                     llvm::all_of(storage.value.getUsers(),
                                  [](Operation *user) { return getElementTypeOrSelf(user->getOperand(0)).isBF16(); });
  Code const own =
      storage.isPaired ? Code(Raw("BfloatPanels<")) : Raw("Panels<") + storage.scalarType().code + Raw(", ");
  cpp::Type type = own + sizes + Raw(">");
  type.isFixedWidth = storage.scalarType().isFixedWidth;
  return type;
}

/// Panels<float, 64, 7 * 7 * 3> of a convolution's O (C/groups) R S. The phases of a transposed one are groups of it.
static void packConvolution(Storage &storage, nest::ConvOp conv) {
  ArrayRef<int64_t> const shape = storage.type.getShape();
  int64_t const taps = shape[2] * shape[3];
  Code const depth = taps == 1 ? Code(shape[1]) : cpp::listOf({shape[2], shape[3], shape[1]}, " * ");
  int64_t const groups = conv.getGroups() * conv.getPhases();
  SmallVector<Code> sizes = {Code(shape[0]), depth};
  if (groups != 1)
    sizes.push_back(Code(groups));
  storage.cpp = panelsOf(storage, cpp::listOf(sizes));
  storage.reader = storage.winograd ? "read_winograd<" + std::to_string(storage.winograd) + ">"
                                    : "read_panels<" + std::to_string(taps) + ">";
}

/// The loops of the kernel that address the weight, n before k or k before n.
static LogicalResult packMatrix(Storage &storage, nest::ContractOp contract) {
  auto const map = cast<AffineMapAttr>(contract.getIndexingMaps()[1]).getValue();
  int64_t outputs = 1, depth = 1;
  SmallVector<nest::Role> order;
  for (auto [expr, extent] : llvm::zip(map.getResults(), storage.type.getShape())) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return contract.emitError("a packed weight is not addressed by loops alone");
    nest::Role const role = contract.getRole(dim.getPosition());
    (role == nest::Role::K ? depth : outputs) *= extent;
    if (order.empty() || order.back() != role)
      order.push_back(role);
  }
  bool const isMatrix = llvm::all_of(order, [](nest::Role r) { return r == nest::Role::N || r == nest::Role::K; });
  if (order.empty() || order.size() > 2 || !isMatrix)
    return contract.emitError("a packed weight wants its n loops side by side and its k loops side by side");
  storage.cpp = panelsOf(storage, cpp::listOf({outputs, depth}));
  storage.reader = order.size() == 2 && order[0] == nest::Role::K ? "read_panels_kn" : "read_panels<1>";
  return success();
}

static LogicalResult packPanels(Storage &storage, Operation *weight) {
  for (Operation *user : weight->getUsers()) {
    if (auto conv = dyn_cast<nest::ConvOp>(user)) {
      packConvolution(storage, conv);
      return success();
    }
    if (auto contract = dyn_cast<nest::ContractOp>(user))
      return packMatrix(storage, contract);
  }
  return weight->emitError("packed in panels, but used by no convolution or contraction");
}

LogicalResult Program::addWeight(nest::WeightOp op) {
  auto const type = dyn_cast<MemRefType>(op.getType());
  if (!type || !isSidecarType(type.getElementType()))
    return op.emitError("weight of type ") << op.getType() << " cannot be printed";
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
  }
  if (storage.packing == nest::PackingKind::Taps) {
    ArrayRef<int64_t> const shape = type.getShape();
    storage.cpp = tensorType(scalar, true, {shape[2] * shape[3], shape[0]});
    storage.reader = "read_taps";
  } else if (storage.packing == nest::PackingKind::Panels) {
    useBlock("panels");
    if (failed(packPanels(storage, op)))
      return failure();
  } else if (storage.packing == nest::PackingKind::Gates) {
    useBlock("gate_weights");
    int64_t const hidden = type.getDimSize(1);
    Code const sizes = cpp::listOf({type.getDimSize(0) / hidden, hidden});
    storage.cpp = cpp::Type(Raw("GateWeights<") + scalar.code + Raw(", ") + sizes + Raw(">"));
    storage.cpp.isFixedWidth = scalar.isFixedWidth;
    storage.reader = "read_gates";
  }
  weights.push_back(std::move(storage));
  return success();
}

} // namespace ml2k
