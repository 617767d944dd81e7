//===- NameWeights.cpp - constants of the model become nest.weight ------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

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
      if (isData(constant) && failed(replace(constant)))
        signalPassFailure();
    });
  }

  /// Elements of a resource, which have no iterators in MLIR, as those of any other constant; null if they are not
  /// there.
  static ElementsAttr spelledOut(ElementsAttr value) {
    auto const resource = dyn_cast<DenseResourceElementsAttr>(value);
    if (!resource)
      return value;
    AsmResourceBlob const *blob = resource.getRawHandle().getBlob();
    size_t const bytes = value.getElementType().getIntOrFloatBitWidth() / 8 * value.getNumElements();
    return blob && blob->getData().size() == bytes ? ElementsAttr(reshaped(value, value.getShapedType().getShape()))
                                                   : ElementsAttr();
  }

  /// Without a name of its own a weight is named with its kernel, once there is one (ml2k-label-kernels).
  static LogicalResult replace(arith::ConstantOp constant) {
    ElementsAttr const value = spelledOut(cast<ElementsAttr>(constant.getValue()));
    if (!value)
      return constant.emitError("the data of the constant are not in the file, or of another size");
    std::string const name = nameFromLocation(constant.getLoc());
    OpBuilder builder(constant);
    auto weight = builder.create<nest::WeightOp>(constant.getLoc(), constant.getType(),
                                                 name.empty() ? unnamedWeight : name, value, nullptr);
    constant.replaceAllUsesWith(weight.getResult());
    constant.erase();
    return success();
  }
};

} // namespace
} // namespace ml2k
