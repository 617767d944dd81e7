//===- StoredRowsKernel.cpp - nest.kernel over the rows of a sparse matrix: for_stored_rows -----------------------===//
//
// The block's loops over entries are folds and loops along the row, which lanes of a device share. What it writes
// beside them is written by one lane.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

static Expression partOfRow(Raw part) { return cpp::member(cpp::name(Raw("along")), part); }

/// Bounds of the row's entries are there already.
void LoopPrinter::bindRow() {
  for (auto const &[op, loop] : rowLoops->loops) {
    scf::ForOp entries = loop.entries;
    for (auto [bound, part] :
         {std::pair(entries.getLowerBound(), Raw("begin")), std::pair(entries.getUpperBound(), Raw("end"))})
      for (Value value = bound; Operation *made = value.getDefiningOp(); value = made->getOperand(0)) {
        printer.bind(value, partOfRow(part));
        auto load = dyn_cast<memref::LoadOp>(made);
        if (!load)
          continue;
        Value const at = load.getIndices()[0];
        bool const isOnlyHere = llvm::all_of(at.getUsers(), [&](Operation *user) {
          auto other = dyn_cast<memref::LoadOp>(user);
          return other && other.getMemref() == rowLoops->positions;
        });
        if (isOnlyHere && at.getDefiningOp())
          printer.bind(at, literal(1)); // nothing asks for it
        break;
      }
  }
}

/// `[&](int entry) { ...; return term; }` of a fold.
FailureOr<Expression> LoopPrinter::printTerm(nest::RowLoop const &loop, Body &body) {
  printer.bind(loop.join->getResult(0), literal(0)); // the block joins
  if (failed(printer.print(*scf::ForOp(loop.entries).getBody(), body)))
    return failure();
  return printer.use(loop.term());
}

/// What the loop carries in, joined with what the block found.
LogicalResult LoopPrinter::bindJoined(nest::RowLoop const &loop, Identifier const &name, Body &to) {
  Value const result = scf::ForOp(loop.entries).getResult(0);
  Attribute constant;
  Expression value;
  if (matchPattern(loop.initial(), m_Constant(&constant)) && isa<TypedAttr>(constant)) {
    value = joined(loop.combiner, cast<TypedAttr>(constant), cpp::name(name));
  } else {
    FailureOr<Expression> const initial = printer.use(loop.initial());
    if (failed(initial))
      return failure();
    value = joined(loop.combiner, *initial, cpp::name(name));
  }
  if (!result.hasOneUse() && value != cpp::name(name))
    value = printer.let(to, result.getType(), value, accumulatorNouns(loop.combiner));
  printer.bind(result, value);
  return success();
}

/// Along the row, or from 0 to the length.
LogicalResult LoopPrinter::printFold(nest::RowLoop const &loop, Body &to, std::optional<Expression> length,
                                     std::optional<Expression> span) {
  printer.settleReads(to);
  scf::ForOp entries = loop.entries;
  size_t const outside = printer.names.count();
  ScalarPrinter::Nouns const nouns =
      length || span ? ScalarPrinter::Nouns{"k", "l"} : ScalarPrinter::Nouns{"entry", "stored"};
  Identifier const entry = printer.names.fresh(withSourceName(entries.getInductionVar(), nouns));
  printer.bind(entries.getInductionVar(), cpp::name(entry));
  Body body;
  FailureOr<Expression> const term = printTerm(loop, body);
  if (failed(term))
    return failure();
  printer.names.release(outside);
  Identifier const name =
      printer.names.fresh(withSourceName(entries.getRegionIterArg(0), accumulatorNouns(loop.combiner)));
  to.push_back(cpp::Fold{computedType(entries.getResult(0).getType()), name, combinerName(loop.combiner),
                         std::move(length), cpp::intParameter(entry), std::move(body), *term, false, std::move(span)});
  return bindJoined(loop, name, to);
}

/// `double const total = fold_in_order<Difference, double>(Span{0, i}, b(i), [&](int j) { return l(i, j) * x(j); });`
LogicalResult LoopPrinter::printOrderedSum(nest::RowLoop const &loop, Body &to) {
  scf::ForOp entries = loop.entries;
  FailureOr<SmallVector<Expression>> const known =
      printer.use({entries.getLowerBound(), entries.getUpperBound(), loop.initial()});
  if (failed(known))
    return failure();
  printer.settleReads(to);
  size_t const outside = printer.names.count();
  Identifier const index = printer.names.fresh(withSourceName(entries.getInductionVar(), {"k", "l"}));
  printer.bind(entries.getInductionVar(), cpp::name(index));
  Body body;
  FailureOr<Expression> const term = printTerm(loop, body);
  if (failed(term))
    return failure();
  printer.names.release(outside);
  BlockArgument const sum = entries.getRegionIterArg(0);
  Identifier const name = printer.names.fresh(withSourceName(sum, accumulatorNouns(nest::Combiner::Sum)));
  cpp::Fold fold{computedType(sum.getType()),
                 name,
                 isa<arith::AddFOp>(loop.join) ? Raw("Sum") : Raw("Difference"),
                 {},
                 cpp::intParameter(index),
                 body,
                 *term,
                 false,
                 cpp::braces(Raw("Span"), {(*known)[0], (*known)[1]})};
  fold.initial = (*known)[2];
  to.push_back(std::move(fold));
  printer.bind(entries.getResult(0), cpp::name(name));
  return success();
}

/// Terms that one thread joins side by side are a `fold_span`.
LogicalResult LoopPrinter::printLoop(scf::ForOp loop, Body &to) {
  if (loop->hasAttr(nest::stripColumns))
    return printInStrips(loop, to);
  if (loop->hasAttr("nest.in_order"))
    if (std::optional<nest::RowLoop> const sum = nest::orderedSumOf(loop))
      return printOrderedSum(*sum, to);
  std::optional<nest::RowLoop> const join = loop->hasAttr("nest.lanes") ? nest::joinOf(loop) : std::nullopt;
  if (!join)
    return printFor(loop, printer, to);
  FailureOr<Expression> const begin = printer.use(loop.getLowerBound()), end = printer.use(loop.getUpperBound());
  if (failed(begin) || failed(end))
    return failure();
  return printFold(*join, to, {}, cpp::braces(Raw("Span"), {*begin, *end}));
}

LogicalResult LoopPrinter::printEach(scf::ForOp loop, Body &to) {
  printer.settleReads(to);
  size_t const outside = printer.names.count();
  Identifier const entry = printer.names.fresh(withSourceName(loop.getInductionVar(), {"entry", "stored"}));
  printer.bind(loop.getInductionVar(), cpp::name(entry));
  Body body;
  if (failed(printer.print(*loop.getBody(), body)))
    return failure();
  printer.names.release(outside);
  to.push_back(cpp::Each{std::nullopt, cpp::intParameter(entry), std::move(body)});
  return success();
}

/// A loop over columns around a fold: what stands beside the fold stores its result.
LogicalResult LoopPrinter::printColumns(scf::ForOp over, nest::RowLoop const &loop, Body &to) {
  printer.settleReads(to);
  scf::ForOp entries = loop.entries;
  FailureOr<Expression> const width = printer.use(over.getUpperBound());
  if (failed(width))
    return failure();
  size_t const outside = printer.names.count();
  Identifier const column = printer.names.fresh(withSourceName(over.getInductionVar(), {"column", "k"}));
  Identifier const entry = printer.names.fresh(withSourceName(entries.getInductionVar(), {"entry", "stored"}));
  Identifier const sum =
      printer.names.fresh(withSourceName(entries.getRegionIterArg(0), accumulatorNouns(loop.combiner)));
  printer.bind(over.getInductionVar(), cpp::name(column));
  printer.bind(entries.getInductionVar(), cpp::name(entry));
  cpp::Columns columns{combinerName(loop.combiner),
                       *width,
                       cpp::intParameter(entry),
                       cpp::intParameter(column),
                       {computedType(entries.getResult(0).getType()).code, sum},
                       {},
                       {},
                       {}};
  FailureOr<Expression> const term = printTerm(loop, columns.body);
  if (failed(term))
    return failure();
  columns.value = *term;
  found = sum;
  if (failed(printer.print(*over.getBody(), columns.store)))
    return failure();
  printer.names.release(outside);
  to.push_back(std::move(columns));
  return success();
}

/// A loop inside those over entries: sums that may be in any order are folds of a lane.
LogicalResult LoopPrinter::printInner(scf::ForOp loop, Body &to) {
  std::optional<nest::RowLoop> const fold = nest::innerFoldOf(loop);
  if (!fold)
    return printFor(loop, printer, to);
  FailureOr<Expression> const length = printer.use(loop.getUpperBound());
  return failed(length) ? failure() : printFold(*fold, to, *length);
}

/// `int const found = first_entry_from(B_coordinates, begin, end, column);`
LogicalResult LoopPrinter::printSearch(nest::EntrySearch const &search, scf::WhileOp loop, Body &to) {
  FailureOr<SmallVector<Expression>> const numbers = printer.use({search.begin, search.end, search.coordinate});
  if (failed(numbers))
    return failure();
  reads.insert(search.coordinates);
  Expression const coordinates = layer.member(*layer.program.storageOf(search.coordinates));
  auto const &[begin, end, coordinate] = std::tie((*numbers)[0], (*numbers)[1], (*numbers)[2]);
  Expression const found = call(Raw("first_entry_from"), {coordinates, begin, end, coordinate}, "first_entry_from");
  Value const result = loop.getResult(0);
  printer.bind(result, printer.let(to, result.getType(), found, withSourceName(result, {"found", "at"})));
  return success();
}

LogicalResult LoopPrinter::printRowLoop(scf::ForOp loop, Body &to) {
  auto const columns = rowLoops->loops.find(loop->getParentOp());
  if (columns != rowLoops->loops.end() && columns->second.entries == loop)
    return bindJoined(columns->second, found, to); // the block has done it
  auto const known = rowLoops->loops.find(loop);
  if (known == rowLoops->loops.end())
    return printInner(loop, to);
  switch (known->second.kind) {
  case nest::RowLoop::Kind::Fold:
    return printFold(known->second, to);
  case nest::RowLoop::Kind::Each:
    return printEach(loop, to);
  case nest::RowLoop::Kind::Columns:
    return printColumns(loop, known->second, to);
  }
  llvm_unreachable("all kinds are listed");
}

/// `fetch_ahead(along, A_values, A_coordinates);`
void LoopPrinter::fetchAhead(Body &statements) {
  std::vector<Expression> arguments = {cpp::name(Raw("along"))};
  for (Value array : rowLoops->arraysByEntry(kernel))
    if (layer.program.storageOf(array))
      arguments.push_back(layer.member(*layer.program.storageOf(array)));
  if (arguments.size() > 1)
    statements.insert(statements.begin(), cpp::Run{call(Raw("fetch_ahead"), arguments, "fetch_ahead")});
}

/// `for_stored_rows(label, space, rows, entries, A_positions, [=](int row, StoredRow const &along) { ... })`; where
/// teams of a device may read the entries of all their rows together, `for_streamed_rows(...)`.
LogicalResult LoopPrinter::printStoredRows(Body statements) {
  FailureOr<Bounds> const ends = bounds(0);
  if (failed(ends))
    return failure();
  std::vector<Expression> arguments = {ends->second, layer.extent(rowLoops->entryArray, 0),
                                       layer.member(*layer.program.storageOf(rowLoops->positions))};
  reads.insert(rowLoops->positions);
  if (layer.program.options.target != Target::Device)
    fetchAhead(statements);
  bool const isReduced = !kernel.getInto().empty();
  if (isReduced)
    arguments.push_back(reducer());
  bool const hasDevice = layer.program.options.target != Target::Host;
  if (hasDevice && rowLoops->hasWideEntries()) {
    layer.setCall(Raw("SharedRows"), arguments);
  } else if (hasDevice && rowLoops->areTermsOfEntries()) {
    arguments.insert(arguments.begin(), cpp::name(Raw("space")));
    layer.setBlockCall(isReduced ? Raw("reduce_streamed_rows") : Raw("for_streamed_rows"), std::move(arguments));
  } else {
    layer.setCall(arguments);
  }
  layer.addLambda({{cpp::intParameter(positions.front()), rowParameter(Raw("StoredRow"))}, std::move(statements)});
  return success();
}

} // namespace ml2k
