//===- ForwardWhile.cpp - host loops that go on while their numbers say so ----------------------------------------===//

#include "translator/emit/model/ForwardPrinter.h"
#include "translator/emit/scalars/Scalars.h"
#include "translator/ir/ReadBack.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

/// `read_back(space, rz, work.rz_next, rr, work.rr_next)`: one wait for several of `values`.
std::optional<Expression> ForwardPrinter::readBackTogether(ValueRange values, ValueRange variables) {
  std::vector<Expression> arguments = {cpp::name(Raw("space"))};
  for (auto [value, variable] : llvm::zip(values, variables))
    if (isReadBack(value.getDefiningOp())) {
      auto load = value.getDefiningOp<memref::LoadOp>();
      arguments.push_back(cpp::name(Identifier(program.hostName(variable))));
      arguments.push_back(program.reference(*program.storageOf(load.getMemref())));
    }
  if (arguments.size() <= 3)
    return std::nullopt;
  return call(Code(Raw("read_back")), arguments, Raw("read_back"));
}

/// `while (residual > tolerance) { ...; residual = read_back(space, work.next); }`, where numbers are read first
/// `while (true) { ...; if (!(residual > tolerance)) break; ... }`
LogicalResult ForwardPrinter::printWhile(scf::WhileOp loop, Body &statements) {
  if (failed(printFirst(loop.getBeforeArguments(), loop.getInits(), statements)))
    return failure();
  Body body;
  if (failed(print(*loop.getBeforeBody(), body)))
    return failure();
  FailureOr<Expression> const goes = hostScalar(loop.getConditionOp().getCondition());
  if (failed(goes))
    return failure();
  std::optional<Expression> condition;
  if (body.empty())
    condition = *goes;
  else
    body.push_back(cpp::BreakIf{unary("!", *goes)});
  if (failed(print(*loop.getAfterBody(), body)) ||
      failed(printNext(loop.getBeforeArguments(), loop.getYieldOp().getOperands(), body)))
    return failure();
  statements.push_back(cpp::While{std::move(body), condition});
  return success();
}

LogicalResult ForwardPrinter::printFirst(ValueRange variables, ValueRange inits, Body &statements) {
  std::optional<Expression> const read = readBackTogether(inits, variables);
  for (auto [carried, init] : llvm::zip(variables, inits)) {
    if (isa<MemRefType>(carried.getType())) {
      statements.push_back(exchangedVariable(carried, init));
      continue;
    }
    cpp::Variable variable{computedType(carried.getType()), Identifier(program.hostName(carried))};
    if (!read || !isReadBack(init.getDefiningOp())) {
      FailureOr<Expression> const first = hostScalar(init);
      if (failed(first))
        return failure();
      variable.value = *first;
    }
    statements.push_back(std::move(variable));
  }
  if (read)
    statements.push_back(cpp::Run{*read});
  return success();
}

/// What the loop carries on: all is computed before the first changes.
LogicalResult ForwardPrinter::printNext(ValueRange variables, ValueRange yielded, Body &body) {
  std::vector<std::pair<Value, Expression>> changes;
  std::optional<Expression> const read = readBackTogether(yielded, variables);
  for (auto [carried, next] : llvm::zip(variables, yielded)) {
    if (isa<MemRefType>(carried.getType()) || (read && isReadBack(next.getDefiningOp())))
      continue;
    FailureOr<Expression> const value = hostScalar(next);
    if (failed(value))
      return failure();
    if (*value != cpp::name(Identifier(program.hostName(carried))))
      changes.push_back({carried, *value});
  }
  for (auto &[carried, value] : changes)
    if (changes.size() > 1 || read) {
      std::string const name = program.hostName(carried);
      Identifier const next = scope.fresh({"next_" + name, "new_" + name});
      body.push_back(cpp::Let{computedType(carried.getType()), next, value});
      value = cpp::name(next);
    }
  if (read)
    body.push_back(cpp::Run{*read});
  for (auto const &[carried, value] : changes)
    body.push_back(cpp::Assign{cpp::name(Identifier(program.hostName(carried))), value});
  printExchange(variables, yielded, body);
  return success();
}

} // namespace ml2k
