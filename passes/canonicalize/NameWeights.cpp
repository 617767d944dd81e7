//===- NameWeights.cpp - constants of the model become nest.weight ------------------------------------------*- C++ -*-===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_NAMEWEIGHTS
#include "passes/Passes.h.inc"

namespace {

/// Constants that carry data: more than one element, not all equal. (A splat folds into the scalar code that uses it.)
bool isData(arith::ConstantOp constant) {
  auto const value = dyn_cast<ElementsAttr>(constant.getValue());
  if (!value || !isa<RankedTensorType>(constant.getType()))
    return false;
  return !isa<SplatElementsAttr>(value);
}

/// What a constant is to its layer: a matrix or filter is its weight, a vector its bias.
StringRef roleOf(Value value) { return cast<ShapedType>(value.getType()).getRank() > 1 ? "weight" : "bias"; }

/// The first user that computes something, through copies and reshapes.
Operation *layerOf(Value value) {
  for (Operation *user : value.getUsers()) {
    if (isa<linalg::TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return layerOf(user->getResult(0));
    return user;
  }
  return nullptr;
}

struct NameWeights : impl::NameWeightsBase<NameWeights> {
  void runOnOperation() override {
    llvm::StringSet<> taken;
    getOperation().walk([&](nest::WeightOp weight) { taken.insert(weight.getName()); });
    getOperation().walk([&](arith::ConstantOp constant) {
      if (isData(constant))
        replace(constant, taken);
    });
  }

  void replace(arith::ConstantOp constant, llvm::StringSet<> &taken) {
    std::string name = nameFromLocation(constant.getLoc());
    if (name.empty()) {
      Operation *layer = layerOf(constant);
      std::string const owner = layer ? nameFromLocation(layer->getLoc()) : "";
      name = (owner.empty() ? "" : owner + ".") + roleOf(constant).str();
      // A model without names leaves only the order of its constants
      if (!taken.insert(name).second || owner.empty())
        name = numbered(name, taken);
    }
    OpBuilder builder(constant);
    auto weight = builder.create<nest::WeightOp>(constant.getLoc(), constant.getType(), name,
                                                 cast<ElementsAttr>(constant.getValue()), nullptr);
    constant.replaceAllUsesWith(weight.getResult());
    constant.erase();
  }

  static std::string numbered(std::string const &base, llvm::StringSet<> &taken) {
    for (int i = 1;; ++i)
      if (std::string const name = base + std::to_string(i); taken.insert(name).second)
        return name;
  }
};

} // namespace
} // namespace ml2k
