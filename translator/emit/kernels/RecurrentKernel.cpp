//===- RecurrentKernel.cpp - nest.recurrent: all steps of a recurrent layer ---------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// `float input_sum, float output_sum, ...`: by the names that the layer gives its gates.
static std::vector<cpp::Parameter> bindSums(nest::RecurrentOp recurrent, Layer &layer, ScalarPrinter &printer) {
  auto const gates = recurrent->getAttrOfType<ArrayAttr>("nest.gates");
  std::vector<cpp::Parameter> parameters;
  for (int64_t gate = 0; gate < recurrent.getGates(); ++gate) {
    BlockArgument const sum = recurrent.getNext().getArgument(gate);
    std::string const plain = recurrent.getGates() == 1 ? "sum" : "sum" + std::to_string(gate);
    Identifier const name =
        layer.scope.fresh({gates ? cast<StringAttr>(gates[gate]).str() + "_sum" : plain, plain + "_of_gate"});
    parameters.push_back({computedType(sum.getType()).code, name});
    printer.bind(sum, cpp::name(name));
  }
  return parameters;
}

/// Stores all new elements but that of the state, which the block stores when all sums are formed.
static LogicalResult storeNext(nest::RecurrentOp recurrent, Layer &layer, ScalarPrinter &printer,
                               IndexSpace const &space, Body &statements) {
  Block &block = recurrent.getNext().front();
  SmallVector<AffineMap> const all = mapsOf(recurrent.getIndexingMaps());
  ArrayRef<AffineMap> const maps = ArrayRef(all).drop_front(recurrent.getExtras().size());
  FailureOr<SmallVector<Expression>> values = printer.use(block.back().getOperands());
  if (failed(values))
    return failure();
  // Before anything is overwritten
  for (auto [value, operand] : llvm::zip(*values, block.back().getOperands()))
    if (values->size() > 1 && !value.isWord())
      value = printer.let(statements, operand.getType(), value, {"next", "next_value"});
  for (unsigned i = 1; i < maps.size(); ++i) {
    Value const output = recurrent.getOutputs()[i];
    FailureOr<Expression> target = layer.element(output, maps[i], space);
    if (failed(target))
      return failure();
    Type const type = cast<MemRefType>(output.getType()).getElementType();
    statements.push_back(cpp::Assign{*target, stored((*values)[i], type)});
  }
  statements.push_back(cpp::Return{values->front()});
  return success();
}

/// What a state is before the first step: `[](int n, int j) { cell(n, j) = 0.f; return 0.f; }`
static FailureOr<cpp::Lambda> firstStates(nest::RecurrentOp recurrent, Layer &layer, IndexSpace const &space,
                                          std::vector<Identifier> const &position) {
  SmallVector<AffineMap> const all = mapsOf(recurrent.getIndexingMaps());
  ArrayRef<AffineMap> const maps = ArrayRef(all).drop_front(recurrent.getExtras().size());
  auto const startOf = [&](unsigned i) {
    return recurrent.getStarts() ? dyn_cast<TypedAttr>((*recurrent.getStarts())[i]) : TypedAttr();
  };
  Body statements;
  for (unsigned i = 1; i < maps.size(); ++i) {
    TypedAttr const start = startOf(i);
    FailureOr<Expression> const target =
        start ? layer.element(recurrent.getOutputs()[i], maps[i], space) : Expression();
    if (failed(target))
      return failure();
    if (start)
      statements.push_back(cpp::Assign{*target, literal(start)});
  }
  TypedAttr const start = startOf(0);
  FailureOr<Expression> const held = start ? literal(start) : layer.element(recurrent.getOutputs()[0], maps[0], space);
  if (failed(held))
    return failure();
  statements.push_back(cpp::Return{*held});
  return cpp::Lambda{cpp::intParameters(position), std::move(statements)};
}

static std::string description(nest::RecurrentOp recurrent, Layer &layer) {
  std::string const state = layer.described(recurrent.getOutputs()[0]);
  SmallVector<Value> extras;
  for (Value extra : recurrent.getExtras()) // its gates are several operands
    if (!llvm::is_contained(extras, extra))
      extras.push_back(extra);
  std::string text = describe(layer, recurrent.getInputs(), extras, recurrent.getOutputs(), " * ");
  return std::to_string(recurrent.getSteps()) + " steps of " + state + " * " + text;
}

FailureOr<std::string> printRecurrent(Operation *op, Layer &layer) {
  auto recurrent = cast<nest::RecurrentOp>(op);
  Value const state = recurrent.getOutputs()[0];
  ArrayRef<int64_t> const shape = cast<MemRefType>(state.getType()).getShape();
  Storage const *weight = layer.program.storageOf(recurrent.getInputs()[0]);
  FailureOr<Expression> states = layer.matrix(state, shape[1], shape[0], layer.extent(state, 0), "state");
  if (failed(states))
    return failure();
  IndexSpace space;
  space.extents = {int64_t(recurrent.getSteps()), shape[0], shape[1]};
  std::vector<Identifier> const names = layer.indexNames({"t", "n", "j"});
  for (Identifier const &name : names)
    space.dims.push_back(cpp::name(name));
  ScalarPrinter printer = layer.scalars(space);
  std::vector<cpp::Parameter> parameters = bindSums(recurrent, layer, printer);
  Body statements;
  if (failed(bindElements(layer, printer, recurrent.getNext().getArguments().drop_front(recurrent.getGates()),
                          SmallVector<Value>(llvm::drop_begin(op->getOperands())), mapsOf(recurrent.getIndexingMaps()),
                          space, statements)) ||
      failed(printer.print(recurrent.getNext().front(), statements)) ||
      failed(storeNext(recurrent, layer, printer, space, statements)))
    return failure();
  FailureOr<cpp::Lambda> first = firstStates(recurrent, layer, space, {names[1], names[2]});
  if (failed(first))
    return failure();
  layer.setCall({literal(recurrent.getSteps()), *states, layer.member(*weight)});
  layer.addLambda(std::move(*first));
  llvm::append_range(parameters, cpp::intParameters(names));
  layer.addLambda({std::move(parameters), std::move(statements)});
  return description(recurrent, layer);
}

} // namespace ml2k
