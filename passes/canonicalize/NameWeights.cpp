//===- NameWeights.cpp - constants of the model become nest.weight ------------------------------------------------===//

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

struct NameWeights : impl::NameWeightsBase<NameWeights> {
  void runOnOperation() override {
    getOperation().walk([&](arith::ConstantOp constant) {
      if (isData(constant))
        replace(constant);
    });
  }

  /// Without a name of its own a weight is named with its kernel, once there is one (ml2k-label-kernels).
  static void replace(arith::ConstantOp constant) {
    std::string const name = nameFromLocation(constant.getLoc());
    OpBuilder builder(constant);
    auto weight =
        builder.create<nest::WeightOp>(constant.getLoc(), constant.getType(), name.empty() ? unnamedWeight : name,
                                       cast<ElementsAttr>(constant.getValue()), nullptr);
    constant.replaceAllUsesWith(weight.getResult());
    constant.erase();
  }
};

} // namespace
} // namespace ml2k
