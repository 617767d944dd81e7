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
#include "llvm/ADT/StringSet.h"

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
    if ((*text)->kind == cpp::Kind::Name) // a parameter, which nothing in the block may hide
      printer.names.take((*text)->name->str());
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
  if (layer.schedule.getBlock() == nest::KernelBlock::ForStrips) {
    strip = printer.names.fresh({"strip", "columns_of_strip"});
    column = positions.back();
    mostColumns = layer.schedule.getLanes();
  }
  return success();
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

FailureOr<Expression> LoopPrinter::element(Value memref, ArrayRef<OpFoldResult> at) {
  SmallVector<Expression> indices;
  for (OpFoldResult position : at) {
    FailureOr<Expression> const index = number(position);
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  if (auto const *sum = llvm::find_if(sums, [&](auto const &entry) { return entry.first == memref; });
      sum != sums.end()) {
    Expression const at = indices.front();
    return cpp::index(cpp::name(own), {sum->second ? binary(at, "+", Rank::Add, literal(sum->second)) : at});
  }
  if (auto array = arrays.find(memref); array != arrays.end()) {
    if (columnArrays.contains(memref)) {
      indices.insert(indices.begin(), cpp::name(column));
      return call(array->second, indices);
    }
    if (called.contains(memref))
      return call(array->second, indices);
    return indices.empty() ? array->second : cpp::index(array->second, indices);
  }
  IndexSpace space;
  SmallVector<AffineExpr> exprs;
  for (auto [index, value] : llvm::zip(indices, at)) {
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
  if (changed.contains(load)) {
    printer.bind(load.getResult(), cpp::name(before));
    return success();
  }
  FailureOr<Expression> read = element(load.getMemref(), getAsOpFoldResult(load.getIndices()));
  if (failed(read))
    return failure();
  if (!arrays.contains(load.getMemref()))
    reads.insert(load.getMemref());
  printer.bindRead(load.getResult(), std::move(*read), to);
  return success();
}

/// Arrays of an iteration are no memory of anybody else.
static bool mayMeet(nest::LoopKernelOp kernel, Value a, Value b) {
  auto const isOwn = [](Value memref) { return memref.getDefiningOp<memref::AllocaOp>() != nullptr; };
  auto const isOther = [&](Value memref) {
    return isOwn(memref) || memref.getParentRegion()->isAncestor(kernel->getParentRegion());
  };
  return a == b || !((isOwn(a) && isOther(b)) || (isOwn(b) && isOther(a)));
}

LogicalResult LoopPrinter::printStore(memref::StoreOp store, Body &to) {
  if (started.contains(store))
    return success();
  FailureOr<Expression> target = element(store.getMemref(), getAsOpFoldResult(store.getIndices()));
  if (failed(target))
    return failure();
  if (!arrays.contains(store.getMemref()))
    writes.insert(store.getMemref());
  if (Operation *const load = loadOf(store))
    return printChange(store, load->getResult(0), *target, to);
  FailureOr<Expression> value = printer.use(store.getValue());
  if (failed(value))
    return failure();
  printer.settleReads(to, store.getMemref(), [&](Value a, Value b) { return mayMeet(kernel, a, b); });
  Type const type = store.getMemRefType().getElementType();
  cpp::Assign assign{*target, stored(*value, type)};
  if (rowLoops && store->getParentOp() == kernel)
    cpp::addOnce(to, {std::move(assign)});
  else if (isFinal)
    storeAtLast(std::move(assign), to);
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
  printer.memoryName = [this](Value memref) {
    Storage const *const storage = arrays.contains(memref) ? nullptr : layer.program.storageOf(memref);
    return storage ? storage->name : "";
  };
  printer.handle("memref.load",
                 [this](Operation *op, ScalarPrinter &, Body &to) { return printLoad(cast<memref::LoadOp>(op), to); });
  printer.handle("memref.store", [this](Operation *op, ScalarPrinter &, Body &to) {
    return printStore(cast<memref::StoreOp>(op), to);
  });
  printer.handle("memref.alloca", [this](Operation *op, ScalarPrinter &, Body &to) {
    bool const isOfTeam = kernel.getPolicy() == nest::Policy::Team && !inThread;
    return isOfTeam ? printTeamArray(cast<memref::AllocaOp>(op), to) : printArray(cast<memref::AllocaOp>(op), to);
  });
  printer.handle("memref.subview", [](Operation *, ScalarPrinter &, Body &) { return success(); }); // of a call
  printer.handle("nest.call",
                 [this](Operation *op, ScalarPrinter &, Body &to) { return printCallee(cast<nest::CallOp>(op), to); });
  printer.handle("scf.for", [this](Operation *op, ScalarPrinter &, Body &to) {
    auto loop = cast<scf::ForOp>(op);
    return rowLoops ? printRowLoop(loop, to) : printLoop(loop, to);
  });
  printer.handle("scf.while", [this, other = printer.handlerOf("scf.while")](Operation *op, ScalarPrinter &, Body &to) {
    auto loop = cast<scf::WhileOp>(op);
    std::optional<nest::EntrySearch> const search = nest::entrySearchOf(loop);
    return search ? printSearch(*search, loop, to) : other(op, printer, to);
  });
  handleMessages(printer);
  if (kernel.getPolicy() == nest::Policy::Team)
    handleTeam();
}

//===--- The layer ----------------------------------------------------------------------------------------------===//

/// `u[rows,columns] -> next[rows,columns]; sequential: why`
std::string LoopPrinter::describe() {
  auto const list = [&](llvm::SetVector<Value> const &memrefs) {
    SmallVector<std::string> all;
    llvm::StringSet<> known; // parts of one buffer may be of one shape
    for (Value memref : memrefs)
      if (std::string const text = layer.described(memref); known.insert(text).second)
        all.push_back(text);
    return llvm::join(all, ", ");
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
  findChanges();
  if (rowLoops)
    bindRow();
  nest::KernelBlock const form = layer.schedule.getBlock();
  bool const isShared = form == nest::KernelBlock::ForSharedSpan || form == nest::KernelBlock::ReduceSharedSpan;
  if (isShared && failed(printShared()))
    return failure();
  if (form == nest::KernelBlock::ScatterRows)
    return failed(printScatter()) ? FailureOr<std::string>() : describe();
  Block &block = kernel.getBody().front();
  if (form == nest::KernelBlock::ScanColumns)
    return failed(printColumnScan(cast<scf::ForOp>(block.front()))) ? FailureOr<std::string>() : describe();
  for (auto loop : block.getOps<scf::ForOp>())
    if (bool const isRow = form == nest::KernelBlock::ScanRows;
        loop->hasAttr("nest.scan") && (isRow || positions.empty()))
      return failed(isRow ? printRowScan(loop) : printScan(loop)) ? FailureOr<std::string>() : describe();
  Body statements;
  if (form == nest::KernelBlock::ForStrips ? failed(printStrips(block, nest::StripValues(kernel), statements))
      : kernel.getInto().empty()           ? failed(printer.print(block, statements))
                                           : failed(returnTerms(block, statements)))
    return failure();
  bool const isNested = isInOrder(); // one thread goes through the loops themselves
  if ((!isNested && failed(recover(fusedLoops(), statements))) || failed(printCall(std::move(statements))))
    return failure();
  return describe();
}

FailureOr<std::string> printLoopKernel(Operation *op, Layer &layer) {
  if (layer.schedule.getBlock() == nest::KernelBlock::LibrarySpmv)
    return printSparseCall(cast<nest::LoopKernelOp>(op), layer);
  return LoopPrinter(cast<nest::LoopKernelOp>(op), layer).print();
}

} // namespace ml2k
