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
  std::optional<Expression> const read = readBackTogether(loop.getInits(), loop.getBeforeArguments());
  for (auto [carried, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits())) {
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
  if (failed(print(*loop.getAfterBody(), body)) || failed(printNext(loop, body)))
    return failure();
  statements.push_back(cpp::While{std::move(body), condition});
  return success();
}

/// What the loop carries on: all is computed before the first changes.
LogicalResult ForwardPrinter::printNext(scf::WhileOp loop, Body &body) {
  std::vector<std::pair<Value, Expression>> changes;
  ValueRange const yielded = loop.getYieldOp().getOperands();
  std::optional<Expression> const read = readBackTogether(yielded, loop.getBeforeArguments());
  for (auto [carried, next] : llvm::zip(loop.getBeforeArguments(), yielded)) {
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
  printExchange(loop.getBeforeArguments(), yielded, body);
  return success();
}

} // namespace ml2k
