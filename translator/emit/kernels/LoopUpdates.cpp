//===- LoopUpdates.cpp - nest.kernel with ordered loops: for_updates ----------------------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {

/// Where loops are ordered, the block changes one element.
void LoopPrinter::findChange() {
  if (!kernel.getOrdered())
    return;
  namePositions(printer, [this](Value value) {
    auto const argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &kernel.getBody().front() && argument.getArgNumber() >= columnsFrom();
  });
  kernel.walk([&](memref::StoreOp store) {
    if (SmallVector<Operation *> const change = nest::changeOf(store); !change.empty()) {
      changed = change.front();
      before = printer.names.fresh({"before", "old"});
    }
  });
}

/// `add_to(target, term);`, or `change_element(target, [&](float before) { return ...; });`
LogicalResult LoopPrinter::printChange(memref::StoreOp store, Expression const &target, Expression const &value,
                                       Body &to) {
  Type const type = store.getMemRefType().getElementType();
  auto sum = store.getValue().getDefiningOp<arith::AddFOp>();
  if (sum && (type.isF32() || type.isF64()) && llvm::is_contained(sum->getOperands(), changed->getResult(0))) {
    FailureOr<Expression> const term = printer.use(sum.getLhs() == changed->getResult(0) ? sum.getRhs() : sum.getLhs());
    if (failed(term))
      return failure();
    to.push_back(cpp::Run{call(Raw("add_to"), {target, stored(*term, type)}, "add_to")});
    return success();
  }
  Expression const change = cpp::lambda(scalarType(type).code, before, stored(value, type));
  to.push_back(cpp::Run{call(Raw("change_element"), {target, change}, "change_element")});
  return success();
}

/// A single loop from 0 keeps its name.
FailureOr<LoopPrinter::Group> LoopPrinter::groupOf(unsigned first, unsigned end, StringRef name) {
  if (end == first + 1) {
    FailureOr<Expression> const lower = host(kernel.getLowers()[first]);
    if (failed(lower))
      return failure();
    if (lower->is(0))
      return Group{first, end, positions[first]};
  }
  return Group{first, end,
               first == end ? Identifier(Raw("none"))
                            : printer.names.fresh({name.str(), name.str() + "_index"})}; // of no loop, nobody asks
}

/// `for_updates(label, space, batches, updates, length, [=](int, int edge, Span columns) { ... })`
LogicalResult LoopPrinter::printUpdates(Body statements) {
  unsigned const loops = positions.size(), first = orderedFrom(), end = columnsFrom();
  FailureOr<Group> const batch = groupOf(0, first, "batch"), update = groupOf(first, end, "update"),
                         column = groupOf(end, loops, "column");
  if (failed(batch) || failed(update) || failed(column))
    return failure();
  cpp::Parameter span{Raw("Span")};
  if (end != loops)
    span.name = printer.names.fresh({"columns", "span"});
  if (failed(recover(*column, statements)))
    return failure();
  if (span.name)
    statements = alongSpan(statements, column->name, *span.name);
  if (failed(recover(*update, statements)) || failed(recover(*batch, statements)))
    return failure();
  std::vector<Expression> arguments;
  for (Group const &group : {*batch, *update, *column}) {
    FailureOr<Expression> const size = count(group);
    if (failed(size))
      return failure();
    arguments.push_back(*size);
  }
  layer.setCall(arguments);
  auto const parameter = [](Group const &group) {
    return group.first == group.end ? cpp::Parameter{Raw("int")} : cpp::intParameter(group.name);
  };
  layer.addLambda({{parameter(*batch), parameter(*update), span}, std::move(statements)});
  return success();
}

/// An element of an array, as it is and as an index.
memref::LoadOp LoopPrinter::bindCasts(Value element, Expression const &text) {
  printer.bind(element, text);
  while (auto cast = element.getDefiningOp<arith::IndexCastOp>()) {
    element = cast.getIn();
    printer.bind(element, text);
  }
  return element.getDefiningOp<memref::LoadOp>();
}

/// `scatter_rows(label, space, rows, entries, columns, A_positions, A_coordinates, [=](int row, int entry, int column)
/// {
/// ... })`
LogicalResult LoopPrinter::printScatter() {
  nest::ScatteredRows scattered = *nest::scatteredRowsOf(kernel);
  scf::ForOp entries = scattered.entries;
  Identifier const entry = printer.names.fresh(withSourceName(entries.getInductionVar(), {"entry", "stored"})),
                   column = printer.names.fresh(withSourceName(scattered.column, {"column", "k", "place"}));
  printer.bind(entries.getInductionVar(), cpp::name(entry));
  for (Value bound : {entries.getLowerBound(), entries.getUpperBound()}) { // the block looks them up
    memref::LoadOp load = bindCasts(bound, literal(0));
    if (Value const at = load.getIndices()[0]; at.getDefiningOp() && at.hasOneUse())
      printer.bind(at, literal(1));
  }
  bindCasts(scattered.column, cpp::name(column));
  printer.handle("scf.for", [this, entries](Operation *op, ScalarPrinter &, Body &to) {
    auto loop = cast<scf::ForOp>(op);
    return loop == entries ? printer.print(*loop.getBody(), to) : printFor(loop, printer, to);
  });
  Body statements;
  FailureOr<Bounds> const ends = bounds(0);
  if (failed(ends) || failed(printer.print(kernel.getBody().front(), statements)))
    return failure();
  auto const member = [&](Value array) { return layer.member(*layer.program.storageOf(array)); };
  layer.setCall({ends->second, layer.extent(scattered.coordinates, 0),
                 layer.extent(scattered.store.getMemref(), scattered.dim), member(scattered.positions),
                 member(scattered.coordinates)});
  reads.insert(scattered.positions);
  reads.insert(scattered.coordinates);
  layer.addLambda({cpp::intParameters({positions.front(), entry, column}), std::move(statements)});
  return success();
}

} // namespace ml2k
