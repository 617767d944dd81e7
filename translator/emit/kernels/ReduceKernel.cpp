//===- ReduceKernel.cpp - nest.reduce: rows whose reduction is contiguous, else a loop per element ----------------===//

#include "translator/emit/kernels/KernelParts.h"

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
        space{SmallVector<Expression>(loops.extents.size(), Expression{"0"}), loops.extents, {}} {
    for (unsigned loop = 0; loop < loops.extents.size(); ++loop)
      if (loops.extents[loop] != 1)
        (llvm::is_contained(op.getReductionDims(), int64_t(loop)) ? reduced : parallel).push_back(loop);
  }

  /// True if the first input's contiguous dimension is reduced.
  bool isAlongRows() const {
    for (AffineExpr expr : llvm::reverse(maps.front().getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && loops.extents[dim.getPosition()] != 1)
        return llvm::is_contained(reduced, dim.getPosition());
    return false;
  }

  ArrayRef<AffineMap> inputMaps() { return ArrayRef(maps).take_front(op.getInputs().size()); }
  ArrayRef<AffineMap> extraMaps() { return ArrayRef(maps).drop_front(op.getInputs().size()); }
  std::string type() { return computeType(op.getInitial().getType()); }

  std::string accumulatorName() {
    std::string const combiner = combinerName(op.getCombiner());
    return layer.scope.fresh({combiner.starts_with("Max")   ? "largest"
                              : combiner.starts_with("Min") ? "smallest"
                                                            : "total"});
  }

  FailureOr<Expression> term(ScalarPrinter &printer, Json &statements) {
    Block &block = op.getTerm().front();
    if (failed(bindElements(layer, printer, block.getArguments(), op.getInputs(), inputMaps(), space, statements)) ||
        failed(printer.print(block, statements)))
      return failure();
    return printer.use(block.back().getOperand(0));
  }

  LogicalResult finish(ScalarPrinter &printer, Expression const &accumulator, Json &statements) {
    Block &block = op.getFinish().front();
    printer.bind(block.getArgument(0), accumulator);
    if (failed(bindElements(layer, printer, block.getArguments().drop_front(), op.getExtras(), extraMaps(), space,
                            statements)) ||
        failed(printer.print(block, statements)))
      return failure();
    return storeElements(layer, printer, block, op.getOutputs(), ArrayRef(maps).take_back(1), space, statements);
  }

  LogicalResult printRows();
  LogicalResult printElements();
};

/// The reduction runs along the row of for_rows.
LogicalResult Reduction::printRows() {
  FusedLoops const rows(layer, loops, parallel, loopNames(layer, parallel.size()), "row", space);
  SmallVector<StringRef> letters = {"i", "j", "k", "l"};
  letters.resize(reduced.size(), "m");
  FusedLoops const along(layer, loops, reduced, layer.indexNames(letters), "term", space);
  std::string const name = accumulatorName(); // before the printer takes over the names that are in use
  ScalarPrinter printer = layer.scalars(space);
  Json inner = Json::array(), statements = Json::array(), last = Json::array();
  FailureOr<Expression> value = term(printer, inner);
  if (failed(value))
    return failure();
  inner.push_back({{"template", "statement/return"}, {"value", value->text}});
  along.recover(inner);
  std::string const combiner = combinerName(op.getCombiner());
  layer.program.useBlock(combiner);
  std::string const result = inner.back()["value"];
  inner.erase(inner.size() - 1);
  statements.push_back({{"template", "statement/fold"},
                        {"type", type()},
                        {"name", name},
                        {"combiner", combiner},
                        {"length", along.size().text},
                        {"parameters", indexParameters({along.name()}, Json::array({inner, result}))},
                        {"statements", inner},
                        {"value", result}});
  if (failed(finish(printer, joined(layer.program, op.getCombiner(), op.getInitial(), Expression{name}), last)))
    return failure();
  statements.push_back({{"template", "statement/each"}, {"length", "1"}, {"parameters", "int"}, {"statements", last}});
  rows.recover(statements);
  layer.program.useBlock("for_rows");
  layer.setCall("for_rows", {rows.size().text, along.size().text});
  std::string const lambda = indexParameters({rows.name()}, statements) + ", Row const &along";
  layer.addLambda(lambda, std::move(statements));
  return success();
}

/// A loop for every element of the output.
LogicalResult Reduction::printElements() {
  std::vector<std::string> names = loopNames(layer, parallel.size());
  std::string inner = "i";
  Expression length{"1"};
  SmallVector<unsigned> outer(parallel);
  if (!parallel.empty()) {
    inner = names.back();
    names.pop_back();
    outer.pop_back();
    space.dims[parallel.back()] = {inner};
    length = loops.sizes[parallel.back()];
  }
  FusedLoops const rows(layer, loops, outer, names, "row", space);
  std::vector<std::string> loopIndices;
  for (unsigned loop : reduced) {
    loopIndices.push_back(layer.indexNames({"k"}).front());
    space.dims[loop] = {loopIndices.back()};
  }
  Expression const accumulator{accumulatorName()}; // before the printer takes over the names that are in use
  ScalarPrinter printer = layer.scalars(space);
  Json body = Json::array();
  FailureOr<Expression> value = term(printer, body);
  if (failed(value))
    return failure();
  std::string const next = joined(layer.program, op.getCombiner(), accumulator, *value).text;
  std::string const sum = accumulator.text + " + ";
  if (StringRef(next).starts_with(sum))
    body.push_back({{"template", "statement/add"}, {"target", accumulator.text}, {"value", next.substr(sum.size())}});
  else
    body.push_back({{"template", "statement/assign"}, {"target", accumulator.text}, {"value", next}});
  for (auto [loop, index] : llvm::reverse(llvm::zip(reduced, loopIndices)))
    body = Json::array({{{"template", "statement/for"},
                         {"index", index},
                         {"begin", "0"},
                         {"end", loops.sizes[loop].text},
                         {"advance", "++" + index},
                         {"statements", body}}});
  Json statements = Json::array({{{"template", "statement/variable"},
                                  {"type", type()},
                                  {"name", accumulator.text},
                                  {"initial", true},
                                  {"value", literal(op.getInitial()).text}}});
  statements.insert(statements.end(), body.begin(), body.end());
  if (failed(finish(printer, accumulator, statements)))
    return failure();
  rows.recover(statements);
  layer.program.useBlock("for_each");
  layer.setCall("for_each", {rows.size().text, length.text});
  std::string const lambda = indexParameters({rows.name(), inner}, statements);
  layer.addLambda(lambda, std::move(statements));
  return success();
}

} // namespace

FailureOr<std::string> printReduce(Operation *op, Layer &layer) {
  Reduction reduction(cast<nest::ReduceOp>(op), layer);
  if (failed(reduction.isAlongRows() ? reduction.printRows() : reduction.printElements()))
    return failure();
  return describe(layer, reduction.op.getInputs(), reduction.op.getExtras(), reduction.op.getOutputs(), ", ");
}

} // namespace ml2k
