//===- LoopKernel.cpp - nest.kernel: explicit loops ---------------------------------------------------------------===//
//
// One parallel loop is a RangePolicy, several are a grid whose last loop is contiguous, a reduction is a reduce over
// either. The block holds scalar operations, loads, stores and sequential loops.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {

/// A value of the host in terms of sizes, arguments and indices of loops around the kernel.
FailureOr<Expression> LoopPrinter::host(Value value) {
  HostSymbols symbols;
  AffineExpr const expr = layer.program.hostIndex(value, symbols);
  for (Value symbol : symbols.values())
    if (layer.program.hostName(symbol).empty()) {
      Operation *owner = symbol.getDefiningOp() ? symbol.getDefiningOp() : kernel.getOperation();
      return unprintable(owner, "a value that forward() cannot compute");
    }
  return layer.hostExpression(expr, symbols);
}

/// What the block uses from outside: sizes and scalar arguments.
LogicalResult LoopPrinter::bindHostValues() {
  llvm::SetVector<Value> outside;
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()) && !kernel->isAncestor(operand.getParentRegion()->getParentOp()) &&
          !matchPattern(operand, m_Constant()))
        outside.insert(operand);
  });
  for (Value value : outside) {
    FailureOr<Expression> text = host(value);
    if (failed(text))
      return failure();
    printer.bind(value, *text);
  }
  return success();
}

LogicalResult LoopPrinter::bindPositions() {
  unsigned const loops = kernel.getLowers().size();
  static StringRef const letters[] = {"i", "j", "k", "l"};
  for (unsigned i = 0; i < loops; ++i) {
    std::string const letter = i < 4 ? letters[i].str() : "i" + std::to_string(i);
    BlockArgument const position = kernel.getBody().getArgument(i);
    positions.push_back(printer.names.fresh(withSourceName(position, {letter, letter + letter, letter + "_index"})));
    printer.bind(position, cpp::name(positions.back()));
  }
  if (fused)
    row = printer.names.fresh({"row", "row_index"});
  return success();
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

FailureOr<Expression> LoopPrinter::element(Value memref, ValueRange at) {
  FailureOr<SmallVector<Expression>> indices = printer.use(at);
  if (failed(indices))
    return failure();
  if (auto array = arrays.find(memref); array != arrays.end())
    return indices->empty() ? array->second : cpp::index(array->second, *indices);
  IndexSpace space;
  SmallVector<AffineExpr> exprs;
  for (auto [index, value] : llvm::zip(*indices, at)) {
    if (std::optional<int64_t> const constant = getConstantIntValue(value)) {
      exprs.push_back(getAffineConstantExpr(*constant, kernel->getContext()));
      continue;
    }
    exprs.push_back(getAffineSymbolExpr(space.symbols.size(), kernel->getContext()));
    space.symbols.push_back(index);
  }
  return layer.element(memref, exprs, space);
}

LogicalResult LoopPrinter::printLoad(memref::LoadOp load, Body &to) {
  if (kernel.getOrdered() && load == changed) {
    printer.bindRead(load.getResult(), cpp::name(before), to);
    return success();
  }
  FailureOr<Expression> read = element(load.getMemref(), load.getIndices());
  if (failed(read))
    return failure();
  if (!arrays.contains(load.getMemref()))
    reads.insert(load.getMemref());
  printer.bindRead(load.getResult(), std::move(*read), to);
  return success();
}

LogicalResult LoopPrinter::printStore(memref::StoreOp store, Body &to) {
  if (started.contains(store))
    return success();
  FailureOr<Expression> value = printer.use(store.getValue());
  FailureOr<Expression> target = element(store.getMemref(), store.getIndices());
  if (failed(value) || failed(target))
    return failure();
  if (!arrays.contains(store.getMemref()))
    writes.insert(store.getMemref());
  if (kernel.getOrdered() && changed)
    return printChange(store, *target, *value, to);
  printer.settleReads(to);
  Type const type = store.getMemRefType().getElementType();
  cpp::Assign assign{*target, stored(*value, type)};
  if (rowLoops && store->getParentOp() == kernel)
    storeOnce(std::move(assign), to);
  else
    to.push_back(std::move(assign));
  return success();
}

LogicalResult LoopPrinter::printArray(memref::AllocaOp array, Body &to) {
  MemRefType const type = array.getType();
  // A single number starts with what is stored behind it
  auto store = type.getRank() == 0 ? dyn_cast_or_null<memref::StoreOp>(array->getNextNode()) : memref::StoreOp();
  bool const starts = store && store.getMemref() == array;
  FailureOr<Expression> const value = starts ? printer.use(store.getValue()) : Expression();
  if (failed(value))
    return failure();
  Identifier const name =
      printer.names.fresh(withSourceName(array.getResult(), starts ? ScalarPrinter::Nouns{"total", "result"}
                                                                   : ScalarPrinter::Nouns{"values", "own", "scratch"}));
  arrays[array] = cpp::name(name);
  cpp::Variable variable{scalarType(type.getElementType()), name, type.getShape()};
  if (starts) {
    started.insert(store);
    printer.settleReads(to);
    variable.value = stored(*value, type.getElementType());
  }
  to.push_back(std::move(variable));
  return success();
}

void LoopPrinter::handleMemory() {
  printer.handle("memref.load",
                 [this](Operation *op, ScalarPrinter &, Body &to) { return printLoad(cast<memref::LoadOp>(op), to); });
  printer.handle("memref.store", [this](Operation *op, ScalarPrinter &, Body &to) {
    return printStore(cast<memref::StoreOp>(op), to);
  });
  printer.handle("memref.alloca", [this](Operation *op, ScalarPrinter &, Body &to) {
    return printArray(cast<memref::AllocaOp>(op), to);
  });
  if (rowLoops)
    printer.handle("scf.for",
                   [this](Operation *op, ScalarPrinter &, Body &to) { return printRowLoop(cast<scf::ForOp>(op), to); });
  handleMessages(printer);
}

//===--- The call -------------------------------------------------------------------------------------------------===//

FailureOr<LoopPrinter::Bounds> LoopPrinter::bounds(unsigned loop) {
  FailureOr<Expression> const lower = host(kernel.getLowers()[loop]), upper = host(kernel.getUppers()[loop]);
  if (failed(lower) || failed(upper))
    return failure();
  return Bounds(*lower, *upper);
}

/// `Span{1, rows - 1}`
FailureOr<Expression> LoopPrinter::span(unsigned loop) {
  FailureOr<Bounds> const ends = bounds(loop);
  return failed(ends) ? FailureOr<Expression>() : cpp::braces(Raw("Span"), {ends->first, ends->second});
}

static Expression rangeOver(Expression const &begin, Expression const &end) {
  return call(Raw("Kokkos::RangePolicy"), {cpp::name(Raw("space")), begin, end});
}

FailureOr<Expression> LoopPrinter::rangePolicy() {
  if (positions.empty())
    return rangeOver(literal(0), literal(1));
  FailureOr<Bounds> const ends = bounds(0);
  if (failed(ends))
    return failure();
  auto const &[lower, upper] = *ends;
  bool const isOrdered = lower.is(0) || (lower.constant().value_or(-1) >= 0 && upper.constant().value_or(-1) >= 0);
  return rangeOver(lower, isOrdered ? upper : call(Raw("Kokkos::max"), {lower, upper}));
}

/// How many iterations a loop has.
FailureOr<Expression> LoopPrinter::length(unsigned loop) {
  HostSymbols symbols;
  AffineExpr const lower = layer.program.hostIndex(kernel.getLowers()[loop], symbols);
  AffineExpr const upper = layer.program.hostIndex(kernel.getUppers()[loop], symbols);
  if (failed(bounds(loop)))
    return failure();
  return layer.hostExpression(upper - lower, symbols);
}

/// How many iterations the loops have that run as one.
FailureOr<Expression> LoopPrinter::count(Group const &group) {
  SmallVector<Expression> lengths;
  for (unsigned i = group.first; i < group.end; ++i) {
    FailureOr<Expression> const iterations = length(i);
    if (failed(iterations))
      return failure();
    lengths.push_back(*iterations);
  }
  return product(lengths);
}

/// All loops but the last as one: `Span{0, n * m}`.
FailureOr<Expression> LoopPrinter::rows() {
  if (!fused)
    return span(0);
  FailureOr<Expression> const all = count(fusedLoops());
  return failed(all) ? FailureOr<Expression>() : cpp::braces(Raw("Span"), {literal(0), *all});
}

/// `Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<2>>(space, {0, 0}, {32, 56})`
FailureOr<Expression> LoopPrinter::boxPolicy() {
  std::vector<Expression> lowers, uppers;
  if (fused) {
    FailureOr<Expression> const all = count(fusedLoops());
    if (failed(all))
      return failure();
    lowers.push_back(literal(0));
    uppers.push_back(*all);
  }
  for (unsigned i = fused; i < positions.size(); ++i) {
    FailureOr<Bounds> const ends = bounds(i);
    if (failed(ends))
      return failure();
    lowers.push_back(ends->first);
    uppers.push_back(ends->second);
  }
  Code const policy =
      Raw("Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<") + Code(int64_t(lowers.size())) + Raw(">>");
  return call(policy, {cpp::name(Raw("space")), cpp::braces({}, lowers), cpp::braces({}, uppers)});
}

/// The positions of loops that run as one.
LogicalResult LoopPrinter::recover(Group const &group, Body &to) {
  Expression inner = literal(1);
  for (unsigned i = group.end; i-- > group.first;) {
    FailureOr<Expression> const lower = host(kernel.getLowers()[i]), iterations = length(i);
    if (failed(lower) || failed(iterations))
      return failure();
    Expression value = cpp::name(group.name);
    if (!inner.is(1))
      value = binary(value, "/", Rank::Multiply, inner);
    if (i > group.first)
      value = binary(value, "%", Rank::Multiply, *iterations);
    if (!lower->is(0))
      value = binary(value, "+", Rank::Add, *lower);
    if (value != cpp::name(positions[i]) && usesOf(to).contains(positions[i]))
      to.insert(to.begin(), letInt(positions[i], value));
    inner = product({inner, *iterations});
  }
  return success();
}

/// A pattern of Kokkos itself over `parameters`.
LogicalResult LoopPrinter::printPolicy(FailureOr<Expression> const &policy, std::vector<cpp::Parameter> parameters,
                                       Body statements) {
  if (failed(policy))
    return failure();
  layer.setPolicyCall("Kokkos::parallel_for", *policy);
  layer.addLambda({std::move(parameters), std::move(statements)});
  return success();
}

LogicalResult LoopPrinter::printRange(Body statements) {
  cpp::Parameter const only = positions.empty() ? cpp::Parameter{Raw("int")} : cpp::intParameter(positions.front());
  return printPolicy(rangePolicy(), {only}, std::move(statements));
}

LogicalResult LoopPrinter::printBox(Body statements) {
  std::vector<Identifier> names(positions.begin() + fused, positions.end());
  if (fused)
    names.insert(names.begin(), row);
  return printPolicy(boxPolicy(), cpp::intParameters(names), std::move(statements));
}

/// One or two spans: all loops but the last run as one.
LogicalResult LoopPrinter::printSpans(Body statements) {
  bool const grid = positions.size() > 1;
  FailureOr<Expression> const outer = grid ? rows() : span(0);
  FailureOr<Expression> const inner = grid ? span(positions.size() - 1) : Expression();
  if (failed(outer) || failed(inner))
    return failure();
  std::vector<Expression> arguments = {*outer};
  std::vector<Identifier> parameters = {grid && fused ? row : positions.front()};
  if (grid) {
    arguments.push_back(*inner);
    parameters.push_back(positions.back());
  }
  if (!kernel.getInto().empty())
    arguments.push_back(reducer());
  layer.setCall(arguments);
  std::vector<cpp::Parameter> all = cpp::intParameters(parameters);
  if (shared)
    all.push_back(*shared);
  layer.addLambda({std::move(all), std::move(statements)});
  return success();
}

LogicalResult LoopPrinter::printCall(Body statements) {
  switch (layer.schedule.getBlock()) {
  case nest::KernelBlock::ForUpdates:
    return printUpdates(std::move(statements));
  case nest::KernelBlock::ForStoredRows:
  case nest::KernelBlock::ReduceStoredRows:
    return printStoredRows(std::move(statements));
  case nest::KernelBlock::Range:
    return printRange(std::move(statements));
  case nest::KernelBlock::MDRange:
    return printBox(std::move(statements));
  default:
    return printSpans(std::move(statements));
  }
}

/// `u[rows,columns] -> next[rows,columns]; sequential: why`
std::string LoopPrinter::describe() {
  auto const list = [&](llvm::SetVector<Value> const &memrefs) {
    return llvm::join(llvm::map_range(memrefs, [&](Value memref) { return layer.described(memref); }), ", ");
  };
  std::string const from = list(reads);
  std::string text = (from.empty() ? "" : from + " ") + "-> " + list(writes);
  if (auto note = kernel.getNote())
    text += "; " + note->str();
  return text;
}

FailureOr<std::string> LoopPrinter::print() {
  for (Storage const &argument : layer.program.arguments)
    layer.scope.take(argument.name);
  if (failed(bindHostValues()) || failed(bindPositions()))
    return failure();
  if (nest::KernelBlock const block = layer.schedule.getBlock();
      block == nest::KernelBlock::ForStoredRows || block == nest::KernelBlock::ReduceStoredRows)
    rowLoops = nest::storedRowsOf(kernel);
  handleMemory();
  findChange();
  if (rowLoops)
    bindRow();
  nest::KernelBlock const form = layer.schedule.getBlock();
  bool const isShared = form == nest::KernelBlock::ForSharedSpan || form == nest::KernelBlock::ReduceSharedSpan;
  if (isShared && failed(printShared()))
    return failure();
  Body statements;
  Block &block = kernel.getBody().front();
  if (kernel.getInto().empty() ? failed(printer.print(block, statements)) : failed(returnTerms(block, statements)))
    return failure();
  if (failed(recover(fusedLoops(), statements)) || failed(printCall(std::move(statements))))
    return failure();
  return describe();
}

FailureOr<std::string> printLoopKernel(Operation *op, Layer &layer) {
  return LoopPrinter(cast<nest::LoopKernelOp>(op), layer).print();
}

} // namespace ml2k
