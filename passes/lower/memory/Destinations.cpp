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

/// An argument per result, behind the others.
LogicalResult addOutputs(func::FuncOp function, func::ReturnOp exit) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  for (auto [i, value] : llvm::enumerate(exit.getOperands())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return exit.emitError() << "result " << i << " is a " << value.getType()
                              << "; a model returns tensors of known rank";
    types.push_back(MemRefType::get(type.getShape(), type.getElementType()));
    attributes.push_back(outputAttributes(function, i));
    locations.push_back(value.getLoc());
  }
  SmallVector<unsigned> const places(types.size(), function.getNumArguments());
  function.insertArguments(places, types, attributes, locations);
  return success();
}

void store(Value value, Value output, func::ReturnOp exit) {
  auto const type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return; // no element, nothing to store
  OpBuilder builder(exit);
  auto store = builder.create<bufferization::MaterializeInDestinationOp>(value.getLoc(), value, output);
  store.setRestrict(true);
  store.setWritable(true);
}

/// Nobody writes the tensors that the model is given.
void keepInputs(func::FuncOp function) {
  SmallVector<DictionaryAttr> all;
  for (BlockArgument argument : function.getArguments()) {
    NamedAttrList attributes(function.getArgAttrDict(argument.getArgNumber()));
    if (isa<TensorType>(argument.getType()))
      attributes.set("bufferization.writable", BoolAttr::get(function.getContext(), false));
    all.push_back(attributes.getDictionary(function.getContext()));
  }
  function.setAllArgAttrs(all);
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
    keepInputs(function);
    auto exit = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    unsigned const inputs = function.getNumArguments();
    if (failed(addOutputs(function, exit)))
      return signalPassFailure();
    for (auto [value, output] : llvm::zip(exit.getOperands(), function.getArguments().drop_front(inputs)))
      store(value, output, exit);
    exit.getOperandsMutable().clear();
    function.eraseResults(BitVector(function.getNumResults(), true));
  }
};

} // namespace
} // namespace ml2k
