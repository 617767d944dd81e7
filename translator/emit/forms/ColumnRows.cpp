//===- ColumnRows.cpp - folds and loops along the row of a column -------------------------------------------------===//

#include "translator/emit/forms/ColumnPrinter.h"

using namespace mlir;

namespace ml2k {

FailureOr<Json> ColumnPrinter::printRow() {
  Block &block = layer.op->getRegion(0).front();
  scope.take(index.str());
  ScalarPrinter printer = scalars();
  printer.handle("nest.get",
                 [this](Operation *op, ScalarPrinter &p, Body &to) { return printGet(cast<nest::GetOp>(op), p, to); });
  printer.handle("nest.set",
                 [this](Operation *op, ScalarPrinter &p, Body &to) { return printSet(cast<nest::SetOp>(op), p, to); });
  printer.handle("nest.fold", [this](Operation *op, ScalarPrinter &p, Body &to) {
    return printFold(cast<nest::FoldOp>(op), p, to);
  });
  printer.handle("nest.each", [this](Operation *op, ScalarPrinter &p, Body &to) {
    return printEachAlong(cast<nest::EachOp>(op), p, to);
  });
  Body statements;
  if (failed(printer.print(block, statements)))
    return failure();
  return Json{{"template", "form/rows"}, {"statements", view(statements)}};
}

static FailureOr<std::optional<Expression>> positionOf(Value position, ScalarPrinter &printer) {
  if (!position)
    return std::optional<Expression>();
  FailureOr<Expression> const expression = printer.use(position);
  if (failed(expression))
    return failure();
  return std::optional<Expression>(*expression);
}

LogicalResult ColumnPrinter::printGet(nest::GetOp get, ScalarPrinter &printer, Body &to) {
  auto const position = positionOf(get.getPosition(), printer);
  if (failed(position))
    return failure();
  FailureOr<Expression> read = operand(cast<BlockArgument>(get.getRow()).getArgNumber(), *position);
  if (failed(read))
    return failure();
  printer.bindRead(get.getValue(), std::move(*read), to);
  return success();
}

LogicalResult ColumnPrinter::printSet(nest::SetOp set, ScalarPrinter &printer, Body &to) {
  auto const position = positionOf(set.getPosition(), printer);
  FailureOr<Expression> const value = printer.use(set.getValue());
  if (failed(position) || failed(value))
    return failure();
  unsigned const number = cast<BlockArgument>(set.getRow()).getArgNumber();
  unsigned const inputs = layer.op->getNumOperands() - layer.op->getNumResults();
  Expression const at = indexOf(maps[number], layer.op->getOperand(number), position->value_or(literal(0)));
  printer.settleReads(to);
  Operation *last = set;
  layer.op->walk([&](nest::SetOp other) { last = other.getRow() == set.getRow() ? other.getOperation() : last; });
  cpp::Assign const assign = store(number - inputs, at, *value, last == set);
  if (set->getParentOp() == layer.op) // one value per row: one thread writes it
    cpp::addOnce(to, {assign});
  else
    to.push_back(assign);
  return success();
}

LogicalResult ColumnPrinter::printFold(nest::FoldOp fold, ScalarPrinter &printer, Body &to) {
  printer.settleReads(to);
  Block &block = fold.getBody().front();
  printer.bind(block.getArgument(0), cpp::name(index));
  Body statements;
  if (failed(printer.print(block, statements)))
    return failure();
  FailureOr<Expression> const term = printer.use(block.back().getOperand(0));
  if (failed(term))
    return failure();
  ScalarPrinter::Nouns nouns = accumulatorNouns(fold.getCombiner());
  if (auto name = fold.getName())
    nouns.insert(nouns.begin(), snakeCase(*name));
  Identifier const name = printer.names.fresh(nouns);
  to.push_back(cpp::Fold{computedType(fold.getType()), name, combinerName(fold.getCombiner()),
                         literal(rowLength(layer)), cpp::intParameter(index), std::move(statements), *term, true});
  printer.bind(fold.getResult(), cpp::name(name));
  return success();
}

LogicalResult ColumnPrinter::printEachAlong(nest::EachOp each, ScalarPrinter &printer, Body &to) {
  printer.settleReads(to);
  Block &block = each.getBody().front();
  printer.bind(block.getArgument(0), cpp::name(index));
  Body statements;
  if (failed(printer.print(block, statements)))
    return failure();
  to.push_back(cpp::Each{literal(rowLength(layer)), cpp::intParameter(index), std::move(statements)});
  return success();
}

} // namespace ml2k
