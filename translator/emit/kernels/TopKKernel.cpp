//===- TopKKernel.cpp - nest.top_k: top_k, top_k_of_parts ---------------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Rows of the input along one dimension; the others run as one loop.
struct TopK {
  nest::TopKOp op;
  Layer &layer;
  AffineMap map;
  Layer::Loops loops;
  IndexSpace space;
  Identifier along = Raw("i"), place = Raw("place");
  std::optional<FusedLoops> rows;

  TopK(nest::TopKOp op, Layer &layer);
  cpp::Type type() { return computedType(cast<MemRefType>(op.getInputs()[0].getType()).getElementType()); }
  LogicalResult addRead();
  LogicalResult addBefore();
  LogicalResult addStore();
};

} // namespace

TopK::TopK(nest::TopKOp op, Layer &layer) : op(op), layer(layer) {
  auto const shape = cast<MemRefType>(op.getInputs()[0].getType()).getShape();
  map = AffineMap::getMultiDimIdentityMap(shape.size(), op.getContext());
  SmallVector<unsigned> outer;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    loops.extents.push_back(extent);
    loops.sizes.push_back(layer.extent(op.getInputs()[0], dim));
    if (dim != op.getAlong() && extent != 1)
      outer.push_back(dim);
  }
  space = {SmallVector<Expression>(shape.size(), literal(0)), loops.extents, {}};
  std::vector<Identifier> names = loopNames(layer, outer.size() + 1);
  along = names.back();
  names.pop_back();
  place = layer.indexNames({"place"}).front();
  rows.emplace(layer, loops, outer, names, "row", space);
}

/// The element of a row at a position.
LogicalResult TopK::addRead() {
  space.dims[op.getAlong()] = cpp::name(along);
  FailureOr<Expression> const read = layer.element(op.getInputs()[0], map, space);
  if (failed(read))
    return failure();
  Body body = {cpp::Return{*read}};
  rows->recover(body);
  layer.addLambda({cpp::intParameters({rows->name(), along}), std::move(body), type().code});
  return success();
}

/// Whether one element comes before another.
LogicalResult TopK::addBefore() {
  Block &block = op.getBefore().front();
  ScalarPrinter printer = layer.scalars({});
  std::vector<cpp::Parameter> parameters;
  StringRef const nouns[] = {"a", "b"};
  for (auto [argument, noun] : llvm::zip(block.getArguments(), nouns)) {
    Identifier const name = printer.names.fresh({noun.str(), (noun + noun).str()});
    printer.bind(argument, cpp::name(name));
    parameters.push_back({type().code, name});
  }
  Body body;
  if (failed(returnValue(printer, block, body)))
    return failure();
  layer.addLambda({std::move(parameters), std::move(body)});
  return success();
}

/// Writes an element that is kept, and its position, to its place.
LogicalResult TopK::addStore() {
  space.dims[op.getAlong()] = cpp::name(place);
  space.extents[op.getAlong()] = op.getCount();
  Identifier const value = layer.scope.fresh({"value", "kept"});
  Body body;
  Identifier const written[] = {value, along};
  for (auto [output, what] : llvm::zip(op.getOutputs().take_front(2), written)) {
    FailureOr<Expression> const target = layer.element(output, map, space);
    if (failed(target))
      return failure();
    body.push_back(cpp::Assign{*target, stored(cpp::name(what), cast<MemRefType>(output.getType()).getElementType())});
  }
  rows->recover(body);
  std::vector<cpp::Parameter> parameters = cpp::intParameters({rows->name(), place});
  parameters.push_back({type().code, value});
  parameters.push_back(cpp::intParameter(along));
  layer.addLambda({std::move(parameters), std::move(body)});
  return success();
}

FailureOr<std::string> printTopK(Operation *op, Layer &layer) {
  TopK top(cast<nest::TopKOp>(op), layer);
  std::vector<Expression> arguments = {top.rows->size(), top.loops.sizes[top.op.getAlong()]};
  for (Value room : top.op.getOutputs().drop_front(2)) // of parts
    arguments.push_back(layer.member(*layer.program.storageOf(room)));
  layer.setCall(top.type().code + Raw(", ") + Code(top.op.getCount()), std::move(arguments));
  if (failed(top.addRead()) || failed(top.addBefore()) || failed(top.addStore()))
    return failure();
  return describe(layer, top.op.getInputs(), {}, top.op.getOutputs().take_front(2), ", ");
}

} // namespace ml2k
