//===- Forward.cpp - the body of forward() and its layers ---------------------------------------------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/ForwardPrinter.h"
#include "translator/emit/scalars/Scalars.h"
#include "translator/ir/InTurn.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/ReadBack.h"
#include "translator/text/Text.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

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

std::vector<cpp::Parameter> parametersOf(Program const &program) {
  std::vector<cpp::Parameter> parameters;
  auto const add = [&](Code const &type, Identifier const &name, Raw by) { parameters.push_back({type, name, by}); };
  add(Raw("ExecutionSpace"), Raw("space"), " const &");
  if (!program.weights.empty())
    add(Raw("Weights"), Raw("weights"), " const &");
  if (!program.buffers.empty() || !program.splits.empty())
    add(Raw("Workspace"), Raw("work"), " const &");
  func::FuncOp entry = program.entry;
  for (BlockArgument argument : entry.getArguments())
    if (Storage const *storage = program.storageOf(argument))
      add(storage->parameterType().code, Identifier(storage->name), " const &");
    else
      add(computedType(argument.getType()).code, Identifier(program.hostName(argument)), " ");
  return parameters;
}

std::string forwardParameters(Program const &program) { return cpp::Serializer::list(parametersOf(program)); }

std::string forwardDefinition(Program const &program, Body const &statements) {
  cpp::Names const used = usesOf(statements);
  std::string text;
  for (cpp::Parameter const &parameter : parametersOf(program)) {
    cpp::Parameter unnamed = parameter;
    unnamed.name.reset();
    std::string const comment = (parameter.by == Raw(" ") ? " /*" : "/*") + parameter.name->str() + "*/";
    bool const isUsed = used.contains(*parameter.name);
    text += (text.empty() ? "" : ", ") +
            (isUsed ? cpp::Serializer::text(parameter) : cpp::Serializer::text(unnamed) + comment);
  }
  return text;
}

/// Operations that print nothing: members, views and index arithmetic, which appear where they are used.
static bool isSilent(Operation *op) {
  if (isa<nest::BufferOp, nest::WeightOp, memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
          memref::CastOp, memref::DimOp, arith::ConstantOp, affine::AffineApplyOp, nest::FromEndOp>(op) ||
      isReadBack(op) || isHostScalar(op))
    return true;
  if (isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp>(op) && op->getResult(0).getType().isInteger(1))
    return true; // conditions
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::IndexCastOp>(op) &&
         op->getResult(0).getType().isIndex();
}

/// Memory that a loop around kernels exchanges: its extents may differ from one iteration to the next.
static bool isExchanged(Value memref) {
  auto const argument = dyn_cast<BlockArgument>(memref);
  return argument ? isa<scf::ForOp>(argument.getOwner()->getParentOp()) : bool(memref.getDefiningOp<scf::ForOp>());
}

LogicalResult ForwardPrinter::printOperation(Operation *op, Body &statements) {
  if (auto size = dyn_cast<memref::DimOp>(op); size && isExchanged(size.getSource())) {
    std::string const memory = program.storageOf(size.getSource())->name;
    unsigned const dim = *size.getConstantIndex();
    Identifier const name = scope.fresh({memory + "_size_" + std::to_string(dim)});
    program.nameHostValue(size, name.str());
    statements.push_back(cpp::Let{intType(), name, extentOf(Identifier(memory), dim)});
    return success();
  }
  if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
    if (op->getBlock() == &program.entry.getBody().front())
      return success(); // forward() begins with those
    statements.push_back(checkOf(assertion).refuse);
    return success();
  }
  if (isHostNumber(op))
    return printNumbers(op, statements);
  if (isHostLocal(op))
    return printLocal(op, statements);
  if (isSilent(op))
    return success();
  if (KernelPrinter const printer = lookUpKernel(op->getName().getStringRef()))
    return printKernel(op, printer, statements);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop, statements);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return printWhile(loop, statements);
  return printBranch(cast<scf::IfOp>(op), statements);
}

/// `int const count = Kokkos::min(10, n);`
LogicalResult ForwardPrinter::printLocal(Operation *op, Body &statements) {
  if (isHostCast(op)) {
    FailureOr<Expression> const number = hostScalar(op->getOperand(0));
    return failed(number) ? failure() : nameLocal(op, *number, true, statements);
  }
  SmallVector<Expression> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return hostExpression(operand); });
  auto const isLong = [&](Value operand) {
    HostSymbols symbols;
    program.hostIndex(operand, symbols);
    return llvm::any_of(symbols.values(),
                        [&](Value symbol) { return symbol.getType().isInteger(64) || longLocals.contains(symbol); });
  };
  bool const isLeft = isLong(op->getOperand(0)), isRight = isLong(op->getOperand(1));
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op)) { // functions of two numbers of one type
    if (isLeft != isRight)
      operands[isLeft] = call(Raw("std::int64_t"), {operands[isLeft]});
  } else if (isLeft || isRight) { // of a caller's number, which may be larger than what is computed from it at last
    longLocals.insert(op->getResult(0));
  }
  ScalarPrinter printer(scope);
  ScalarEntry const *entry = lookUpScalar(op->getName().getStringRef());
  FailureOr<Expression> const value = entry->print(op, operands, printer);
  if (failed(value))
    return failure();
  return nameLocal(op, *value, longLocals.contains(op->getResult(0)), statements);
}

LogicalResult ForwardPrinter::nameLocal(Operation *op, Expression const &value, bool isLong, Body &statements) {
  Identifier const name = scope.fresh(withSourceName(op->getResult(0), {"count", "bound", "limit"}));
  program.nameHostValue(op->getResult(0), name.str());
  if (isLong)
    longLocals.insert(op->getResult(0));
  statements.push_back(
      cpp::Let{isLong ? computedType(IntegerType::get(op->getContext(), 64)) : intType(), name, value});
  return success();
}

/// `int const count = read_back(space, work.count);`, or one wait for several
LogicalResult ForwardPrinter::printNumbers(Operation *first, Body &statements) {
  if (!program.hostName(first->getResult(0)).empty())
    return success(); // with those in front of it
  SmallVector<Operation *> loads;
  for (Operation *op = first; isHostNumber(op); op = op->getNextNode())
    loads.push_back(op);
  for (Operation *load : loads) {
    Value const number = load->getResult(0);
    std::string const memory = program.storageOf(cast<memref::LoadOp>(load).getMemref())->name;
    Identifier const name = scope.fresh({memory, memory + "_now"});
    program.nameHostValue(number, name.str());
    if (loads.size() == 1)
      statements.push_back(cpp::Let{intType(), name, readBack(load)});
    else
      statements.push_back(cpp::Variable{computedType(number.getType()), name});
  }
  if (loads.size() == 1)
    return success();
  std::vector<Expression> arguments = {cpp::name(Raw("space"))};
  for (Operation *load : loads) {
    arguments.push_back(cpp::name(Identifier(program.hostName(load->getResult(0)))));
    arguments.push_back(program.reference(*program.storageOf(cast<memref::LoadOp>(load).getMemref())));
  }
  statements.push_back(cpp::Run{call(Code(Raw("read_back")), arguments, Raw("read_back"))});
  return success();
}

LogicalResult ForwardPrinter::printKernel(Operation *op, KernelPrinter printer, Body &statements) {
  if (printed.contains(op))
    return success();
  for (nest::ContractOp product : nest::productsInTurn(op))
    printed.insert(product);
  Layer layer(program, op);
  FailureOr<std::string> const shapes = printer(op, layer);
  if (failed(shapes) || layer.hasFailed)
    return failure();
  view.layers.push_back(layer.finish(*shapes));
  statements.push_back(cpp::Run{invocation(view.layers.back())});
  return success();
}

/// Whether sizes are multiplied with each other.
static bool hasProduct(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= part.getKind() == AffineExprKind::Mul && !isa<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
  });
  return found;
}

/// `value + distance`. `isChecked`: nobody knows yet that it is small enough for an int.
Expression ForwardPrinter::hostExpression(Value value, bool isChecked, int64_t distance) {
  HostSymbols symbols;
  AffineExpr const expr = program.hostIndex(value, symbols) + distance;
  bool const isWide = isChecked && hasProduct(expr);
  IndexSpace space;
  for (Value symbol : symbols.values()) {
    Expression const name = cpp::name(Identifier(program.hostName(symbol)));
    space.symbols.push_back(isWide ? cpp::cast(Raw("static_cast<long long>"), name) : name);
  }
  return indexExpression(expr, space);
}

cpp::Variable ForwardPrinter::exchangedVariable(Value carried, Value init) {
  Storage const *variable = program.storageOf(carried), *first = program.storageOf(init);
  return {variable->cpp, Identifier(variable->name), {}, program.reference(*first)};
}

LogicalResult ForwardPrinter::printLoop(scf::ForOp loop, Body &statements) {
  if (failed(printFirst(loop.getRegionIterArgs(), loop.getInitArgs(), statements)))
    return failure();
  Expression const begin = hostExpression(loop.getLowerBound()), end = hostExpression(loop.getUpperBound()),
                   step = hostExpression(loop.getStep());
  ScalarPrinter::Nouns const nouns = withSourceName(loop.getInductionVar(), {"t", "step", "round"});
  Identifier const index = scope.fresh(withSourceName(nest::shownIndex(loop), nouns));
  program.nameHostValue(nest::shownIndex(loop), index.str());
  Body body;
  if (failed(print(*loop.getBody(), body)) ||
      failed(printNext(loop.getRegionIterArgs(), loop.getYieldedValues(), body)))
    return failure();
  if (nest::countsDown(loop))
    statements.push_back(
        cpp::For{index, hostExpression(loop.getUpperBound(), false, -1), begin, step, std::move(body), false, true});
  else
    statements.push_back(cpp::For{index, begin, end, step, std::move(body)});
  return success();
}

/// `previous = old; old = next; next = previous;`
void ForwardPrinter::printExchange(ValueRange carried, ValueRange yields, Body &statements) {
  DenseMap<Storage const *, Expression> saved; // variables that were assigned already: where their values went
  auto const storageOf = [&](Value value) { return program.storageOf(value); };
  for (auto [i, variable] : llvm::enumerate(carried)) {
    if (!isa<MemRefType>(variable.getType()) || storageOf(yields[i]) == storageOf(variable))
      continue;
    Identifier const name(storageOf(variable)->name);
    bool const isUsedLater = llvm::any_of(yields.drop_front(i + 1), [&](Value later) {
      return isa<MemRefType>(later.getType()) && storageOf(later) == storageOf(variable);
    });
    if (isUsedLater) {
      Identifier const previous = scope.fresh({"previous", "previous_" + name.str()});
      saved[storageOf(variable)] = cpp::name(previous);
      statements.push_back(cpp::Copy{{}, previous, cpp::name(name)});
    }
    auto const kept = saved.find(storageOf(yields[i]));
    Expression const value = kept != saved.end() ? kept->second : cpp::name(Identifier(storageOf(yields[i])->name));
    statements.push_back(cpp::Assign{cpp::name(name), value});
  }
}

Expression comparison(arith::CmpIPredicate predicate, Expression left, Expression right) {
  static constexpr Raw operators[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  bool const isEquality = predicate <= arith::CmpIPredicate::ne;
  if (predicate > arith::CmpIPredicate::sge) {
    left = cpp::cast(Raw("unsigned"), left);
    right = cpp::cast(Raw("unsigned"), right);
  }
  return binary(left, operators[unsigned(predicate)], isEquality ? Rank::Equality : Rank::Relation, right);
}

/// Conditions of sizes and arguments, and such that a kernel computed.
FailureOr<Expression> ForwardPrinter::condition(Value value) {
  if (std::string const name = program.hostName(value); !name.empty())
    return cpp::name(Identifier(name));
  Operation *op = value.getDefiningOp();
  if (isReadBack(op))
    return readBack(op);
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    FailureOr<Expression> const left = condition(op->getOperand(0)), right = condition(op->getOperand(1));
    if (failed(left) || failed(right))
      return failure();
    bool const isAnd = isa<arith::AndIOp>(op);
    return binary(parentheses(*left), isAnd ? Raw("&&") : Raw("||"), isAnd ? Rank::And : Rank::Or, parentheses(*right));
  }
  auto const isIndex = [&](Value number) { // or an integer that is computed as one
    HostSymbols symbols;
    program.hostIndex(number, symbols);
    return llvm::none_of(symbols.values(), [&](Value symbol) { return program.hostName(symbol).empty(); });
  };
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !llvm::all_of(compare->getOperands(), isIndex))
    return hostScalar(value);
  return comparison(compare.getPredicate(), hostExpression(compare.getLhs()), hostExpression(compare.getRhs()));
}

LogicalResult ForwardPrinter::printBranch(scf::IfOp branch, Body &statements) {
  FailureOr<Expression> const decides = condition(branch.getCondition());
  Body yes, no;
  if (failed(decides) || failed(print(*branch.thenBlock(), yes)) ||
      (branch.elseBlock() && failed(print(*branch.elseBlock(), no))))
    return failure();
  statements.push_back(cpp::If{*decides, std::move(yes), std::move(no)});
  return success();
}

Expression ForwardPrinter::readBack(Operation *load) {
  Expression const number = program.reference(*program.storageOf(cast<memref::LoadOp>(load).getMemref()));
  return call(Code(Raw("read_back")), {cpp::name(Raw("space")), number}, Raw("read_back"));
}

/// A number that forward() has, computes, or waits for.
FailureOr<Expression> ForwardPrinter::hostScalar(Value value) {
  if (std::string const name = program.hostName(value); !name.empty())
    return cpp::name(Identifier(name));
  Operation *op = value.getDefiningOp();
  if (isReadBack(op))
    return readBack(op);
  ScalarPrinter printer(scope);
  ScalarEntry const *entry = op ? lookUpScalar(op->getName().getStringRef()) : nullptr;
  if (!entry || matchPattern(value, m_Constant()))
    return printer.use(value);
  SmallVector<Expression> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Expression> const expression = hostScalar(operand);
    if (failed(expression))
      return failure();
    operands.push_back(*expression);
  }
  return entry->print(op, operands, printer);
}

FailureOr<ForwardView> ForwardPrinter::print() {
  Body statements;
  Body const reads = readSizes(statements);
  std::vector<Check> checks;
  printChecks(checks);
  shareChecks(checks, statements);
  fitWorkspace(statements);
  if (std::optional<Expression> const tooMany = tooManyElements(program))
    statements.push_back(cpp::Refuse{*tooMany, program.model + ": a tensor is too large for indices of type int"});
  if (failed(print(program.entry.getBody().front(), statements)))
    return failure();
  cpp::Names const used = usesOf(statements);
  for (cpp::Statement const &read : reads) // those that a check or a kernel needs
    if (used.contains(*declared(read)))
      view.statements.push_back(read);
  view.statements.insert(view.statements.end(), statements.begin(), statements.end());
  return std::move(view);
}

FailureOr<ForwardView> viewForward(Program &program) { return ForwardPrinter(program).print(); }

} // namespace ml2k
