//===- Destinations.cpp - results of the model become memory of the caller ----------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_DESTINATIONS
#include "passes/Passes.h.inc"

namespace {

DictionaryAttr outputAttributes(func::FuncOp function, unsigned result) {
  NamedAttrList attributes(function.getResultAttrDict(result));
  attributes.set("nest.output", UnitAttr::get(function.getContext()));
  return attributes.getDictionary(function.getContext());
}

LogicalResult addOutput(func::FuncOp function, func::ReturnOp exit, unsigned result) {
  Value const value = exit.getOperand(result);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return exit.emitError() << "result " << result << " is a " << value.getType()
                            << "; a model returns tensors of known rank";
  unsigned const place = function.getNumArguments();
  function.insertArgument(place, MemRefType::get(type.getShape(), type.getElementType()),
                          outputAttributes(function, result), value.getLoc());
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return success(); // no element, nothing to store
  OpBuilder builder(exit);
  auto store =
      builder.create<bufferization::MaterializeInDestinationOp>(value.getLoc(), value, function.getArgument(place));
  store.setRestrict(true);
  store.setWritable(true);
  return success();
}

struct Destinations : impl::DestinationsBase<Destinations> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.getNumResults() == 0)
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError("has control flow between blocks");
      return signalPassFailure();
    }
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isa<TensorType>(function.getArgument(i).getType()))
        function.setArgAttr(i, "bufferization.writable", BoolAttr::get(&getContext(), false));
    auto exit = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    for (unsigned i = 0; i < exit.getNumOperands(); ++i)
      if (failed(addOutput(function, exit, i)))
        return signalPassFailure();
    exit.getOperandsMutable().clear();
    function.eraseResults(BitVector(function.getNumResults(), true));
  }
};

} // namespace
} // namespace ml2k
