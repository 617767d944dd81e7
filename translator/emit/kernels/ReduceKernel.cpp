//===- ReduceKernel.cpp - nest.reduce: rows whose reduction is contiguous, else a loop per element ----------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/LibraryCalls.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {

struct Reduction {
  nest::ReduceOp op;
  Layer &layer;
  SmallVector<AffineMap> maps;
  Layer::Loops loops;
  IndexSpace space;
  SmallVector<unsigned> parallel, reduced;

  Reduction(nest::ReduceOp op, Layer &layer)
      : op(op), layer(layer), maps(mapsOf(op.getIndexingMaps())),
        loops(layer.loops(maps, SmallVector<Value>(op->getOperands()))),
        space{SmallVector<Expression>(loops.extents.size(), literal(0)), loops.extents, {}} {
    for (unsigned loop = 0; loop < loops.extents.size(); ++loop)
      if (loops.extents[loop] != 1)
        (llvm::is_contained(op.getReductionDims(), int64_t(loop)) ? reduced : parallel).push_back(loop);
  }

  ArrayRef<AffineMap> inputMaps() { return ArrayRef(maps).take_front(op.getInputs().size()); }
  ArrayRef<AffineMap> extraMaps() { return ArrayRef(maps).drop_front(op.getInputs().size()); }
  cpp::Type type() { return computedType(op.getInitial().getType()); }
  Identifier accumulatorName() { return layer.scope.fresh(accumulatorNouns(op.getCombiner())); }

  FailureOr<Expression> term(ScalarPrinter &printer, Body &statements) {
    Block &block = op.getTerm().front();
    if (failed(bindElements(layer, printer, block.getArguments(), op.getInputs(), inputMaps(), space, statements)) ||
        failed(printer.print(block, statements)))
      return failure();
    return printer.use(block.back().getOperand(0));
  }

  LogicalResult finish(ScalarPrinter &printer, Expression const &accumulator, Body &statements) {
    Block &block = op.getFinish().front();
    printer.bind(block.getArgument(0), accumulator);
    if (failed(bindElements(layer, printer, block.getArguments().drop_front(), op.getExtras(), extraMaps(), space,
                            statements)) ||
        failed(printer.print(block, statements)))
      return failure();
    return storeElements(layer, printer, block, op.getOutputs(), ArrayRef(maps).take_back(1), space, statements);
  }

  std::vector<Identifier> namesOf(ArrayRef<unsigned> which, llvm::function_ref<std::vector<Identifier>()> usual);
  FusedLoops termLoops(SmallVector<StringRef> letters = {"i", "j", "k", "l"});
  void addRowLambda(FusedLoops const &rows, FusedLoops const &along, Body statements, Body last);
  LogicalResult printRows();
  LogicalResult printRowsOf(unsigned inner);
  LogicalResult printFolds(std::optional<unsigned> column);
  LogicalResult printElements();
};

/// The names of the source where all of the loops have one, else the usual ones.
std::vector<Identifier> Reduction::namesOf(ArrayRef<unsigned> which, function_ref<std::vector<Identifier>()> usual) {
  SmallVector<std::string> names;
  for (unsigned loop : which)
    names.push_back(sourceNameOf(op, loop, loops.extents.size()));
  return llvm::is_contained(names, "") ? usual() : layer.indexNames(llvm::to_vector_of<StringRef>(names));
}

/// The reduced loops as one.
FusedLoops Reduction::termLoops(SmallVector<StringRef> letters) {
  letters.resize(reduced.size(), "m");
  return FusedLoops(layer, loops, reduced, namesOf(reduced, [&] { return layer.indexNames(letters); }), "term", space);
}

/// What for_rows does with a row; one thread of it does the last statements.
void Reduction::addRowLambda(FusedLoops const &rows, FusedLoops const &along, Body statements, Body last) {
  statements.push_back(cpp::Once{std::move(last)});
  rows.recover(statements);
  layer.setCall({rows.size(), along.size()});
  layer.addLambda({{cpp::intParameter(rows.name()), rowParameter()}, std::move(statements)});
}

/// The reduction runs along the row of for_rows.
LogicalResult Reduction::printRows() {
  FusedLoops const rows(layer, loops, parallel, loopNames(layer, parallel.size()), "row", space);
  FusedLoops const along = termLoops();
  Identifier const name = accumulatorName(); // before the printer takes over the names that are in use
  ScalarPrinter printer = layer.scalars(space);
  Body inner, statements, last;
  FailureOr<Expression> value = term(printer, inner);
  if (failed(value))
    return failure();
  inner.push_back(cpp::Return{*value}); // its names are to be recovered, too
  along.recover(inner);
  inner.pop_back();
  statements.push_back(cpp::Fold{type(), name, combinerName(op.getCombiner()), along.size(),
                                 cpp::intParameter(along.name()), std::move(inner), *value});
  if (failed(finish(printer, joined(op.getCombiner(), op.getInitial(), cpp::name(name)), last)))
    return failure();
  addRowLambda(rows, along, std::move(statements), std::move(last));
  return success();
}

/// Several loops are reduced: loops around the one that goes along rows.
LogicalResult Reduction::printRowsOf(unsigned inner) {
  FusedLoops const rows(layer, loops, parallel, loopNames(layer, parallel.size()), "row", space);
  SmallVector<unsigned> outer(reduced);
  llvm::erase(outer, inner);
  reduced = {inner};
  FusedLoops const along = termLoops();
  std::vector<Identifier> const names = layer.indexNames(SmallVector<StringRef>(outer.size(), "k"));
  for (auto [loop, name] : llvm::zip(outer, names))
    space.dims[loop] = cpp::name(name);
  Identifier const total = accumulatorName(), part = layer.scope.fresh({"part"});
  ScalarPrinter printer = layer.scalars(space);
  Body terms, statements, last;
  FailureOr<Expression> value = term(printer, terms);
  if (failed(value))
    return failure();
  Body body = {cpp::Fold{type(), part, combinerName(op.getCombiner()), along.size(), cpp::intParameter(along.name()),
                         std::move(terms), *value},
               joinInto(op.getCombiner(), cpp::name(total), cpp::name(part))};
  for (auto [loop, name] : llvm::reverse(llvm::zip(outer, names)))
    body = {cpp::For{name, literal(0), loops.sizes[loop], literal(1), std::move(body)}};
  statements.push_back(cpp::Variable{type(), total, {}, literal(op.getInitial())});
  statements.insert(statements.end(), body.begin(), body.end());
  if (failed(finish(printer, cpp::name(total), last)))
    return failure();
  addRowLambda(rows, along, std::move(statements), std::move(last));
  return success();
}

/// The same with a lambda for the terms and one for what is made of their sum, along rows or down the columns of a
/// loop.
LogicalResult Reduction::printFolds(std::optional<unsigned> column) {
  SmallVector<unsigned> outer(parallel);
  if (column) { // the last one
    llvm::erase(outer, *column);
    outer.push_back(*column);
  }
  std::vector<Identifier> names = namesOf(outer, [&] { return loopNames(layer, outer.size()); }), columnName;
  if (column) {
    columnName.push_back(names.back());
    space.dims[*column] = cpp::name(names.back());
    names.pop_back();
    outer.pop_back();
  }
  FusedLoops const rows(layer, loops, outer, names, "row", space);
  FusedLoops const along = column ? termLoops({"k", "l"}) : termLoops();
  Identifier const name = accumulatorName(); // before the printer takes over the names that are in use
  Body terms, last;
  ScalarPrinter printer = layer.scalars(space), finisher = layer.scalars(space);
  FailureOr<Expression> value = term(printer, terms);
  if (failed(value) || failed(finish(finisher, joined(op.getCombiner(), op.getInitial(), cpp::name(name)), last)))
    return failure();
  terms.push_back(cpp::Return{*value});
  along.recover(terms);
  rows.recover(terms);
  rows.recover(last);
  std::vector<Expression> sizes = {rows.size(), along.size()};
  std::vector<Identifier> ofTerm = {rows.name(), along.name()}, ofResult = {rows.name()};
  if (column)
    sizes.insert(sizes.begin() + 1, loops.sizes[*column]);
  for (std::vector<Identifier> *parameters : {&ofTerm, &ofResult})
    parameters->insert(parameters->end(), columnName.begin(), columnName.end());
  layer.needBlock(combinerName(op.getCombiner()));
  if (layer.schedule.getBlock() == nest::KernelBlock::FoldFewColumns) { // as many results as the type says
    layer.setCall(Code(combinerName(op.getCombiner())) + Raw(", ") + Code(*rows.size().constant()) + Raw(", ") +
                      Code(column ? loops.extents[*column] : 1),
                  {along.size()});
    if (!column)
      for (std::vector<Identifier> *parameters : {&ofTerm, &ofResult})
        parameters->push_back(Raw("column"));
  } else
    layer.setCall(combinerName(op.getCombiner()), sizes);
  layer.addLambda({cpp::intParameters(ofTerm), std::move(terms)});
  std::vector<cpp::Parameter> parameters = cpp::intParameters(ofResult);
  parameters.insert(parameters.begin(), {type().code, name, " ", type().block});
  layer.addLambda({std::move(parameters), std::move(last)});
  return success();
}

/// A loop for every element of the output.
LogicalResult Reduction::printElements() {
  std::vector<Identifier> const names = loopNames(layer, parallel.size());
  ElementLoops const elements(layer, loops, parallel, names, layer.schedule.getInner(), space);
  std::vector<Identifier> loopIndices;
  for (unsigned loop : reduced) {
    loopIndices.push_back(layer.indexNames({"k"}).front());
    space.dims[loop] = cpp::name(loopIndices.back());
  }
  Identifier const accumulator = accumulatorName(); // before the printer takes over the names that are in use
  ScalarPrinter printer = layer.scalars(space);
  Body body;
  FailureOr<Expression> value = term(printer, body);
  if (failed(value))
    return failure();
  body.push_back(joinInto(op.getCombiner(), cpp::name(accumulator), *value));
  for (auto [loop, index] : llvm::reverse(llvm::zip(reduced, loopIndices)))
    body = {cpp::For{index, literal(0), loops.sizes[loop], literal(1), std::move(body)}};
  Body statements = {cpp::Variable{type(), accumulator, {}, literal(op.getInitial())}};
  statements.insert(statements.end(), body.begin(), body.end());
  if (failed(finish(printer, cpp::name(accumulator), statements)))
    return failure();
  elements.call(layer, std::move(statements));
  return success();
}

} // namespace

FailureOr<std::string> printReduce(Operation *op, Layer &layer) {
  if (nest::isLibraryCall(layer.schedule.getBlock()))
    return printProductCall(op, layer);
  Reduction reduction(cast<nest::ReduceOp>(op), layer);
  nest::KernelBlock const block = layer.schedule.getBlock();
  if (failed(block == nest::KernelBlock::FoldRows ? reduction.printFolds({})
             : block == nest::KernelBlock::FoldColumns || block == nest::KernelBlock::FoldFewColumns
                 ? reduction.printFolds(layer.schedule.getInner() < 0
                                            ? std::nullopt
                                            : std::optional<unsigned>(layer.schedule.getInner()))
             : block == nest::KernelBlock::ForRows && layer.schedule.getInner() >= 0
                 ? reduction.printRowsOf(layer.schedule.getInner())
             : block == nest::KernelBlock::ForRows ? reduction.printRows()
                                                   : reduction.printElements()))
    return failure();
  return describe(layer, reduction.op.getInputs(), reduction.op.getExtras(), reduction.op.getOutputs(), ", ");
}

} // namespace ml2k
