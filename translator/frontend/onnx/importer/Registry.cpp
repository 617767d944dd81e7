//===- Registry.cpp - which function imports which operator -------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/importer/OnnxImport.h"

using llvm::StringRef;

namespace ml2k::frontend {

Registry::Registry() {
  registerActivation(*this);
  registerAttention(*this);
  registerControl(*this);
  registerConvolution(*this);
  registerCounted(*this);
  registerUnique(*this);
  registerEinsum(*this);
  registerElementwise(*this);
  registerFeatures(*this);
  registerFourier(*this);
  registerGeometry(*this);
  registerIndexing(*this);
  registerLinearModels(*this);
  registerLoops(*this);
  registerMatMul(*this);
  registerMatrix(*this);
  registerMovement(*this);
  registerNGrams(*this);
  registerNormalization(*this);
  registerPooling(*this);
  registerQuantization(*this);
  registerRecurrent(*this);
  registerReduction(*this);
  registerResize(*this);
  registerSampling(*this);
  registerSelection(*this);
  registerShape(*this);
  registerSlice(*this);
  registerSuppression(*this);
  registerTrees(*this);
  registerVectorMachines(*this);
}

Registry const &Registry::instance() {
  static Registry const registry;
  return registry;
}

void Registry::add(StringRef name, std::initializer_list<int> versions, ImportFunction function, StringRef domain) {
  auto &row = rows[{domain.str(), name.str()}];
  for (int version : versions)
    row[version] = function;
}

ImportFunction const *Registry::find(StringRef domain, StringRef name, int opset) const {
  auto const op = rows.find({domain.str(), name.str()});
  if (op == rows.end())
    return nullptr;
  auto const next = op->second.upper_bound(opset);
  if (next == op->second.begin() || !std::prev(next)->second)
    return nullptr;
  return &std::prev(next)->second;
}

} // namespace ml2k::frontend

std::vector<ml2k::SupportedOp> ml2k::supportedOnnxOps() {
  std::vector<SupportedOp> ops;
  for (auto const &[key, versions] : frontend::Registry::instance().all()) {
    SupportedOp op{key.first, key.second, {}};
    for (auto const &[version, function] : versions)
      if (function)
        op.versions.push_back(version);
    ops.push_back(op);
  }
  return ops;
}
