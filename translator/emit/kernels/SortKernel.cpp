//===- SortKernel.cpp - nest.sort: sort_rows, sort_slices ---------------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Rows of the input along one dimension, the others running as one loop; or slices, of which there is one row.
struct Sort {
  nest::SortOp op;
  Layer &layer;
  AffineMap map;
  Layer::Loops loops;
  IndexSpace space;
  Identifier along = Raw("i"), place = Raw("place"), inner = Raw("k");
  std::optional<FusedLoops> rows;

  Sort(nest::SortOp op, Layer &layer);
  Value input() { return op.getInputs()[0]; }
  Type element() { return cast<MemRefType>(input().getType()).getElementType(); }
  Code scalar() { return op.getIsUnsigned() ? unsignedScalarType(element()).code : computedType(element()).code; }
  std::vector<Expression> arguments();
  FailureOr<Expression> read();
  LogicalResult addRead();
  LogicalResult addStore();
  std::vector<cpp::Parameter> parameters(Identifier const &last);
};

} // namespace

Sort::Sort(nest::SortOp op, Layer &layer) : op(op), layer(layer) {
  auto const shape = cast<MemRefType>(input().getType()).getShape();
  map = AffineMap::getMultiDimIdentityMap(shape.size(), op.getContext());
  SmallVector<unsigned> outer;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    loops.extents.push_back(extent);
    loops.sizes.push_back(layer.extent(input(), dim));
    if (dim != op.getAlong() && extent != 1 && !op.getSlices())
      outer.push_back(dim);
  }
  space = {SmallVector<Expression>(shape.size(), literal(0)), loops.extents, {}};
  std::vector<Identifier> names = loopNames(layer, outer.size() + 1);
  along = names.back();
  names.pop_back();
  place = layer.indexNames({"place"}).front();
  if (op.getSlices()) {
    inner = layer.indexNames({"k"}).front();
    space.dims[1] = cpp::name(inner);
  }
  rows.emplace(layer, loops, outer, names, "row", space);
}

/// How many rows, how long; how many are wanted, and the room.
std::vector<Expression> Sort::arguments() {
  Expression const room = layer.member(*layer.program.storageOf(op.getRoom()));
  return {op.getSlices() ? loops.sizes[0] : rows->size(), loops.sizes[op.getSlices() ? 1 : op.getAlong()],
          literal(op.getCount()), room};
}

/// Of rows the row comes first, slices are one.
std::vector<cpp::Parameter> Sort::parameters(Identifier const &last) {
  return op.getSlices() ? cpp::intParameters({last}) : cpp::intParameters({rows->name(), last});
}

/// The element of a row, or the k-th of a slice, at a position.
FailureOr<Expression> Sort::read() {
  space.dims[op.getAlong()] = cpp::name(along);
  space.extents[op.getAlong()] = loops.extents[op.getAlong()];
  return layer.element(input(), map, space);
}

LogicalResult Sort::addRead() {
  FailureOr<Expression> const element = read();
  if (failed(element))
    return failure();
  Body body = {cpp::Return{*element}};
  rows->recover(body);
  std::vector<cpp::Parameter> list = parameters(along);
  if (op.getSlices())
    list.push_back(cpp::intParameter(inner));
  layer.addLambda({std::move(list), std::move(body), scalar()});
  return success();
}

/// Writes an element and its position to its place.
LogicalResult Sort::addStore() {
  SmallVector<Expression> written = {cpp::name(along)};
  if (!op.getSlices()) {
    FailureOr<Expression> const element = read();
    if (failed(element))
      return failure();
    written.insert(written.begin(), *element);
  }
  space.dims[op.getAlong()] = cpp::name(place);
  space.extents[op.getAlong()] = op.getCount();
  Body body;
  for (auto [output, what] : llvm::zip(op.getOutputs().drop_back(), written)) {
    AffineMap const to = op.getSlices() ? map.getMajorSubMap(1) : map;
    FailureOr<Expression> const target = layer.element(output, to, space);
    if (failed(target))
      return failure();
    body.push_back(cpp::Assign{*target, stored(what, cast<MemRefType>(output.getType()).getElementType())});
  }
  rows->recover(body);
  std::vector<cpp::Parameter> list = parameters(place);
  list.push_back(cpp::intParameter(along));
  layer.addLambda({std::move(list), std::move(body)});
  return success();
}

FailureOr<std::string> printSort(Operation *op, Layer &layer) {
  Sort sort(cast<nest::SortOp>(op), layer);
  bool const rises = sort.op.getOrder() == nest::Order::Ascending;
  Raw const order = rises ? Raw("Ascending<") : Raw("Descending<");
  layer.setCall(order + sort.scalar() + Raw(">"), sort.arguments());
  if (failed(sort.addRead()) || failed(sort.addStore()))
    return failure();
  return describe(layer, sort.op.getInputs(), {}, sort.op.getOutputs().drop_back(), ", ");
}

} // namespace ml2k
