//===- TreesKernel.cpp - nest.trees: walk_trees -------------------------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Lambdas over a row, a node of a tree and a target.
struct Trees {
  nest::TreesOp op;
  Layer &layer;
  Identifier row, node, target;

  Trees(nest::TreesOp op, Layer &layer)
      : op(op), layer(layer), row(Raw("row")), node(Raw("node")), target(Raw("target")) {
    std::vector<Identifier> const names = layer.indexNames({"row", "node", "target"});
    row = names[0], node = names[1], target = names[2];
  }
  cpp::Type type() { return computedType(cast<MemRefType>(op.getValues().getType()).getElementType()); }
  /// Whether each leaf has a value for one target, which it names.
  bool hasOwnTargets() { return !op.getExtras().empty(); }
  FailureOr<std::vector<Expression>> arguments();
  FailureOr<Expression> element(Value memref, std::vector<Expression> indices);
  FailureOr<Expression> ofNode(Value table) { return element(table, {cpp::name(node)}); }
  LogicalResult addSplit();
  LogicalResult addTarget();
  LogicalResult addValue();
  LogicalResult addStore();
};

} // namespace

FailureOr<Expression> Trees::element(Value memref, std::vector<Expression> indices) {
  auto const type = cast<MemRefType>(memref.getType());
  IndexSpace const space = {
      SmallVector<Expression>(indices.begin(), indices.end()), SmallVector<int64_t>(type.getShape()), {}};
  return layer.element(memref, AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext()), space);
}

/// How many rows and trees; where walks begin, their lengths, and where they go.
FailureOr<std::vector<Expression>> Trees::arguments() {
  int64_t const trees = cast<MemRefType>(op.getRoots().getType()).getDimSize(0);
  std::vector<Expression> list = {layer.extent(op.getX(), 0), literal(trees)};
  std::pair<Value, StringRef> const tables[] = {
      {op.getRoots(), "roots"}, {op.getSteps(), "steps"}, {op.getChildren(), "children"}};
  for (auto const &[table, wanted] : tables) {
    int64_t const length = cast<MemRefType>(table.getType()).getDimSize(0);
    FailureOr<Expression> const vector = layer.vector(table, length, literal(length), wanted);
    if (failed(vector))
      return failure();
    list.push_back(*vector);
  }
  return list;
}

/// Whether a row goes on to the second child of a node.
LogicalResult Trees::addSplit() {
  Block &block = op.getSplit().front();
  ScalarPrinter printer = layer.scalars({});
  FailureOr<Expression> const column = ofNode(op.getColumns());
  if (failed(column))
    return failure();
  SmallVector<FailureOr<Expression>> read = {element(op.getX(), {cpp::name(row), *column}), ofNode(op.getThresholds())};
  std::vector<ScalarPrinter::Nouns> nouns = {{"own", "value"}, {"low", "threshold"}, {"high", "kind"}};
  if (op.getKinds())
    read.push_back(ofNode(op.getKinds()));
  Body body;
  for (auto [argument, expression, wanted] : llvm::zip(block.getArguments(), read, nouns)) {
    if (failed(expression))
      return failure();
    // An interval is read before it is compared: compilers do not make a condition around a load a number
    if (op.getKinds())
      printer.bind(argument, printer.let(body, argument.getType(), *expression, wanted));
    else
      printer.bindRead(argument, *expression, body);
  }
  if (failed(returnValue(printer, block, body)))
    return failure();
  layer.addLambda({cpp::intParameters({row, node}), std::move(body)});
  return success();
}

/// The one target of a leaf.
LogicalResult Trees::addTarget() {
  FailureOr<Expression> const own = ofNode(op.getExtras()[0]);
  if (failed(own))
    return failure();
  layer.addLambda({cpp::intParameters({node}), {cpp::Return{*own}}, Code(Raw("int"))});
  return success();
}

/// What a leaf has for a target, or for its own.
LogicalResult Trees::addValue() {
  Expression const column = hasOwnTargets() ? literal(0) : cpp::name(target);
  FailureOr<Expression> const value = element(op.getValues(), {cpp::name(node), column});
  if (failed(value))
    return failure();
  std::vector<Identifier> names = {node};
  if (!hasOwnTargets())
    names.push_back(target);
  layer.addLambda({cpp::intParameters(names), {cpp::Return{*value}}, type().code});
  return success();
}

LogicalResult Trees::addStore() {
  Value const output = op.getOutputs()[0];
  FailureOr<Expression> const to = element(output, {cpp::name(row), cpp::name(target)});
  if (failed(to))
    return failure();
  Identifier const joined = layer.scope.fresh(accumulatorNouns(op.getCombiner()));
  std::vector<cpp::Parameter> parameters = cpp::intParameters({row, target});
  parameters.push_back({type().code, joined});
  layer.addLambda({std::move(parameters),
                   {cpp::Assign{*to, stored(cpp::name(joined), cast<MemRefType>(output.getType()).getElementType())}}});
  return success();
}

FailureOr<std::string> printTrees(Operation *op, Layer &layer) {
  Trees trees(cast<nest::TreesOp>(op), layer);
  FailureOr<std::vector<Expression>> arguments = trees.arguments();
  if (failed(arguments))
    return failure();
  Raw const combiner = combinerName(trees.op.getCombiner());
  layer.needBlock(combiner);
  int64_t const targets = cast<MemRefType>(trees.op.getOutputs()[0].getType()).getDimSize(1);
  Code const types = Code(combiner) + Raw(", ") + trees.type().code + Raw(", ") + Code(targets);
  if (trees.hasOwnTargets())
    layer.setBlockCall("walk_own_targets", types, std::move(*arguments));
  else
    layer.setCall(types, std::move(*arguments));
  if (failed(trees.addSplit()) || (trees.hasOwnTargets() && failed(trees.addTarget())) || failed(trees.addValue()) ||
      failed(trees.addStore()))
    return failure();
  return describe(layer, {trees.op.getX(), trees.op.getValues()}, {}, trees.op.getOutputs(), ", ");
}

} // namespace ml2k
