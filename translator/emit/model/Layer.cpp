//===- Layer.cpp - one kernel on its way to a layer function ------------------------------------------------------===//

#include "translator/emit/model/Layer.h"
#include "translator/ir/LoopExtents.h"
#include "translator/text/Text.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

Layer::Layer(Program &program, Operation *kernel)
    : program(program), kernel(kernel), schedule(nest::scheduleOf(kernel)), scope(&program.fileScope),
      function{.name = Identifier(program.functions.lookup(program.labelOfKernel(kernel)))} {
  takeArgumentNames();
}

Layer::Layer(Program &program, Operation *kernel, Layer const &whole) : Layer(program, kernel) {
  scope = whole.scope;
  takeArgumentNames();
}

void Layer::takeArgumentNames() {
  SmallVector<Value> memory(kernel->getOperands());
  kernel->walk([&](memref::LoadOp load) { memory.push_back(load.getMemRef()); });
  for (Value operand : memory)
    if (Storage const *storage = program.storageOf(operand); storage && storage->kind == StorageKind::Argument)
      scope.take(storage->name);
}

std::string Layer::label() const {
  return quotedText(program.model + "::" + program.labelOfKernel(kernel), longestName);
}

Expression Layer::labelText() const {
  std::string const text = program.model + "::" + nest::labelOf(kernel).str();
  return cpp::stringLiteral(StringRef(text).take_front(longestName));
}

Identifier Layer::addLocal(cpp::Type const &type, Identifier const &name, Expression const &value) {
  function.locals.push_back(cpp::Let{type, name, value});
  return name;
}

//===--- Names and regions ----------------------------------------------------------------------------------------===//

std::vector<Identifier> Layer::indexNames(ArrayRef<StringRef> wanted) {
  std::vector<Identifier> names;
  for (StringRef name : wanted)
    names.push_back(scope.fresh({name.str(), (name + name).str(), (name + "_index").str()}));
  return names;
}

ScalarPrinter Layer::scalars(IndexSpace const &space) {
  ScalarPrinter printer(scope);
  printer.fastMath = program.options.math == MathLibrary::Fast;
  handleControlFlow(printer);
  printer.outside = [this](Value value) -> FailureOr<Expression> { // sizes and scalar arguments
    HostSymbols symbols;
    if (isa<BlockArgument>(value) && !program.hostName(value).empty())
      return cpp::name(Identifier(program.hostName(value)));
    if (!value.getType().isIndex() || kernel->isAncestor(value.getParentBlock()->getParentOp()))
      return failure();
    AffineExpr const expr = program.hostIndex(value, symbols);
    if (llvm::any_of(symbols.values(), [&](Value symbol) { return program.hostName(symbol).empty(); }))
      return failure();
    return namedSize(hostExpression(expr, symbols), {"count", "size"});
  };
  printer.handle("nest.index", [space](Operation *op, ScalarPrinter &p, Body &) {
    unsigned const dim = cast<nest::IndexOp>(op).getDim();
    if (dim >= space.dims.size())
      return LogicalResult(op->emitOpError() << "is the position in loop " << dim << " of " << space.dims.size());
    p.bind(op->getResult(0), space.extents[dim] == 1 ? literal(0) : space.dims[dim]);
    return success();
  });
  printer.handle("memref.load",
                 [this, space](Operation *op, ScalarPrinter &p, Body &to) { return printLoad(op, p, space, to); });
  printer.handle("memref.dim", [this](Operation *op, ScalarPrinter &p, Body &) -> LogicalResult {
    auto dim = cast<memref::DimOp>(op);
    p.bind(op->getResult(0), extent(dim.getSource(), *dim.getConstantIndex()));
    return success();
  });
  return printer;
}

/// A gather: positions are values of the region.
LogicalResult Layer::printLoad(Operation *op, ScalarPrinter &printer, IndexSpace const &space, Body &to) {
  auto load = cast<memref::LoadOp>(op);
  FailureOr<SmallVector<Expression>> positions = printer.use(load.getIndices());
  if (failed(positions))
    return failure();
  IndexSpace whole = space;
  SmallVector<AffineExpr> at;
  for (Expression const &position : *positions) {
    at.push_back(getAffineSymbolExpr(whole.symbols.size(), op->getContext()));
    whole.symbols.push_back(position);
  }
  FailureOr<Expression> read = element(load.getMemRef(), at, whole);
  if (failed(read))
    return failure();
  printer.bindRead(load.getResult(), std::move(*read), to);
  return success();
}

} // namespace ml2k
