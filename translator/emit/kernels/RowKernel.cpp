//===- RowKernel.cpp - nest.row: for_rows with folds and loops along the row --------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/Identities.h"
#include "translator/ir/LibraryCalls.h"
#include "translator/ir/RowFolds.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {

/// A row kernel while its block is printed.
struct Rows {
  nest::RowOp op;
  Layer &layer;
  SmallVector<AffineMap> maps;
  Layer::Loops loops;
  IndexSpace space;
  Identifier along = Raw("i");       ///< the position along the row
  Value kept;                        ///< a result that passes read back; null if there is none
  Operation *lastPass = nullptr;     ///< that writes it
  nest::FoldOp only;                 ///< the fold that is all there is of a row; null if there is more
  Identifier folded = Raw("folded"); ///< its result
  Identifier ofKept = Raw("kept");

  Rows(nest::RowOp op, Layer &layer)
      : op(op), layer(layer), maps(mapsOf(op.getIndexingMaps())),
        loops(layer.loops(maps, SmallVector<Value>(op->getOperands()))),
        space{SmallVector<Expression>(loops.extents.size(), literal(0)), loops.extents, {}} {}

  unsigned last() const { return loops.extents.size() - 1; }
  Expression const &length() const { return loops.sizes[last()]; }

  /// The element of a row at a position, or the row's only element.
  FailureOr<Expression> element(Value row, std::optional<Expression> position, bool isLast = false) {
    if (row == kept && position == cpp::name(along) && !isLast) {
      Expression at = cpp::call(cpp::name(ofKept), {*position});
      at.readsMemory = true;
      return at;
    }
    unsigned const number = cast<BlockArgument>(row).getArgNumber();
    IndexSpace at = space;
    AffineMap map = maps[number];
    if (!position) {
      at.dims[last()] = literal(0);
    } else if (*position != cpp::name(along)) {
      map = map.replace(getAffineDimExpr(last(), op.getContext()), getAffineSymbolExpr(0, op.getContext()), last() + 1,
                        1);
      at.symbols.push_back(*position);
    }
    return layer.element(op->getOperand(number), map, at);
  }

  int64_t extent() const { return loops.extents[last()]; }
  bool isWide() const { return bool(kept); }
  bool isShort() const { return layer.schedule.getBlock() == nest::KernelBlock::ForEach; }
  void findKept();
  LogicalResult declareKept(ScalarPrinter &printer, Body &to);
  LogicalResult printGet(nest::GetOp get, ScalarPrinter &printer, Body &to);
  LogicalResult printSet(nest::SetOp set, ScalarPrinter &printer, Body &to);
  FailureOr<Expression> printTerms(nest::FoldOp fold, ScalarPrinter &printer, Body &to);
  LogicalResult printFold(nest::FoldOp fold, ScalarPrinter &printer, Body &to);
  LogicalResult printShortFold(nest::FoldOp fold, ScalarPrinter &printer, Body &to);
  LogicalResult printEach(nest::EachOp each, ScalarPrinter &printer, Body &to);
  void handle(ScalarPrinter &printer);
  LogicalResult printOnly(FusedLoops const &fused);
  LogicalResult printShort(ArrayRef<unsigned> outer, std::vector<Identifier> const &names);

  cpp::Statement loopAlong(Body statements) const {
    bool const isLine = statements.size() == 1;
    return cpp::For{along, literal(0), length(), literal(1), std::move(statements), isLine};
  }
};

void Rows::findKept() {
  if (layer.schedule.getKept() < 0)
    return;
  kept = op.getBody().getArgument(layer.schedule.getKept());
  for (Operation *user : kept.getUsers())
    if (Operation *const pass = user->getParentOp(); !lastPass || lastPass->isBeforeInBlock(pass))
      lastPass = pass;
}

LogicalResult Rows::declareKept(ScalarPrinter &printer, Body &to) {
  ofKept = printer.names.fresh({"kept", "kept_row"});
  FailureOr<Expression> start = element(kept, std::nullopt);
  if (failed(start))
    return failure();
  to.push_back(cpp::Let{Code(Raw("auto")), ofKept,
                        cpp::call(cpp::member(cpp::name(Raw("along")), Raw("keep")), {cpp::unary("&", *start)})});
  return success();
}

std::optional<Expression> positionOf(Value position, ScalarPrinter &printer) {
  if (!position)
    return {};
  FailureOr<Expression> expression = printer.use(position);
  return failed(expression) ? std::optional<Expression>() : *expression;
}

LogicalResult Rows::printGet(nest::GetOp get, ScalarPrinter &printer, Body &to) {
  FailureOr<Expression> read = element(get.getRow(), positionOf(get.getPosition(), printer));
  if (failed(read))
    return failure();
  printer.bindRead(get.getValue(), std::move(*read), to);
  return success();
}

LogicalResult Rows::printSet(nest::SetOp set, ScalarPrinter &printer, Body &to) {
  FailureOr<Expression> value = printer.use(set.getValue());
  if (failed(value))
    return failure();
  FailureOr<Expression> target =
      element(set.getRow(), positionOf(set.getPosition(), printer), set->getParentOp() == lastPass);
  if (failed(target))
    return failure();
  printer.settleReads(to);
  Type const type = cast<nest::RowType>(set.getRow().getType()).getElementType();
  cpp::Assign const assign{*target, stored(*value, type)};
  if (set->getParentOp() == op.getOperation() && !only && !isShort()) // one value per row: one thread writes it
    cpp::addOnce(to, {assign});
  else
    to.push_back(assign);
  return success();
}

/// The terms of a fold, as code of its body.
FailureOr<Expression> Rows::printTerms(nest::FoldOp fold, ScalarPrinter &printer, Body &to) {
  Block &block = fold.getBody().front();
  printer.bind(block.getArgument(0), cpp::name(along));
  if (failed(printer.print(block, to)))
    return failure();
  return printer.use(block.back().getOperand(0));
}

/// What the result of a fold may be called.
static ScalarPrinter::Nouns nounsOf(nest::FoldOp fold) {
  ScalarPrinter::Nouns nouns = accumulatorNouns(fold.getCombiner());
  if (auto name = fold.getName())
    nouns.insert(nouns.begin(), snakeCase(*name));
  return nouns;
}

LogicalResult Rows::printFold(nest::FoldOp fold, ScalarPrinter &printer, Body &to) {
  if (only) { // has a lambda of its own
    printer.bind(fold.getResult(), cpp::name(folded));
    return success();
  }
  printer.settleReads(to);
  if (isShort())
    return printShortFold(fold, printer, to);
  Body statements;
  FailureOr<Expression> term = printTerms(fold, printer, statements);
  if (failed(term))
    return failure();
  Identifier const name = printer.names.fresh(nounsOf(fold));
  to.push_back(cpp::Fold{computedType(fold.getType()), name, combinerName(fold.getCombiner()), length(),
                         cpp::intParameter(along), std::move(statements), *term});
  printer.bind(fold.getResult(), cpp::name(name));
  return success();
}

/// Its loop adds to variables in front of it, which no name inside may hide.
LogicalResult Rows::printShortFold(nest::FoldOp fold, ScalarPrinter &printer, Body &to) {
  std::vector<Identifier> names;
  for (Value const result : fold.getResults()) {
    names.push_back(printer.names.fresh(nounsOf(fold)));
    to.push_back(cpp::Variable{
        computedType(result.getType()), names.back(), {}, literal(neutralOf(fold.getCombiner(), result.getType()))});
  }
  Block &block = fold.getBody().front();
  Body statements;
  printer.bind(block.getArgument(0), cpp::name(along));
  if (failed(printer.print(block, statements)))
    return failure();
  for (auto [name, term] : llvm::zip(names, block.back().getOperands())) {
    FailureOr<Expression> const value = printer.use(term);
    if (failed(value))
      return failure();
    statements.push_back(joinInto(fold.getCombiner(), cpp::name(name), *value));
  }
  to.push_back(loopAlong(std::move(statements)));
  for (auto [name, result] : llvm::zip(names, fold.getResults()))
    printer.bind(result, cpp::name(name));
  return success();
}

LogicalResult Rows::printEach(nest::EachOp each, ScalarPrinter &printer, Body &to) {
  printer.settleReads(to);
  Block &block = each.getBody().front();
  printer.bind(block.getArgument(0), cpp::name(along));
  Body statements;
  if (failed(printer.print(block, statements)))
    return failure();
  if (isShort()) {
    to.push_back(loopAlong(std::move(statements)));
    return success();
  }
  to.push_back(cpp::Each{length(), cpp::intParameter(along), std::move(statements)});
  return success();
}

void Rows::handle(ScalarPrinter &printer) {
  printer.handle("nest.get", [this](Operation *inner, ScalarPrinter &p, Body &to) {
    return printGet(cast<nest::GetOp>(inner), p, to);
  });
  printer.handle("nest.set", [this](Operation *inner, ScalarPrinter &p, Body &to) {
    return printSet(cast<nest::SetOp>(inner), p, to);
  });
  printer.handle("nest.fold", [this](Operation *inner, ScalarPrinter &p, Body &to) {
    return printFold(cast<nest::FoldOp>(inner), p, to);
  });
  printer.handle("nest.each", [this](Operation *inner, ScalarPrinter &p, Body &to) {
    return printEach(cast<nest::EachOp>(inner), p, to);
  });
}

/// One lambda for the terms of a row, one for what is made of their sum.
LogicalResult Rows::printOnly(FusedLoops const &fused) {
  folded = layer.scope.fresh(nounsOf(only)); // before the printers take over the names that are in use
  ScalarPrinter terms = layer.scalars(space), finish = layer.scalars(space);
  handle(terms);
  handle(finish);
  Body term, rest;
  FailureOr<Expression> value = printTerms(only, terms, term);
  if (failed(value) || failed(finish.print(op.getBody().front(), rest)))
    return failure();
  term.push_back(cpp::Return{*value});
  fused.recover(term);
  fused.recover(rest);
  layer.needBlock(combinerName(only.getCombiner()));
  layer.setCall(combinerName(only.getCombiner()), {fused.size(), length()});
  layer.addLambda({cpp::intParameters({fused.name(), along}), std::move(term)});
  cpp::Type const type = computedType(only.getType());
  layer.addLambda({{{type.code, folded, " ", type.block}, cpp::intParameter(fused.name())}, std::move(rest)});
  return success();
}

/// A row is short: an element of a vector walks along it.
LogicalResult Rows::printShort(ArrayRef<unsigned> outer, std::vector<Identifier> const &names) {
  ElementLoops const elements(layer, loops, outer, names, layer.schedule.getInner(), space);
  ScalarPrinter printer = layer.scalars(space);
  handle(printer);
  Body statements;
  if (failed(printer.print(op.getBody().front(), statements)))
    return failure();
  elements.call(layer, std::move(statements));
  return success();
}

} // namespace

FailureOr<std::string> printRow(Operation *op, Layer &layer) {
  if (nest::isLibraryCall(layer.schedule.getBlock()))
    return printProductCall(op, layer);
  Rows rows(cast<nest::RowOp>(op), layer);
  SmallVector<unsigned> outer;
  for (unsigned loop = 0; loop < rows.last(); ++loop)
    if (rows.loops.extents[loop] != 1)
      outer.push_back(loop);
  std::vector<Identifier> names = loopNames(layer, outer.size() + 1);
  rows.along = names.back();
  names.pop_back();
  rows.space.dims[rows.last()] = cpp::name(rows.along);
  if (rows.isShort()) {
    if (failed(rows.printShort(outer, names)))
      return failure();
    return describe(layer, rows.op.getInputs(), rows.op.getExtras(), rows.op.getOutputs(), ", ");
  }
  FusedLoops const fused(layer, rows.loops, outer, names, "row", rows.space);
  if (layer.schedule.getBlock() == nest::KernelBlock::FoldRows) {
    rows.only = nest::onlyFoldOf(rows.op);
    if (failed(rows.printOnly(fused)))
      return failure();
    return describe(layer, rows.op.getInputs(), rows.op.getExtras(), rows.op.getOutputs(), ", ");
  }
  ScalarPrinter printer = layer.scalars(rows.space);
  rows.handle(printer);
  Body statements;
  rows.findKept();
  if ((rows.isWide() && failed(rows.declareKept(printer, statements))) ||
      failed(printer.print(rows.op.getBody().front(), statements)))
    return failure();
  fused.recover(statements);
  Code type = Raw("Row");
  if (rows.isWide()) {
    layer.setCall(Code(rows.extent()), {fused.size()});
    type = Raw("WideRow<") + Code(rows.extent()) + Raw(">");
  } else {
    layer.setCall({fused.size(), rows.length()});
  }
  layer.addLambda({{cpp::intParameter(fused.name()), rowParameter(type)}, std::move(statements)});
  return describe(layer, rows.op.getInputs(), rows.op.getExtras(), rows.op.getOutputs(), ", ");
}

} // namespace ml2k
