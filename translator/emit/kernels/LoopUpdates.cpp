//===- LoopUpdates.cpp - nest.kernel that changes elements more than once: in order, or atomically ----------------===//

#include "translator/emit/kernels/LoopPrinter.h"

#include "translator/ir/AtomicUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {

/// Where updates of floating-point numbers are to have the same bits in every run, one thread makes them.
bool LoopPrinter::isInOrder() {
  return layer.program.options.ordered && kernel
                                              .walk([](memref::StoreOp store) {
                                                bool const rounds = isa<FloatType>(store.getValue().getType());
                                                return nest::isAtomic(store) && rounds ? WalkResult::interrupt()
                                                                                       : WalkResult::advance();
                                              })
                                              .wasInterrupted();
}

/// Of an element that `store` changes while others may: the load.
Operation *LoopPrinter::loadOf(memref::StoreOp store) const {
  SmallVector<Operation *> const change = nest::changeOf(store);
  return !change.empty() && changed.contains(change.front()) ? change.front() : nullptr;
}

/// Where loops are ordered, the block changes one element; otherwise those whose updates are atomic.
void LoopPrinter::findChanges() {
  bool const isAtomic = nest::hasAtomicUpdates(kernel) && !isInOrder();
  if (!kernel.getOrdered() && !isAtomic)
    return;
  before = printer.names.fresh({"before", "old"});
  if (isAtomic) {
    alone = printer.names.fresh({"alone", "is_alone"});
    if (layer.schedule.getBlock() == nest::KernelBlock::ForOwnSums) {
      Value const array = nest::arrayOfSums(kernel);
      own = array ? printer.names.fresh({"sums", "sums_of_array"}) : printer.names.fresh({"own", "own_sums"});
      if (array)
        sums.emplace_back(array, 0);
      int64_t offset = 0;
      for (Value memref : nest::ownSums(kernel)) {
        sums.emplace_back(memref, offset);
        offset += cast<MemRefType>(memref.getType()).getNumElements();
      }
    }
    kernel.walk([&](memref::StoreOp store) {
      if (!nest::isAtomic(store))
        return;
      SmallVector<Operation *> const change = nest::changeOf(store);
      changed.insert(change.front());
      for (Operation *op : ArrayRef(change).drop_front()) // with the store
        printer.bind(op->getResult(0), cpp::name(before));
    });
    return;
  }
  namePositions(printer, [this](Value value) {
    auto const argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &kernel.getBody().front() && argument.getArgNumber() >= columnsFrom();
  });
  kernel.walk([&](memref::StoreOp store) {
    if (SmallVector<Operation *> const change = nest::changeOf(store); !change.empty())
      changed.insert(change.front());
  });
}

/// `add_to(target, term);`, `add_wrapping` of integers, or `change_element(target, next);`. Atomic ones are
/// `add_atomically(alone, target, term);` and `change_atomically(alone, target, next);`.
LogicalResult LoopPrinter::printChange(memref::StoreOp store, Value load, Expression const &target, Body &to) {
  Type const type = store.getMemRefType().getElementType();
  Operation *sum = store.getValue().getDefiningOp();
  bool const wraps = (type.isInteger(32) || type.isInteger(64)) && isa_and_nonnull<arith::AddIOp>(sum);
  bool const isSum = (wraps || ((type.isF32() || type.isF64()) && isa_and_nonnull<arith::AddFOp>(sum))) &&
                     llvm::is_contained(sum->getOperands(), load);
  std::vector<Expression> arguments = {target};
  if (alone) {
    arguments.insert(arguments.begin(), cpp::name(*alone));
    printer.settleReads(to); // other statements may follow that read
  }
  if (alone ? nest::addsAtomically(store) : isSum) {
    FailureOr<Expression> const term = printer.use(sum->getOperand(sum->getOperand(0) == load ? 1 : 0));
    if (failed(term))
      return failure();
    arguments.push_back(stored(*term, type));
    Raw const add = alone ? Raw("add_atomically") : wraps ? Raw("add_wrapping") : Raw("add_to");
    to.push_back(cpp::Run{call(add, arguments, add)});
    return success();
  }
  SmallVector<Operation *> const change = nest::changeOf(store);
  FailureOr<Expression> const value =
      alone ? printer.chain(ArrayRef(change).drop_front(), store.getValue()) : printer.use(store.getValue());
  if (failed(value))
    return failure();
  arguments.push_back(cpp::lambda(scalarType(type).code, before, stored(*value, type)));
  Raw const how = alone ? Raw("change_atomically") : Raw("change_element");
  to.push_back(cpp::Run{call(how, arguments, how)});
  return success();
}

/// How many elements the first of several updates chooses from.
Expression LoopPrinter::elementsOfUpdate() {
  memref::StoreOp first;
  kernel.walk([&](memref::StoreOp store) {
    if (!nest::isAtomic(store))
      return WalkResult::advance();
    first = store;
    return WalkResult::interrupt();
  });
  SmallVector<Expression> extents;
  for (unsigned dim = 0; dim < first.getMemRefType().getRank(); ++dim)
    extents.push_back(layer.extent(first.getMemref(), dim));
  return product(extents);
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
