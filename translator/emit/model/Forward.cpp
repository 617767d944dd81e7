//===- Forward.cpp - the body of forward() and its layers ---------------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/emit/model/Views.h"
#include "translator/text/Text.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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

using Parameters = std::vector<std::pair<std::string, std::string>>; // type, name

static Parameters parametersOf(Program const &program) {
  Parameters parameters = {{"ExecutionSpace const &", "space"}};
  if (!program.weights.empty())
    parameters.push_back({"Weights const &", "weights"});
  if (!program.buffers.empty() || !program.splits.empty())
    parameters.push_back({"Workspace const &", "work"});
  func::FuncOp entry = program.entry;
  for (BlockArgument argument : entry.getArguments())
    if (Storage const *storage = program.storageOf(argument))
      parameters.push_back({storage->alias + " const &", storage->name});
    else
      parameters.push_back({computeType(argument.getType()) + " ", program.hostName(argument)});
  return parameters;
}

static std::string joined(Parameters const &parameters) {
  return llvm::join(llvm::map_range(parameters, [](auto const &it) { return it.first + it.second; }), ", ");
}

std::string forwardParameters(Program const &program) { return joined(parametersOf(program)); }

std::string forwardDefinition(Program const &program, Json const &statements) {
  Parameters parameters = parametersOf(program);
  for (auto &[type, name] : parameters)
    if (!mentions(statements, name))
      name = "/*" + name + "*/";
  return joined(parameters);
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

  Json readSizes(Json &checks);
  std::string computedSizes();
  void fitWorkspace(Json &statements);
  LogicalResult printChecks(Json &checks);
  void shareChecks(Json const &checks, Json &statements);
  LogicalResult printOperation(Operation *op, Json &statements);
  LogicalResult printKernel(Operation *op, KernelPrinter printer, Json &statements);
  LogicalResult printLoop(scf::ForOp loop, Json &statements);
  void printExchange(scf::ForOp loop, Json &statements);
  LogicalResult printBranch(scf::IfOp branch, Json &statements);
  FailureOr<std::string> conditionText(Value value);
  FailureOr<std::string> hostText(Value value);

  Program &program;
  Scope scope;
  ForwardView view;
};

/// Operations that print nothing: members, views and index arithmetic, which appear where they are used.
bool isSilent(Operation *op) {
  if (isa<nest::BufferOp, nest::WeightOp, memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
          memref::CastOp, memref::DimOp, arith::ConstantOp, affine::AffineApplyOp, cf::AssertOp>(op))
    return true;
  if (isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp>(op) && op->getResult(0).getType().isInteger(1))
    return true; // conditions
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::IndexCastOp>(op) &&
         op->getResult(0).getType().isIndex();
}

/// Memory that a loop around kernels exchanges: its extents may differ from one iteration to the next.
bool isExchanged(Value memref) {
  auto const argument = dyn_cast<BlockArgument>(memref);
  return argument ? isa<scf::ForOp>(argument.getOwner()->getParentOp()) : bool(memref.getDefiningOp<scf::ForOp>());
}

LogicalResult ForwardPrinter::printOperation(Operation *op, Json &statements) {
  if (auto size = dyn_cast<memref::DimOp>(op); size && isExchanged(size.getSource())) {
    Storage const *memory = program.storageOf(size.getSource());
    std::string const dim = std::to_string(*size.getConstantIndex());
    std::string const name = scope.fresh({memory->name + "_size_" + dim});
    program.nameHostValue(size, name);
    statements.push_back({{"template", "statement/let"},
                          {"type", "int"},
                          {"name", name},
                          {"value", memory->name + ".extent_int(" + dim + ")"}});
    return success();
  }
  if (isSilent(op))
    return success();
  if (KernelPrinter const printer = lookUpKernel(op->getName().getStringRef()))
    return printKernel(op, printer, statements);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop, statements);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return printBranch(branch, statements);
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
  for (auto [carried, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs())) {
    Storage const *variable = program.storageOf(carried), *first = program.storageOf(init);
    if (!variable || !first)
      return loop.emitError("a loop around kernels carries values");
    statements.push_back({{"template", "statement/variable"},
                          {"type", variable->cpp},
                          {"name", variable->name},
                          {"initial", true},
                          {"value", first->expression}});
  }
  FailureOr<std::string> const begin = hostText(loop.getLowerBound()), end = hostText(loop.getUpperBound()),
                               step = hostText(loop.getStep());
  if (failed(begin) || failed(end) || failed(step))
    return failure();
  std::string const index = scope.fresh(withSourceName(loop.getInductionVar(), {"t", "step", "round"}));
  program.nameHostValue(loop.getInductionVar(), index);
  Json body = Json::array();
  if (failed(print(*loop.getBody(), body)))
    return failure();
  printExchange(loop, body);
  statements.push_back({{"template", "statement/for"},
                        {"index", index},
                        {"begin", *begin},
                        {"end", *end},
                        {"advance", *step == "1" ? "++" + index : index + " += " + *step},
                        {"statements", body}});
  return success();
}

/// `previous = old; old = next; next = previous;`
void ForwardPrinter::printExchange(scf::ForOp loop, Json &statements) {
  DenseMap<Value, std::string> saved; // variables that were assigned already: where their values went
  auto const yields = loop.getYieldedValues();
  auto const carried = loop.getRegionIterArgs();
  for (auto [i, variable] : llvm::enumerate(carried)) {
    if (yields[i] == variable)
      continue;
    std::string const name = program.storageOf(variable)->name;
    if (llvm::is_contained(yields.drop_front(i + 1), Value(variable))) {
      saved[variable] = scope.fresh({"previous", "previous_" + name});
      statements.push_back({{"template", "statement/local"}, {"name", saved[variable]}, {"value", name}});
    }
    std::string const value = saved.contains(yields[i]) ? saved[yields[i]] : program.storageOf(yields[i])->name;
    statements.push_back({{"template", "statement/assign"}, {"target", name}, {"value", value}});
  }
}

/// Conditions of sizes and arguments.
FailureOr<std::string> ForwardPrinter::conditionText(Value value) {
  if (std::string const name = program.hostName(value); !name.empty())
    return name;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    FailureOr<std::string> const left = conditionText(op->getOperand(0)), right = conditionText(op->getOperand(1));
    if (failed(left) || failed(right))
      return failure();
    return "(" + *left + (isa<arith::AndIOp>(op) ? ") && (" : ") || (") + *right + ")";
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIntOrIndex()) {
    InFlightDiagnostic error =
        value.getParentBlock()->getParentOp()->emitError("forward() decides by sizes and arguments only");
    return error;
  }
  FailureOr<std::string> left = hostText(compare.getLhs()), right = hostText(compare.getRhs());
  if (failed(left) || failed(right))
    return failure();
  static char const *const operators[] = {" == ", " != ", " < ", " <= ", " > ", " >= ", " < ", " <= ", " > ", " >= "};
  auto const predicate = unsigned(compare.getPredicate());
  if (predicate > unsigned(arith::CmpIPredicate::sge))
    return "unsigned(" + *left + ")" + operators[predicate] + "unsigned(" + *right + ")";
  return *left + operators[predicate] + *right;
}

LogicalResult ForwardPrinter::printBranch(scf::IfOp branch, Json &statements) {
  if (branch.getNumResults() != 0)
    return branch.emitError("a branch around kernels has results");
  FailureOr<std::string> const condition = conditionText(branch.getCondition());
  Json yes = Json::array(), no = Json::array();
  if (failed(condition) || failed(print(*branch.thenBlock(), yes)) ||
      (branch.elseBlock() && failed(print(*branch.elseBlock(), no))))
    return failure();
  statements.push_back({{"template", "statement/if"},
                        {"condition", *condition},
                        {"then", yes},
                        {"else", no},
                        {"has_else", !no.empty()}});
  return success();
}

/// `y.extent_int(1) != 4 * batch`, for extents of outputs that the model computes from those of inputs.
std::string ForwardPrinter::computedSizes() {
  auto const symbols = program.entry->getAttrOfType<ArrayAttr>("nest.symbols");
  IndexSpace space;
  for (Attribute symbol : symbols ? symbols.getValue() : ArrayRef<Attribute>())
    for (RuntimeSize const &size : program.sizes)
      if (auto dims =
              program.entry.getArgAttrOfType<ArrayAttr>(cast<BlockArgument>(size.argument).getArgNumber(), "nest.dims");
          dims && dims[size.dim] == symbol) {
        space.symbols.push_back({size.name});
        break;
      }
  std::string differ;
  for (Storage const &argument : program.arguments) {
    unsigned const number = cast<BlockArgument>(argument.value).getArgNumber();
    auto const extents = program.entry.getArgAttrOfType<ArrayAttr>(number, "nest.extents");
    for (auto [dim, extent] : llvm::enumerate(extents ? extents.getValue() : ArrayRef<Attribute>()))
      if (auto const computed = dyn_cast<AffineMapAttr>(extent))
        differ += (differ.empty() ? "" : " || ") + argument.name + ".extent_int(" + std::to_string(dim) +
                  ") != " + indexExpression(computed.getValue().getResult(0), space, [&](StringRef block) {
                              program.useBlock(block);
                            }).text;
  }
  return differ;
}

/// What the model takes for granted about sizes; the message is the condition in words.
LogicalResult ForwardPrinter::printChecks(Json &checks) {
  for (auto check : program.entry.getBody().front().getOps<cf::AssertOp>()) {
    auto compare = check.getArg().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() > arith::CmpIPredicate::sge)
      return check.emitError() << "cannot hold: " << check.getMsg();
    static char const *const opposites[] = {" != ", " == ", " >= ", " > ", " <= ", " < "};
    FailureOr<std::string> const left = hostText(compare.getLhs()), right = hostText(compare.getRhs());
    if (failed(left) || failed(right))
      return failure();
    checks.push_back({{"template", "statement/refuse"},
                      {"condition", *left + opposites[unsigned(compare.getPredicate())] + *right},
                      {"is_lower_bound", compare.getPredicate() >= arith::CmpIPredicate::sgt},
                      {"message", validUtf8(program.model + ": " + check.getMsg().str())}});
  }
  return success();
}

/// Least sizes that a Workspace is made for are a function, which its constructor calls, too: it has no buffers of
/// negative extents, but may be made for any larger sizes. `statements` gets the other checks and the call.
void ForwardPrinter::shareChecks(Json const &checks, Json &statements) {
  std::vector<std::string> const sizes = workspaceSizes(program);
  Json shared = Json::array();
  for (Json const &check : checks) {
    auto const isKnown = [&](std::string const &name) {
      return llvm::is_contained(sizes, name) || !mentions(check["condition"], name);
    };
    bool const isShared = check["is_lower_bound"] && !sizes.empty() &&
                          llvm::all_of(program.sizes, [&](RuntimeSize const &size) { return isKnown(size.name); }) &&
                          llvm::all_of(func::FuncOp(program.entry).getArguments(), [&](Value argument) {
                            return isa<MemRefType>(argument.getType()) || isKnown(program.hostName(argument));
                          });
    (isShared ? shared : statements).push_back(check);
  }
  if (shared.empty())
    return;
  std::vector<std::string> names, parameters;
  for (std::string const &name : sizes)
    if (mentions(shared, name)) {
      names.push_back(name);
      parameters.push_back("int " + name);
    }
  std::string const call = "check_sizes(" + llvm::join(names, ", ") + ")";
  statements.push_back({{"template", "statement/call"}, {"text", call}});
  view.sizeChecks.push_back({{"parameters", llvm::join(parameters, ", ")}, {"call", call}, {"statements", shared}});
}

/// `int const batch = image.extent_int(0);` per size; `checks` gets the refusal of arguments that do not fit together.
Json ForwardPrinter::readSizes(Json &checks) {
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
  std::string const computed = computedSizes();
  differ += (differ.empty() || computed.empty() ? "" : " || ") + computed;
  if (!differ.empty())
    checks.push_back({{"template", "statement/refuse"},
                      {"condition", differ},
                      {"message", program.model + ": the sizes of the arguments differ"}});
  return reads;
}

/// A workspace for other sizes serves if it holds enough: the same call with views of its memory.
void ForwardPrinter::fitWorkspace(Json &statements) {
  std::vector<std::string> const sizes = workspaceSizes(program);
  if (sizes.empty())
    return;
  std::vector<std::string> differ, arguments;
  for (std::string const &name : sizes)
    differ.push_back("work." + name + " != " + name);
  for (auto const &[type, name] : parametersOf(program))
    arguments.push_back(name == "work" ? "fitted(work, " + llvm::join(sizes, ", ") + ")" : name);
  statements.push_back({{"template", "statement/refit"},
                        {"condition", llvm::join(differ, " || ")},
                        {"arguments", llvm::join(arguments, ", ")}});
}

FailureOr<ForwardView> ForwardPrinter::print() {
  Json statements = Json::array();
  Json const reads = readSizes(statements);
  Json checks = Json::array();
  if (failed(printChecks(checks)))
    return failure();
  shareChecks(checks, statements);
  fitWorkspace(statements);
  if (std::string const condition = tooManyElements(program); !condition.empty())
    statements.push_back({{"template", "statement/refuse"},
                          {"condition", condition},
                          {"message", program.model + ": a tensor is too large for indices of type int"}});
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
