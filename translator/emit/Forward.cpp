//===- Forward.cpp - the body of forward() and its layers ----------------------------------------------------*- C++ -*-===//

#include "translator/emit/KernelParts.h"
#include "translator/emit/Views.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

using namespace mlir;

namespace ml2k {

std::vector<std::string> workspaceSizes(Program const &program) {
  std::set<std::string> used;
  for (Storage const &buffer : program.buffers)
    for (unsigned dim = 0; dim < unsigned(buffer.type.getRank()); ++dim) {
      HostSymbols symbols;
      program.extent(buffer.value, dim, symbols);
      for (Value symbol : symbols.values())
        used.insert(program.hostName(symbol));
    }
  std::vector<std::string> names;
  for (RuntimeSize const &size : program.sizes)
    if (used.erase(size.name))
      names.push_back(size.name);
  names.insert(names.end(), used.begin(), used.end()); // arguments passed by value
  return names;
}

std::string forwardParameters(Program const &program) {
  std::string text = "ExecutionSpace const &space";
  if (!program.weights.empty())
    text += ", Weights const &weights";
  if (!program.buffers.empty() || !program.splits.empty())
    text += ", Workspace const &work";
  func::FuncOp entry = program.entry;
  for (BlockArgument argument : entry.getArguments())
    if (Storage const *storage = program.storageOf(argument))
      text += ", " + storage->alias + " const &" + storage->name;
    else
      text += ", " + computeType(argument.getType()) + " " + program.hostName(argument);
  return text;
}

namespace {

class ForwardPrinter {
public:
  explicit ForwardPrinter(Program &program) : program(program), scope(&program.fileScope) {}

  FailureOr<ForwardView> print();

private:
  LogicalResult print(Block &block, Json &statements) {
    for (Operation &op : block.without_terminator())
      if (failed(printOperation(&op, statements)))
        return failure();
    return success();
  }

  Json readSizes(Json &checks) const;
  LogicalResult printOperation(Operation *op, Json &statements);
  LogicalResult printKernel(Operation *op, KernelPrinter printer, Json &statements);
  LogicalResult printLoop(scf::ForOp loop, Json &statements);
  FailureOr<std::string> hostText(Value value);

  Program &program;
  Scope scope;
  ForwardView view;
};

/// Operations that print nothing: members, views and index arithmetic, which appear where they are used.
bool isSilent(Operation *op) {
  if (isa<nest::BufferOp, nest::WeightOp, memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp,
          memref::DimOp, arith::ConstantOp, affine::AffineApplyOp>(op))
    return true;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::IndexCastOp>(op) && op->getResult(0).getType().isIndex();
}

LogicalResult ForwardPrinter::printOperation(Operation *op, Json &statements) {
  if (isSilent(op))
    return success();
  if (KernelPrinter const printer = lookUpKernel(op->getName().getStringRef()))
    return printKernel(op, printer, statements);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop, statements);
  return op->emitError("'") << op->getName() << "' cannot be printed between kernels";
}

LogicalResult ForwardPrinter::printKernel(Operation *op, KernelPrinter printer, Json &statements) {
  Layer layer(program, op);
  FailureOr<std::string> const shapes = printer(op, layer);
  if (failed(shapes))
    return failure();
  view.layers.push_back(layer.finish(*shapes));
  statements.push_back({{"template", "statement/call"}, {"text", layer.invocation()}});
  return success();
}

FailureOr<std::string> ForwardPrinter::hostText(Value value) {
  HostSymbols symbols;
  AffineExpr const expr = program.hostIndex(value, symbols);
  IndexSpace space;
  for (Value symbol : symbols.values()) {
    if (program.hostName(symbol).empty())
      return symbol.getDefiningOp()->emitError("a value that forward() cannot compute");
    space.symbols.push_back({program.hostName(symbol)});
  }
  return indexExpression(expr, space, [&](StringRef block) { program.useBlock(block); }).text;
}

LogicalResult ForwardPrinter::printLoop(scf::ForOp loop, Json &statements) {
  if (loop.getNumRegionIterArgs() != 0)
    return loop.emitError("a loop around kernels carries values");
  FailureOr<std::string> const begin = hostText(loop.getLowerBound()), end = hostText(loop.getUpperBound()),
                               step = hostText(loop.getStep());
  if (failed(begin) || failed(end) || failed(step))
    return failure();
  std::string const index = scope.fresh({"t", "step", "round"});
  program.nameHostValue(loop.getInductionVar(), index);
  Json body = Json::array();
  if (failed(print(*loop.getBody(), body)))
    return failure();
  statements.push_back({{"template", "statement/for"},
                        {"index", index},
                        {"begin", *begin},
                        {"end", *end},
                        {"advance", *step == "1" ? "++" + index : index + " += " + *step},
                        {"statements", body}});
  return success();
}

/// `int const batch = image.extent_int(0);` per size; `checks` gets the refusal of arguments that do not fit together.
Json ForwardPrinter::readSizes(Json &checks) const {
  Json reads = Json::array();
  std::set<std::string> read;
  std::string differ;
  for (RuntimeSize const &size : program.sizes) {
    std::string const argument = program.storageOf(size.argument)->name;
    std::string const text = argument + ".extent_int(" + std::to_string(size.dim) + ")";
    if (read.insert(size.name).second)
      reads.push_back({{"template", "statement/let"}, {"type", "int"}, {"name", size.name}, {"value", text}});
    else
      differ += (differ.empty() ? "" : " || ") + text + " != " + size.name;
  }
  for (std::string const &name : workspaceSizes(program))
    differ += (differ.empty() ? "" : " || ") + ("work." + name) + " != " + name;
  if (!differ.empty())
    checks.push_back({{"template", "statement/refuse"},
                      {"condition", differ},
                      {"message", program.model + ": the sizes of the arguments or of the workspace differ"}});
  return reads;
}

FailureOr<ForwardView> ForwardPrinter::print() {
  Json statements = Json::array();
  Json const reads = readSizes(statements);
  if (failed(print(program.entry.getBody().front(), statements)))
    return failure();
  for (Json const &read : reads) // those that a check or a kernel needs
    if (mentions(statements, read["name"].get<std::string>()))
      view.statements.push_back(read);
  view.statements.insert(view.statements.end(), statements.begin(), statements.end());
  return std::move(view);
}

} // namespace

FailureOr<ForwardView> viewForward(Program &program) { return ForwardPrinter(program).print(); }

} // namespace ml2k
