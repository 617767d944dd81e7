//===- LoopCall.cpp - the policy, bounds and block of a kernel of explicit loops ----------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {

FailureOr<LoopPrinter::Bounds> LoopPrinter::bounds(unsigned loop) {
  FailureOr<Expression> const lower = host(kernel.getLowers()[loop]), upper = host(kernel.getUppers()[loop]);
  if (failed(lower) || failed(upper))
    return failure();
  return Bounds(*lower, *upper);
}

/// What is computed of bounds: braces and functions of two numbers make no int of it where those are of 64 bits.
Expression LoopPrinter::narrowed(ValueRange bounds, Expression const &text) const {
  HostSymbols symbols;
  for (Value bound : bounds)
    layer.program.hostIndex(bound, symbols);
  bool const isLong = llvm::any_of(symbols.values(), [](Value symbol) { return symbol.getType().isInteger(64); });
  return isLong ? call(Raw("int"), {text}) : text;
}

/// The same of both bounds.
FailureOr<LoopPrinter::Bounds> LoopPrinter::narrowBounds(unsigned loop) {
  FailureOr<Bounds> const ends = bounds(loop);
  if (failed(ends))
    return failure();
  return Bounds(narrowed(kernel.getLowers()[loop], ends->first), narrowed(kernel.getUppers()[loop], ends->second));
}

/// `Span{1, rows - 1}`
FailureOr<Expression> LoopPrinter::span(unsigned loop) {
  FailureOr<Bounds> const ends = narrowBounds(loop);
  if (failed(ends))
    return failure();
  return cpp::braces(Raw("Span"), {ends->first, ends->second});
}

/// Whether the kernel may be larger than what a device hands over with any launch, 512 bytes.
bool LoopPrinter::holdsManyViews() const {
  llvm::SetVector<Value> views = reads;
  views.insert(writes.begin(), writes.end());
  int64_t bytes = 0; // of strided views, which are the largest
  for (Value view : views)
    bytes += 24 + 16 * cast<MemRefType>(view.getType()).getRank();
  return bytes > 400 && layer.program.options.target != Target::Host;
}

Expression LoopPrinter::rangeOver(Expression const &begin, Expression const &end) const {
  std::vector<Expression> arguments = {cpp::name(Raw("space")), begin, end};
  return holdsManyViews() ? call(Raw("Kokkos::RangePolicy<ExecutionSpace, Light>"), arguments, "light")
                          : call(Raw("Kokkos::RangePolicy"), arguments);
}

/// Whether a number of the host is a sum or a product of extents, and of what the caller says is one.
static bool isExtent(AffineExpr expr, HostSymbols const &symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return !isHostLocal(symbols.values()[symbol.getPosition()].getDefiningOp());
  auto const binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && isExtent(binary.getLHS(), symbols) && isExtent(binary.getRHS(), symbols);
}

FailureOr<Expression> LoopPrinter::rangePolicy() {
  FailureOr<Bounds> const ends = bounds(0);
  if (failed(ends))
    return failure();
  auto const &[lower, upper] = *ends;
  HostSymbols symbols;
  AffineExpr const end = layer.program.hostIndex(kernel.getUppers()[0], symbols);
  bool const isOrdered = (lower.is(0) && isExtent(end, symbols)) ||
                         (lower.constant().value_or(-1) >= 0 && upper.constant().value_or(-1) >= 0);
  if (isOrdered)
    return rangeOver(lower, upper);
  FailureOr<Bounds> const narrow = narrowBounds(0);
  return rangeOver(lower, call(Raw("Kokkos::max"), {narrow->first, narrow->second}));
}

/// How many iterations a loop has.
FailureOr<Expression> LoopPrinter::length(unsigned loop) {
  HostSymbols symbols;
  AffineExpr const lower = layer.program.hostIndex(kernel.getLowers()[loop], symbols);
  AffineExpr const upper = layer.program.hostIndex(kernel.getUppers()[loop], symbols);
  if (failed(bounds(loop)))
    return failure();
  FailureOr<Expression> const text = layer.hostExpression(upper - lower, symbols);
  if (failed(text))
    return failure();
  return narrowed({kernel.getLowers()[loop], kernel.getUppers()[loop]}, *text);
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
    FailureOr<Bounds> const ends = narrowBounds(i);
    if (failed(ends))
      return failure();
    lowers.push_back(ends->first);
    uppers.push_back(ends->second);
  }
  bool const isLight = holdsManyViews();
  Code const policy = Raw("Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<") + Code(int64_t(lowers.size())) +
                      (isLight ? Raw(">, Light>") : Raw(">>"));
  return call(policy, {cpp::name(Raw("space")), cpp::braces({}, lowers), cpp::braces({}, uppers)},
              isLight ? cpp::BlockName("light") : cpp::BlockName());
}

/// The positions `names` of loops that run as `flat`, where `to` uses them.
void LoopPrinter::recoverFrom(Identifier const &flat, ArrayRef<Identifier> names, ArrayRef<Expression> lowers,
                              ArrayRef<Expression> lengths, Body &to) {
  Expression inner = literal(1);
  for (unsigned i = names.size(); i-- > 0;) {
    Expression value = cpp::name(flat);
    if (!inner.is(1))
      value = binary(value, "/", Rank::Multiply, inner);
    if (i > 0)
      value = binary(value, "%", Rank::Multiply, lengths[i]);
    if (!lowers[i].is(0))
      value = binary(value, "+", Rank::Add, lowers[i]);
    if (value != cpp::name(names[i]) && usesOf(to).contains(names[i]))
      to.insert(to.begin(), letInt(names[i], value));
    inner = product({inner, lengths[i]});
  }
}

LogicalResult LoopPrinter::recover(Group const &group, Body &to) {
  SmallVector<Expression> lowers, lengths;
  for (unsigned i = group.first; i < group.end; ++i) {
    FailureOr<Expression> const lower = host(kernel.getLowers()[i]), iterations = length(i);
    if (failed(lower) || failed(iterations))
      return failure();
    lowers.push_back(*lower);
    lengths.push_back(*iterations);
  }
  recoverFrom(group.name, ArrayRef(positions).slice(group.first, group.end - group.first), lowers, lengths, to);
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

/// One iteration, which a host's calling thread may do without a launch.
LogicalResult LoopPrinter::printSingle(Body statements) {
  if (layer.program.launches == nest::Launches::Always)
    return printPolicy(rangeOver(literal(0), literal(1)), {cpp::Parameter{Raw("int")}}, std::move(statements));
  layer.setBlockCall(Raw("for_items"), {cpp::name(Raw("space")), literal(1)});
  layer.addLambda({{cpp::Parameter{Raw("int")}}, std::move(statements)});
  return success();
}

LogicalResult LoopPrinter::printRange(Body statements) {
  if (positions.empty())
    return printSingle(std::move(statements));
  return printPolicy(rangePolicy(), {cpp::intParameter(positions.front())}, std::move(statements));
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
  if (layer.schedule.getBlock() == nest::KernelBlock::Range) { // whose terms are loops
    arguments.insert(arguments.begin(), cpp::name(Raw("space")));
    layer.setBlockCall(Raw("reduce_each"), arguments);
  } else if (layer.schedule.getBlock() == nest::KernelBlock::ForGrid && layer.schedule.getLanes() > 0 &&
             layer.tuning().empty()) {
    layer.setBlockCall(Raw("for_short_rows"), Code(layer.schedule.getLanes()), {*outer});
  } else {
    layer.setCall(arguments);
  }
  std::vector<cpp::Parameter> all = cpp::intParameters(parameters);
  if (shared)
    all.push_back(*shared);
  layer.addLambda({std::move(all), std::move(statements)});
  return success();
}

/// `Span{1, n - 1}` of each loop.
FailureOr<std::vector<Expression>> LoopPrinter::spans() {
  std::vector<Expression> all;
  for (unsigned loop = 0; loop < positions.size(); ++loop) {
    FailureOr<Expression> const own = span(loop);
    if (failed(own))
      return failure();
    all.push_back(*own);
  }
  return all;
}

/// `for_lines(label, space, Span{1, n - 1}, Span{1, m - 1}, next, [=](int i, int j) { next(i, j) = ...; })`
LogicalResult LoopPrinter::printLines(memref::StoreOp store, Body statements) {
  FailureOr<std::vector<Expression>> arguments = spans();
  if (failed(arguments))
    return failure();
  FailureOr<Expression> const stored = element(store.getMemref(), getAsOpFoldResult(store.getIndices()));
  if (failed(stored))
    return failure();
  arguments->push_back((*stored)->parts.front());
  layer.setCall(std::move(*arguments));
  layer.addLambda({cpp::intParameters(positions), std::move(statements)});
  return success();
}

/// `for_checkered(label, space, Span{1, n - 1}, Span{1, m - 1}, 0, [=](int i, int j) { u(i, j) = ...; })`
LogicalResult LoopPrinter::printEveryOther(Body statements) {
  FailureOr<std::vector<Expression>> arguments = spans();
  if (failed(arguments))
    return failure();
  arguments->push_back(
      literal(nest::branchOfEveryOther(kernel)->getAttrOfType<IntegerAttr>(nest::everyOther).getInt()));
  layer.setCall(std::move(*arguments));
  layer.addLambda({cpp::intParameters(positions), std::move(statements)});
  return success();
}

/// The spans of a grid, or of a line of `Span{0, 1}` columns, and the parameters of its positions.
FailureOr<LoopPrinter::Grid> LoopPrinter::grid() {
  bool const isLine = positions.size() == 1;
  Expression const one = cpp::braces(Raw("Span"), {literal(0), literal(1)});
  FailureOr<Expression> const outer = isLine ? span(0) : rows();
  FailureOr<Expression> const inner = isLine ? FailureOr<Expression>(one) : span(positions.size() - 1);
  if (failed(outer) || failed(inner))
    return failure();
  cpp::Parameter column{Raw("int")};
  if (!isLine)
    column.name = positions.back();
  return Grid{*outer, *inner, {cpp::intParameter(!isLine && fused ? row : positions.front()), column}};
}

/// `for_atomic_updates(label, space, Span{0, n}, Span{0, 1}, elements, [=](int i, int, bool alone) { ... })`
LogicalResult LoopPrinter::printAtomicUpdates(Body statements) {
  FailureOr<Grid> all = grid();
  if (failed(all))
    return failure();
  layer.setCall({all->rows, all->columns, elementsOfUpdate()});
  all->parameters.push_back({Raw("bool"), *alone});
  layer.addLambda({std::move(all->parameters), std::move(statements)});
  return success();
}

/// `for_array_sums(label, space, Span{0, n}, Span{0, 1}, counts.data(), bins, body)`, whose body is that of own sums
LogicalResult LoopPrinter::printArraySums(Value array, Body statements) {
  FailureOr<Grid> all = grid();
  if (failed(all))
    return failure();
  IndexSpace const nowhere;
  FailureOr<Expression> const first = layer.element(array, getAffineConstantExpr(0, kernel->getContext()), nowhere);
  if (failed(first))
    return failure();
  writes.insert(array);
  Expression const data = call(cpp::member((*first)->parts.front(), Raw("data")), {});
  layer.setBlockCall(Raw("for_array_sums"),
                     {cpp::name(Raw("space")), all->rows, all->columns, data, elementsOfUpdate()});
  cpp::Type const type = scalarType(cast<MemRefType>(array.getType()).getElementType());
  all->parameters.push_back({type.code, own, Raw(" *"), type.block});
  all->parameters.push_back({Raw("bool"), *alone});
  layer.addLambda({std::move(all->parameters), std::move(statements)});
  return success();
}

/// `for_own_sums<int, 16>(label, space, Span{0, n}, Span{0, 1}, [=](int i, int, int *own, bool alone) { ... },
/// [=](int k, int sum, bool alone) { add_atomically(alone, counts(k), sum); })`
LogicalResult LoopPrinter::printOwnSums(Body statements) {
  if (Value const array = nest::arrayOfSums(kernel))
    return printArraySums(array, std::move(statements));
  FailureOr<Grid> all = grid();
  if (failed(all))
    return failure();
  cpp::Type const type = scalarType(cast<MemRefType>(sums.front().first.getType()).getElementType());
  int64_t elements = 0;
  Body last;
  Identifier const k = printer.names.fresh({"k", "element"}), sum = printer.names.fresh({"sum", "sum_of_element"});
  for (auto [memref, offset] : llvm::reverse(sums)) {
    Expression const at = offset == 0 ? cpp::name(k) : binary(cpp::name(k), "-", Rank::Add, literal(offset));
    IndexSpace space;
    space.symbols.push_back(at);
    FailureOr<Expression> const target = layer.element(memref, getAffineSymbolExpr(0, kernel->getContext()), space);
    if (failed(target))
      return failure();
    Body add = {cpp::Run{call(Raw("add_atomically"), {cpp::name(*alone), *target, cpp::name(sum)}, "add_atomically")}};
    int64_t const end = offset + cast<MemRefType>(memref.getType()).getNumElements();
    bool const isLast = last.empty();
    last = isLast ? add : Body{cpp::If{binary(cpp::name(k), "<", Rank::Relation, literal(end)), add, std::move(last)}};
    elements = std::max(elements, end);
  }
  layer.setCall(type.code + Raw(", ") + Code(elements), {all->rows, all->columns});
  all->parameters.push_back({type.code, own, Raw(" *"), type.block});
  all->parameters.push_back({Raw("bool"), *alone});
  layer.addLambda({std::move(all->parameters), std::move(statements)});
  layer.addLambda(
      {{cpp::intParameter(k), {type.code, sum, Raw(" "), type.block}, {Raw("bool"), *alone}}, std::move(last)});
  return success();
}

/// One thread makes all updates, in the order of the loops.
LogicalResult LoopPrinter::printInOrder(Body statements) {
  for (unsigned i = positions.size(); i-- > 0;) {
    FailureOr<Bounds> const ends = bounds(i);
    if (failed(ends))
      return failure();
    Body body = {cpp::For{positions[i], ends->first, ends->second, literal(1), std::move(statements)}};
    statements = std::move(body);
  }
  return printSingle(std::move(statements));
}

LogicalResult LoopPrinter::printCall(Body statements) {
  switch (layer.schedule.getBlock()) {
  case nest::KernelBlock::ForUpdates:
    return printUpdates(std::move(statements));
  case nest::KernelBlock::ForOwnSums:
    return isInOrder() ? printInOrder(std::move(statements)) : printOwnSums(std::move(statements));
  case nest::KernelBlock::ForAtomicUpdates:
    return isInOrder() ? printInOrder(std::move(statements)) : printAtomicUpdates(std::move(statements));
  case nest::KernelBlock::ForStoredRows:
  case nest::KernelBlock::ReduceStoredRows:
    return printStoredRows(std::move(statements));
  case nest::KernelBlock::Team:
    return printTeams(std::move(statements));
  case nest::KernelBlock::ForRows:
    return printTeamRows(std::move(statements));
  case nest::KernelBlock::ForStrips:
    return printStripCall(std::move(statements));
  case nest::KernelBlock::Range:
    return kernel.getInto().empty() ? printRange(std::move(statements)) : printSpans(std::move(statements));
  case nest::KernelBlock::MDRange:
    return printBox(std::move(statements));
  default:
    if (nest::goesToEveryOther(kernel))
      return printEveryOther(std::move(statements));
    if (memref::StoreOp const store = nest::storeFromLine(kernel);
        store && layer.schedule.getBlock() == nest::KernelBlock::ForGrid && !fused)
      return printLines(store, std::move(statements));
    return printSpans(std::move(statements));
  }
}

} // namespace ml2k
