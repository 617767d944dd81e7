//===- ColumnBody.cpp - the layers of a column as statements ------------------------------------------------------===//

#include "translator/emit/forms/ColumnPrinter.h"

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/render/Blocks.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

ColumnPrinter::ColumnPrinter(Column const &column, ColumnLayer const &layer, EmitOptions const &options,
                             std::set<std::string> &blocks)
    : column(column), layer(layer), options(options), blocks(blocks) {
  for (char const *word : {"team", "weights", "scratch", "c", "sum", "along"})
    scope.take(word);
  for (auto const &entry : blockNames())
    scope.take(entry.getKey());
  for (ColumnTensor const &tensor : column.tensors)
    scope.take(tensor.name);
  if (!layer.op)
    return;
  maps = mapsOf(layer.op->getAttrOfType<ArrayAttr>("indexing_maps"));
  along = rowLoop(layer);
}

//===--- Elements -------------------------------------------------------------------------------------------------===//

static Expression reference(ColumnTensor const &tensor) {
  Identifier const name(tensor.name);
  return tensor.isScratch ? cpp::member(cpp::name(Raw("scratch")), name) : cpp::name(name);
}

/// `scratch.hidden(c, i)`
Expression ColumnPrinter::at(ColumnTensor const &tensor, Expression const &position) const {
  return call(reference(tensor), {cpp::name(Raw("c")), position});
}

/// The caller's memory may hold another type.
Expression ColumnPrinter::element(ColumnPart part, Expression const &at) const {
  ColumnTensor const &tensor = column.tensors[part.tensor];
  Expression position = at;
  if (part.first != 0)
    position = at.is(0) ? literal(part.first) : binary(at, "+", Rank::Add, literal(part.first));
  Expression const read = this->at(tensor, position);
  return tensor.kind == ColumnTensor::Kind::Input ? cpp::cast(computedType(tensor.type).code, read) : read;
}

Expression ColumnPrinter::vectorElement(Value weight, Expression const &at) {
  auto const op = weight.getDefiningOp<nest::WeightOp>();
  for (ColumnWeights const &known : column.weights)
    if (known.weight == op && known.inputs == 0)
      return call(cpp::member(cpp::name(Raw("weights")), Raw("at<") + Code(Identifier(known.name)) + Raw(">")), {at});
  llvm_unreachable("readColumn knows every vector");
}

/// The position in a row, or in all elements of a weight, that a map gives for the position along the loop.
Expression ColumnPrinter::indexOf(AffineMap map, Value value, Expression const &at) {
  MLIRContext *context = map.getContext();
  IndexSpace space;
  space.dims.assign(map.getNumDims(), literal(0));
  space.extents.assign(map.getNumDims(), ShapedType::kDynamic);
  if (along < space.dims.size())
    space.dims[along] = at;
  AffineExpr flat = getAffineConstantExpr(0, context);
  auto const type = cast<ShapedType>(value.getType());
  if (value.getDefiningOp<nest::WeightOp>()) {
    for (auto [expr, extent] : llvm::zip(map.getResults(), type.getShape()))
      flat = flat * extent + expr;
  } else if (map.getNumResults() == 2) {
    flat = map.getResult(1);
  }
  return indexExpression(flat, space);
}

/// The element of an operand at a position along the row, or the row's only one.
FailureOr<Expression> ColumnPrinter::operand(unsigned number, std::optional<Expression> const &at) {
  Value const value = layer.op->getOperand(number);
  unsigned const inputs = layer.op->getNumOperands() - layer.op->getNumResults();
  Expression const position = indexOf(maps[number], value, at.value_or(literal(0)));
  if (number >= inputs) { // what a row kernel wrote
    unsigned const tensor = layer.results[number - inputs].front();
    return element({tensor, 0, column.tensors[tensor].width}, position);
  }
  if (value.getDefiningOp<nest::WeightOp>())
    return vectorElement(value, position);
  return element(layer.operands[number].front(), position);
}

/// `ice(c, o) = scratch.ice(c, o) = value`; what is written again before the end goes to the buffer alone.
cpp::Assign ColumnPrinter::store(unsigned result, Expression const &position, Expression const &value,
                                 bool isLast) const {
  ArrayRef<unsigned> const tensors = layer.results[result];
  std::vector<Expression> targets;
  for (unsigned tensor : llvm::reverse(isLast ? tensors : tensors.take_front()))
    targets.push_back(at(column.tensors[tensor], position));
  return {targets.front(), value, {targets.begin() + 1, targets.end()}};
}

ScalarPrinter ColumnPrinter::scalars() {
  ScalarPrinter printer(scope);
  printer.fastMath = options.math == MathLibrary::Fast;
  printer.readsBools = false;
  handleControlFlow(printer);
  printer.handle("nest.index", [this](Operation *op, ScalarPrinter &p, Body &) {
    bool const isBatch = cast<nest::IndexOp>(op).getDim() != along;
    p.bind(op->getResult(0), isBatch ? literal(0) : cpp::name(index));
    return success();
  });
  return printer;
}

LogicalResult ColumnPrinter::bindOperands(ScalarPrinter &printer, Block::BlockArgListType arguments, unsigned first,
                                          Body &to) {
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    bool const isAdded = layer.biased && llvm::all_of(argument.getUsers(), [&](Operation *user) {
                           return user->getNumResults() == 1 && user->getResult(0) == layer.biased;
                         });
    if (isAdded)
      continue;
    FailureOr<Expression> read = operand(first + number, cpp::name(index));
    if (failed(read))
      return failure();
    printer.bindRead(argument, std::move(*read), to);
  }
  return success();
}

LogicalResult ColumnPrinter::printBlock(ScalarPrinter &printer, Block &block, Body &statements) {
  if (failed(printer.print(block, statements)))
    return failure();
  FailureOr<SmallVector<Expression>> values = printer.use(block.back().getOperands());
  if (failed(values))
    return failure();
  unsigned const inputs = layer.op->getNumOperands() - layer.op->getNumResults();
  for (auto [number, value] : llvm::enumerate(*values)) {
    Expression const at = indexOf(maps[inputs + number], layer.op->getOperand(inputs + number), cpp::name(index));
    statements.push_back(store(number, at, value));
  }
  return success();
}

//===--- Layers ---------------------------------------------------------------------------------------------------===//

/// The statements for the templates; `blocks` gets those that they need.
Json ColumnPrinter::view(Body const &statements) {
  for (Raw block : cpp::blocksOf(statements))
    useBlock(block.str());
  cpp::Lambda lambda{{}, statements};
  dropUnusedParameters(lambda);
  return cpp::Serializer::json(lambda.body);
}

/// `int c, int`: without the names that the statements do not use.
static std::string parametersOf(ArrayRef<Identifier> names, Body const &statements) {
  cpp::Lambda lambda{cpp::intParameters(names), statements};
  dropUnusedParameters(lambda);
  return cpp::Serializer::list(lambda.parameters);
}

FailureOr<Json> ColumnPrinter::printLinear() {
  auto op = cast<nest::ContractOp>(layer.op);
  index = Raw("o");
  scope.take(index.str());
  Block &block = op.getEpilogue().front();
  ScalarPrinter printer = scalars();
  Identifier const sum = Raw("sum");
  printer.bind(block.getArgument(0), cpp::name(sum));
  if (layer.biased)
    printer.bind(layer.biased, cpp::name(sum));
  Body statements;
  if (failed(bindOperands(printer, block.getArguments().drop_front(), 2, statements)) ||
      failed(printBlock(printer, block, statements)))
    return failure();
  std::string inputs;
  for (ColumnPart const &part : layer.operands[0]) {
    ColumnTensor const &tensor = column.tensors[part.tensor];
    std::vector<Expression> arguments = {reference(tensor)};
    if (part.first)
      arguments.push_back(literal(part.first));
    inputs += ", " + cpp::Serializer::text(call(Raw("input<") + Code(part.width) + Raw(">"), arguments));
  }
  return Json{{"template", "form/linear"},
              {"layer", column.weights[layer.weights].name},
              {"parameters",
               cpp::Serializer::list(
                   {cpp::intParameter(Raw("c")), cpp::intParameter(index), {computedType(column.scalar).code, sum}})},
              {"statements", view(statements)},
              {"inputs", inputs}};
}

FailureOr<Json> ColumnPrinter::printEach() {
  Block &block = layer.op->getRegion(0).front();
  scope.take(index.str());
  Body statements;
  ScalarPrinter printer = scalars();
  if (failed(bindOperands(printer, block.getArguments(), 0, statements)) ||
      failed(printBlock(printer, block, statements)))
    return failure();
  return Json{{"template", "form/each"},
              {"length", std::to_string(rowLength(layer))},
              {"parameters", parametersOf({Raw("c"), index}, statements)},
              {"statements", view(statements)}};
}

Json ColumnPrinter::printCopy() {
  ColumnPart const from = layer.operands[0].front(), to = layer.operands[1].front();
  ColumnTensor const &target = column.tensors[to.tensor];
  Expression const i = cpp::name(index), position = to.first ? binary(i, "+", Rank::Add, literal(to.first)) : i;
  return {{"template", "form/each"},
          {"length", std::to_string(from.width)},
          {"parameters", cpp::Serializer::list(cpp::intParameters({Raw("c"), index}))},
          {"statements", view({cpp::Assign{at(target, position), element(from, i)}})}};
}

FailureOr<Json> ColumnPrinter::print() {
  switch (layer.kind) {
  case ColumnLayer::Kind::Linear:
    return printLinear();
  case ColumnLayer::Kind::Each:
    return printEach();
  case ColumnLayer::Kind::Row:
    return printRow();
  case ColumnLayer::Kind::Copy:
    return printCopy();
  }
  llvm_unreachable("a kind of layer");
}

FailureOr<Json> viewLayers(Column const &column, EmitOptions const &options, std::set<std::string> &blocks) {
  Json layers = Json::array();
  for (auto const &[number, layer] : llvm::enumerate(column.layers)) {
    FailureOr<Json> view = ColumnPrinter(column, layer, options, blocks).print();
    if (failed(view))
      return failure();
    (*view)["comments"] = viewComments(column, layer, options);
    (*view)["barrier"] = number + 1 < column.layers.size() && column.layers[number + 1].needsBarrier; // of a team
    layers.push_back(std::move(*view));
  }
  return layers;
}

} // namespace ml2k
