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

constexpr unsigned maxBoxRank = 6; // of Kokkos::MDRangePolicy

/// A value of the host in terms of sizes, arguments and indices of loops around the kernel.
FailureOr<Expression> LoopPrinter::host(Value value) {
  HostSymbols symbols;
  AffineExpr const expr = layer.program.hostIndex(value, symbols);
  for (Value symbol : symbols.values())
    if (layer.program.hostName(symbol).empty()) {
      Operation *owner = symbol.getDefiningOp() ? symbol.getDefiningOp() : kernel.getOperation();
      return owner->emitError("a value that forward() cannot compute");
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
    printer.bind(position, {positions.back()});
  }
  if (kernel.getOrdered())
    return success();
  if (isBox())
    fused = loops > maxBoxRank ? loops - maxBoxRank + 1 : 0;
  else
    fused = loops > 2 ? loops - 1 : 0;
  if (fused)
    row = printer.names.fresh({"row", "row_index"});
  return success();
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

FailureOr<Expression> LoopPrinter::element(Value memref, ValueRange at) {
  FailureOr<SmallVector<Expression>> indices = printer.use(at);
  if (failed(indices))
    return failure();
  if (auto array = arrays.find(memref); array != arrays.end()) {
    std::string text = array->second;
    for (Expression const &index : *indices)
      text += "[" + index.text + "]";
    return Expression{text};
  }
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

LogicalResult LoopPrinter::printLoad(memref::LoadOp load, Json &to) {
  if (kernel.getOrdered() && load == changed) {
    printer.bindRead(load.getResult(), Expression{before}, to);
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

LogicalResult LoopPrinter::printStore(memref::StoreOp store, Json &to) {
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
  to.push_back({{"template", "statement/assign"}, {"target", target->text}, {"value", storedText(*value, type)}});
  return success();
}

LogicalResult LoopPrinter::printArray(memref::AllocaOp array, Json &to) {
  MemRefType const type = array.getType();
  if (!type.hasStaticShape())
    return array.emitError("an array of a thread needs a known size");
  // A single number starts with what is stored behind it
  auto store = type.getRank() == 0 ? dyn_cast_or_null<memref::StoreOp>(array->getNextNode()) : memref::StoreOp();
  bool const starts = store && store.getMemref() == array;
  FailureOr<Expression> const value = starts ? printer.use(store.getValue()) : Expression();
  if (failed(value))
    return failure();
  std::string name =
      starts ? printer.names.fresh({"total", "result"}) : printer.names.fresh({"values", "own", "scratch"});
  arrays[array] = name;
  if (starts) {
    started.insert(store);
    printer.settleReads(to);
  }
  for (int64_t extent : type.getShape())
    name += "[" + std::to_string(extent) + "]";
  to.push_back({{"template", "statement/variable"},
                {"type", cppType(type.getElementType())},
                {"name", name},
                {"initial", starts},
                {"value", starts ? storedText(*value, type.getElementType()) : ""}});
  return success();
}

void LoopPrinter::handleMemory() {
  printer.handle("memref.load",
                 [this](Operation *op, ScalarPrinter &, Json &to) { return printLoad(cast<memref::LoadOp>(op), to); });
  printer.handle("memref.store", [this](Operation *op, ScalarPrinter &, Json &to) {
    return printStore(cast<memref::StoreOp>(op), to);
  });
  printer.handle("memref.alloca", [this](Operation *op, ScalarPrinter &, Json &to) {
    return printArray(cast<memref::AllocaOp>(op), to);
  });
  handleMessages(printer);
}

//===--- The call -------------------------------------------------------------------------------------------------===//

FailureOr<LoopPrinter::Bounds> LoopPrinter::bounds(unsigned loop) {
  FailureOr<Expression> const lower = host(kernel.getLowers()[loop]), upper = host(kernel.getUppers()[loop]);
  if (failed(lower) || failed(upper))
    return failure();
  return Bounds(*lower, *upper);
}

/// `{1, rows - 1}`
FailureOr<std::string> LoopPrinter::span(unsigned loop) {
  FailureOr<Bounds> const ends = bounds(loop);
  return failed(ends) ? FailureOr<std::string>() : "Span{" + ends->first.text + ", " + ends->second.text + "}";
}

FailureOr<std::string> LoopPrinter::rangePolicy() {
  if (positions.empty())
    return std::string("Kokkos::RangePolicy(space, 0, 1)");
  FailureOr<Bounds> const ends = bounds(0);
  if (failed(ends))
    return failure();
  auto const &[lower, upper] = *ends;
  bool const literals = llvm::all_of(lower.text, llvm::isDigit) && llvm::all_of(upper.text, llvm::isDigit);
  std::string const end =
      lower.text == "0" || literals ? upper.text : "Kokkos::max(" + lower.text + ", " + upper.text + ")";
  return "Kokkos::RangePolicy(space, " + lower.text + ", " + end + ")";
}

/// `int const i = row / 3;`
static Json letInt(std::string const &name, std::string const &value) {
  return {{"template", "statement/let"}, {"type", "int"}, {"name", name}, {"value", value}};
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
FailureOr<std::string> LoopPrinter::rows() {
  if (row.empty())
    return span(0);
  FailureOr<Expression> const all = count({0, fused, row});
  return failed(all) ? FailureOr<std::string>() : "Span{0, " + all->text + "}";
}

/// `Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<2>>(space, {0, 0}, {32, 56})`
FailureOr<std::string> LoopPrinter::boxPolicy() {
  std::vector<std::string> lowers, uppers;
  if (!row.empty()) {
    FailureOr<Expression> const all = count({0, fused, row});
    if (failed(all))
      return failure();
    lowers.push_back("0");
    uppers.push_back(all->text);
  }
  for (unsigned i = fused; i < positions.size(); ++i) {
    FailureOr<Bounds> const ends = bounds(i);
    if (failed(ends))
      return failure();
    lowers.push_back(ends->first.text);
    uppers.push_back(ends->second.text);
  }
  return "Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<" + std::to_string(lowers.size()) + ">>(space, {" +
         llvm::join(lowers, ", ") + "}, {" + llvm::join(uppers, ", ") + "})";
}

/// The positions of loops that run as one.
LogicalResult LoopPrinter::recover(Group const &group, Json &to) {
  Expression inner{"1"};
  for (unsigned i = group.end; i-- > group.first;) {
    FailureOr<Expression> const lower = host(kernel.getLowers()[i]), iterations = length(i);
    if (failed(lower) || failed(iterations))
      return failure();
    Expression value{group.name};
    if (inner.text != "1")
      value = binary(value, "/", Rank::Multiply, inner);
    if (i > group.first)
      value = binary(value, "%", Rank::Multiply, *iterations);
    if (lower->text != "0")
      value = binary(value, "+", Rank::Add, *lower);
    if (value.text != positions[i] && mentions(to, positions[i]))
      // As a Json, not in braces: insert() would take braces for a list of elements
      to.insert(to.begin(), letInt(positions[i], value.text));
    inner = product({inner, *iterations});
  }
  return success();
}

LogicalResult LoopPrinter::printCall(Json statements) {
  if (kernel.getOrdered())
    return printUpdates(std::move(statements));
  bool const reduces = !kernel.getInto().empty();
  bool const grid = positions.size() > 1;
  std::string const first = grid && !row.empty() ? row : positions.empty() ? "i" : positions.front();
  if (!grid && !reduces) {
    FailureOr<std::string> const policy = rangePolicy();
    if (failed(policy))
      return failure();
    layer.setPolicyCall("Kokkos::parallel_for", *policy);
    std::string const lambda = positions.empty() ? "int" : indexParameters({first}, statements);
    layer.addLambda(lambda, std::move(statements));
    return success();
  }
  if (isBox()) {
    FailureOr<std::string> const policy = boxPolicy();
    if (failed(policy))
      return failure();
    layer.setPolicyCall("Kokkos::parallel_for", *policy);
    std::vector<std::string> parameters(positions.begin() + fused, positions.end());
    if (!row.empty())
      parameters.insert(parameters.begin(), row);
    std::string const lambda = indexParameters(parameters, statements);
    layer.addLambda(lambda, std::move(statements));
    return success();
  }
  FailureOr<std::string> const outer = grid ? rows() : span(0);
  FailureOr<std::string> const inner = grid ? span(positions.size() - 1) : std::string();
  if (failed(outer) || failed(inner))
    return failure();
  std::vector<std::string> arguments = {*outer};
  std::vector<std::string> parameters = {first};
  if (grid) {
    arguments.push_back(*inner);
    parameters.push_back(positions.back());
  }
  std::string function = grid ? "for_grid" : "";
  if (reduces) {
    auto const combiner = combinerName(cast<nest::CombinerAttr>(kernel.getCombiners()[0]).getValue());
    layer.program.useBlock(combiner);
    function = grid ? "reduce_grid" : "reduce_span";
    arguments.push_back(layer.member(*layer.program.storageOf(kernel.getInto()[0])));
    writes.insert(kernel.getInto()[0]);
    layer.program.useBlock(function);
    function += "<" + combiner + ">";
  } else {
    layer.program.useBlock(function);
  }
  layer.setCall(function, arguments);
  std::string const lambda = indexParameters(parameters, statements);
  layer.addLambda(lambda, std::move(statements));
  return success();
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
  if (kernel.getInto().size() > 1)
    return kernel.emitError("has several reductions; a kernel that is printed has one");
  for (Storage const &argument : layer.program.arguments)
    layer.scope.take(argument.name);
  if (failed(bindHostValues()) || failed(bindPositions()))
    return failure();
  handleMemory();
  findChange();
  Json statements = Json::array();
  Block &block = kernel.getBody().front();
  if (kernel.getInto().empty() ? failed(printer.print(block, statements))
                               : failed(returnValue(printer, block, statements)))
    return failure();
  if (failed(recover({0, fused, row}, statements)) || failed(printCall(std::move(statements))))
    return failure();
  return describe();
}

FailureOr<std::string> printLoopKernel(Operation *op, Layer &layer) {
  return LoopPrinter(cast<nest::LoopKernelOp>(op), layer).print();
}

} // namespace ml2k
