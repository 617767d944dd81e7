//===- RecurrentKernel.cpp - nest.recurrent: all steps of a recurrent layer ---------------------------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// `float input_sum, float output_sum, ...`: by the names that the layer gives its gates.
static std::vector<cpp::Parameter> bindSums(nest::RecurrentOp recurrent, Region &next, ScalarPrinter &printer) {
  auto const gates = recurrent->getAttrOfType<ArrayAttr>("nest.gates");
  std::vector<cpp::Parameter> parameters;
  for (int64_t gate = 0; gate < recurrent.getGates(); ++gate) {
    BlockArgument const sum = next.getArgument(gate);
    std::string const plain = recurrent.getGates() == 1 ? "sum" : "sum" + std::to_string(gate);
    Identifier const name =
        printer.names.fresh({gates ? cast<StringAttr>(gates[gate]).str() + "_sum" : plain, plain + "_of_gate"});
    parameters.push_back({computedType(sum.getType()).code, name});
    printer.bind(sum, cpp::name(name));
  }
  return parameters;
}

/// Stores all new elements but that of the state, which the block stores when all sums are formed.
static LogicalResult storeNext(nest::Direction const &direction, Layer &layer, ScalarPrinter &printer,
                               IndexSpace const &space, Body &statements) {
  Block &block = direction.next->front();
  ArrayRef<AffineMap> const maps = ArrayRef(direction.maps).drop_front(direction.extras.size());
  FailureOr<SmallVector<Expression>> values = printer.use(block.back().getOperands());
  if (failed(values))
    return failure();
  // Before anything is overwritten
  for (auto [value, operand] : llvm::zip(*values, block.back().getOperands()))
    if (values->size() > 1 && !value.isWord())
      value = printer.let(statements, operand.getType(), value, {"next", "next_value"});
  for (unsigned i = 1; i < maps.size(); ++i) {
    Value const output = direction.outputs[i];
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
static FailureOr<cpp::Lambda> firstStates(nest::Direction const &direction, Layer &layer, IndexSpace const &space,
                                          std::vector<Identifier> const &position) {
  ArrayRef<AffineMap> const maps = ArrayRef(direction.maps).drop_front(direction.extras.size());
  auto const startOf = [&](unsigned i) {
    return direction.starts.empty() ? TypedAttr() : dyn_cast<TypedAttr>(direction.starts[i]);
  };
  Body statements;
  for (unsigned i = 1; i < maps.size(); ++i) {
    TypedAttr const start = startOf(i);
    FailureOr<Expression> const target = start ? layer.element(direction.outputs[i], maps[i], space) : Expression();
    if (failed(target))
      return failure();
    if (start)
      statements.push_back(cpp::Assign{*target, literal(start)});
  }
  TypedAttr const start = startOf(0);
  FailureOr<Expression> const held = start ? literal(start) : layer.element(direction.outputs[0], maps[0], space);
  if (failed(held))
    return failure();
  statements.push_back(cpp::Return{*held});
  return cpp::Lambda{cpp::intParameters(position), std::move(statements)};
}

/// The numbers of one type that a step takes in: extras that differ from step to step, by their number.
static SmallVector<unsigned> inputsOf(nest::Direction const &direction) {
  SmallVector<unsigned> inputs;
  auto const typeOf = [&](unsigned i) { return cast<MemRefType>(direction.extras[i].getType()).getElementType(); };
  for (unsigned i = 0; i < direction.extras.size(); ++i)
    if (isa<FloatType>(typeOf(i)) && direction.maps[i].isFunctionOfDim(0) &&
        (inputs.empty() || typeOf(i) == typeOf(inputs.front())))
      inputs.push_back(i);
  return inputs;
}

/// `update_in` of the part of a sequence that belongs to a gate.
static std::vector<std::string> inputNames(nest::RecurrentOp recurrent, AffineMap map, unsigned number) {
  std::string const plain = "in" + std::to_string(number);
  auto const gates = recurrent->getAttrOfType<ArrayAttr>("nest.gates");
  AffineExpr const last = map.getResults().back();
  AffineExpr const offset = simplifyAffineExpr(last - getAffineDimExpr(2, map.getContext()), 3, 0);
  auto const constant = dyn_cast<AffineConstantExpr>(offset);
  int64_t const gate = constant && constant.getValue() >= 0 ? constant.getValue() / recurrent.getHidden() : -1;
  if (!gates || gate < 0 || gate >= int64_t(gates.size()))
    return {plain, plain + "put"};
  return {cast<StringAttr>(gates[gate]).str() + "_in", plain, plain + "put"};
}

/// One map for all inputs, with their number as fourth loop: they lie at equal distances in one tensor.
static std::optional<AffineMap> mapOfAll(nest::Direction const &direction, ArrayRef<unsigned> inputs) {
  AffineMap const first = direction.maps[inputs.front()];
  MLIRContext *context = first.getContext();
  std::optional<int64_t> distance;
  for (unsigned number = 1; number < inputs.size(); ++number) {
    AffineMap const map = direction.maps[inputs[number]];
    if (direction.extras[inputs[number]] != direction.extras[inputs.front()] ||
        map.getResults().drop_back() != first.getResults().drop_back())
      return std::nullopt;
    AffineExpr const offset = simplifyAffineExpr(map.getResults().back() - first.getResults().back(), 3, 0);
    auto const constant = dyn_cast<AffineConstantExpr>(offset);
    if (!constant || constant.getValue() != distance.value_or(constant.getValue()) * int64_t(number))
      return std::nullopt;
    distance = constant.getValue() / int64_t(number);
  }
  SmallVector<AffineExpr> results(first.getResults());
  if (distance)
    results.back() = results.back() + getAffineDimExpr(3, context) * *distance;
  return AffineMap::get(4, first.getNumSymbols(), results, context);
}

/// `[](int gate, int t, int n, int j) { return x(t, n, j + 8 * gate); }`, or what each input is, one after the other;
/// the parameters of the step for these go to `parameters`.
static FailureOr<cpp::Lambda> takenInputs(nest::RecurrentOp recurrent, nest::Direction const &direction, Layer &layer,
                                          ScalarPrinter &printer, IndexSpace const &space,
                                          std::vector<Identifier> const &position,
                                          std::vector<cpp::Parameter> &parameters) {
  SmallVector<unsigned> const inputs = inputsOf(direction);
  Identifier const input = printer.names.fresh({recurrent->hasAttr("nest.gates") ? "gate" : "i", "input", "in"});
  IndexSpace all = space;
  all.dims.push_back(cpp::name(input));
  all.extents.push_back(inputs.size());
  auto const elementAt = [&](unsigned number, AffineMap map) -> FailureOr<Expression> {
    Value const tensor = direction.extras[number];
    FailureOr<Expression> element = layer.element(tensor, map, all);
    bool const isNarrow = isStoredNarrow(cast<MemRefType>(tensor.getType()).getElementType());
    return failed(element) || !isNarrow ? element : FailureOr(cpp::cast(Raw("float"), *element));
  };
  std::optional<AffineMap> const together = inputs.empty() ? std::nullopt : mapOfAll(direction, inputs);
  FailureOr<Expression> value = Expression(literal(0));
  for (unsigned number = inputs.size(); number-- > 0 && !together;) {
    FailureOr<Expression> const element = elementAt(inputs[number], direction.maps[inputs[number]]);
    if (failed(element))
      return failure();
    bool const isLast = number + 1 == inputs.size();
    value = isLast ? *element
                   : conditional(binary(cpp::name(input), Raw("=="), Rank::Equality, literal(int64_t(number))),
                                 *element, *value);
  }
  if (together)
    value = elementAt(inputs.front(), *together);
  if (failed(value))
    return failure();
  for (auto [place, number] : llvm::enumerate(inputs)) {
    BlockArgument const argument = direction.next->getArgument(recurrent.getGates() + number);
    Identifier const name = printer.names.fresh(inputNames(recurrent, direction.maps[number], place));
    parameters.push_back({computedType(argument.getType()).code, name});
    printer.bind(argument, cpp::name(name));
  }
  std::vector<Identifier> taken = position;
  taken.insert(taken.begin(), input);
  Body statements = {cpp::Return{*value}};
  return cpp::Lambda{cpp::intParameters(taken), std::move(statements)};
}

/// What a step takes in and what it does: `[](float sum, float in, int t, int n, int j) { ... }`
static FailureOr<std::pair<cpp::Lambda, cpp::Lambda>> nextStates(nest::RecurrentOp recurrent,
                                                                 nest::Direction const &direction, Layer &layer,
                                                                 IndexSpace const &space,
                                                                 std::vector<Identifier> const &position) {
  Block &block = direction.next->front();
  ScalarPrinter printer = layer.scalars(space);
  std::vector<cpp::Parameter> parameters = bindSums(recurrent, *direction.next, printer);
  FailureOr<cpp::Lambda> taken = takenInputs(recurrent, direction, layer, printer, space, position, parameters);
  if (failed(taken))
    return failure();
  SmallVector<Value> operands(direction.extras);
  llvm::append_range(operands, direction.outputs);
  Body statements;
  if (failed(bindElements(layer, printer, block.getArguments().drop_front(recurrent.getGates()), operands,
                          direction.maps, space, statements)) ||
      failed(printer.print(block, statements)) || failed(storeNext(direction, layer, printer, space, statements)))
    return failure();
  llvm::append_range(parameters, cpp::intParameters(position));
  return std::pair(std::move(*taken), cpp::Lambda{std::move(parameters), std::move(statements)});
}

/// How many steps there are.
static Expression stepsOf(nest::RecurrentOp recurrent, Layer &layer) {
  return recurrent.getCount() ? layer.hostSize(recurrent.getCount(), {"steps", "count"})
                              : literal(int64_t(*recurrent.getSteps()));
}

static std::string description(nest::RecurrentOp recurrent, Expression const &steps, Layer &layer) {
  std::string text =
      recurrent.getCount() ? "t < " + cpp::Serializer::text(steps) + ": " : cpp::Serializer::text(steps) + " steps of ";
  for (unsigned number = 0; number < recurrent.getNumDirections(); ++number) {
    nest::Direction const direction = recurrent.getDirection(number);
    SmallVector<Value> extras;
    for (Value extra : direction.extras) // its gates are several operands
      if (!llvm::is_contained(extras, extra))
        extras.push_back(extra);
    text += (number == 0 ? "" : "; ") + layer.described(direction.outputs[0]) + " * " +
            describe(layer, direction.weight, extras, direction.outputs, " * ");
  }
  return text;
}

FailureOr<std::string> printRecurrent(Operation *op, Layer &layer) {
  auto recurrent = cast<nest::RecurrentOp>(op);
  IndexSpace space;
  std::vector<Identifier> const names = layer.indexNames({"t", "n", "j"});
  for (Identifier const &name : names)
    space.dims.push_back(cpp::name(name));
  Expression const steps = stepsOf(recurrent, layer);
  if (recurrent.getCount())
    space.symbols.push_back(steps);
  std::vector<Expression> arguments = {steps};
  std::vector<cpp::Lambda> lambdas;
  for (unsigned number = 0; number < recurrent.getNumDirections(); ++number) {
    nest::Direction const direction = recurrent.getDirection(number);
    Value const state = direction.outputs[0];
    ArrayRef<int64_t> const shape = cast<MemRefType>(state.getType()).getShape();
    FailureOr<Expression> states = layer.matrix(state, shape[1], shape[0], layer.extent(state, 0), "state");
    space.extents = {recurrent.getCount() ? ShapedType::kDynamic : int64_t(*recurrent.getSteps()), shape[0], shape[1]};
    auto next = nextStates(recurrent, direction, layer, space, names);
    FailureOr<cpp::Lambda> first = firstStates(direction, layer, space, {names[1], names[2]});
    if (failed(states) || failed(next) || failed(first))
      return failure();
    llvm::append_range(arguments, std::vector{*states, layer.member(*layer.program.storageOf(direction.weight))});
    lambdas.push_back(std::move(*first));
    lambdas.push_back(std::move(next->first));
    lambdas.push_back(std::move(next->second));
  }
  layer.setCall(Code(int64_t(inputsOf(recurrent.getDirection(0)).size())), std::move(arguments));
  for (cpp::Lambda &lambda : lambdas)
    layer.addLambda(std::move(lambda));
  return description(recurrent, steps, layer);
}

} // namespace ml2k
