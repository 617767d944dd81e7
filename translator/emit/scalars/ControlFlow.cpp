//===- ControlFlow.cpp - scf inside kernels as C++ statements -----------------------------------------------------===//
//
// Results of a branch and values that a loop carries become variables. A loop's values change as a set: where a new
// value depends on an old one that was assigned before it, it goes through a constant.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/scalars/Scalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

/// `targets = values` all at once.
static LogicalResult assignAll(ScalarPrinter &printer, ValueRange values, ArrayRef<Identifier> targets, Body &to) {
  FailureOr<SmallVector<Expression>> expressions = printer.use(values);
  if (failed(expressions))
    return failure();
  // A value that mentions a target assigned before it is computed first
  for (size_t i = 1; i < targets.size(); ++i)
    for (size_t before = 0; before < i; ++before)
      if (uses((*expressions)[i], targets[before])) {
        (*expressions)[i] = printer.let(to, values[i].getType(), (*expressions)[i], {"next_" + targets[i].str()});
        break;
      }
  for (auto [target, expression] : llvm::zip(targets, *expressions))
    if (expression != cpp::name(target))
      to.push_back(cpp::Assign{cpp::name(target), expression});
  return success();
}

/// A variable for what a loop carries.
static Identifier declare(ScalarPrinter &printer, Value value, Expression const &initial, Body &to) {
  Identifier const name = printer.names.fresh(withSourceName(value, {"carried", "state", "current"}));
  to.push_back(cpp::Variable{computedType(value.getType()), name, {}, initial});
  return name;
}

/// Declares a variable per value and binds it to `bindTo`.
static FailureOr<std::vector<Identifier>> declareAll(ScalarPrinter &printer, ValueRange initial, ValueRange bindTo,
                                                     Body &to) {
  std::vector<Identifier> names;
  FailureOr<SmallVector<Expression>> expressions = printer.use(initial);
  if (failed(expressions))
    return failure();
  for (auto [expression, value] : llvm::zip(*expressions, bindTo)) {
    names.push_back(declare(printer, value, expression, to));
    printer.bind(value, cpp::name(names.back()));
  }
  return names;
}

static LogicalResult printBranch(ScalarPrinter &printer, Region &region, ArrayRef<Identifier> targets, Body &to) {
  if (region.empty())
    return success();
  Block &block = region.front();
  return failed(printer.print(block, to)) ? failure() : assignAll(printer, block.back().getOperands(), targets, to);
}

/// The value of a branch that only chooses one, else null.
static Expression const *chosenIn(Body const &statements) {
  cpp::Assign const *assign = statements.size() == 1 ? statements.front().as<cpp::Assign>() : nullptr;
  return assign ? &assign->value : nullptr;
}

static LogicalResult printIf(Operation *op, ScalarPrinter &printer, Body &to) {
  auto branch = cast<scf::IfOp>(op);
  FailureOr<Expression> condition = printer.use(branch.getCondition());
  if (failed(condition))
    return failure();
  printer.settleReads(to);
  std::vector<Identifier> targets;
  for (Value result : branch.getResults()) {
    targets.push_back(printer.names.fresh(withSourceName(result, {"chosen", "result"})));
    to.push_back(cpp::Variable{computedType(result.getType()), targets.back()});
    printer.bind(result, cpp::name(targets.back()));
  }
  Body yes, no;
  if (failed(printBranch(printer, branch.getThenRegion(), targets, yes)) ||
      failed(printBranch(printer, branch.getElseRegion(), targets, no)))
    return failure();
  Expression const *const whenTrue = chosenIn(yes), *const whenFalse = chosenIn(no);
  if (targets.size() == 1 && whenTrue && whenFalse) {
    to.pop_back(); // the declaration of the variable
    to.push_back(cpp::Let{computedType(branch.getResult(0).getType()), targets[0],
                          conditional(*condition, *whenTrue, *whenFalse)});
    return success();
  }
  to.push_back(cpp::If{*condition, std::move(yes), std::move(no)});
  return success();
}

/// True if the loop goes on with what the loop around it carries, which has it back: one variable is enough.
static bool goesOn(scf::ForOp loop, unsigned place) {
  auto const from = dyn_cast<BlockArgument>(loop.getInitArgs()[place]);
  auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
  if (!from || !outer || from.getOwner() != outer.getBody() || from == outer.getInductionVar() || !from.hasOneUse())
    return false;
  Value const result = loop.getResult(place);
  OpOperand *const use = result.hasOneUse() ? &*result.use_begin() : nullptr;
  return use && use->getOwner() == outer.getBody()->getTerminator() &&
         use->getOperandNumber() + outer.getNumInductionVars() == from.getArgNumber();
}

/// One statement that needs no braces around it.
static bool isOneLine(Body const &body) {
  return body.size() == 1 &&
         (body.front().as<cpp::Assign>() || body.front().as<cpp::Add>() || body.front().as<cpp::For>());
}

LogicalResult printFor(Operation *op, ScalarPrinter &printer, Body &to) {
  auto loop = cast<scf::ForOp>(op);
  FailureOr<SmallVector<Expression>> bounds = printer.use({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (failed(bounds))
    return failure();
  std::vector<Identifier> carried;
  for (unsigned place = 0; place < loop.getNumResults(); ++place) {
    FailureOr<Expression> initial = printer.use(loop.getInitArgs()[place]);
    if (failed(initial))
      return failure();
    BlockArgument const argument = loop.getRegionIterArg(place);
    bool const isKnown = (*initial)->kind == cpp::Kind::Name && goesOn(loop, place);
    carried.push_back(isKnown ? *(*initial)->name : declare(printer, argument, *initial, to));
    printer.bind(argument, cpp::name(carried.back()));
  }
  printer.settleReads(to);
  Identifier const index = printer.names.fresh(withSourceName(loop.getInductionVar(), {"k", "m", "l", "step"}));
  printer.bind(loop.getInductionVar(), cpp::name(index));
  Body body;
  Block &block = *loop.getBody();
  if (failed(printer.print(block, body)) || failed(assignAll(printer, block.back().getOperands(), carried, body)))
    return failure();
  auto const &[begin, end, step] = std::tie((*bounds)[0], (*bounds)[1], (*bounds)[2]);
  bool const isLine = isOneLine(body);
  to.push_back(cpp::For{index, begin, operand(end, Rank::Add), step, std::move(body), isLine});
  for (auto [result, name] : llvm::zip(loop.getResults(), carried))
    printer.bind(result, cpp::name(name));
  return success();
}

/// `while (true) { before; if (!condition) break; after; }`
static LogicalResult printWhile(Operation *op, ScalarPrinter &printer, Body &to) {
  auto loop = cast<scf::WhileOp>(op);
  printer.settleReads(to);
  FailureOr<std::vector<Identifier>> carried = declareAll(printer, loop.getInits(), loop.getBeforeArguments(), to);
  if (failed(carried))
    return failure();
  std::vector<Identifier> results;
  for (Value result : loop.getResults()) {
    results.push_back(printer.names.fresh({"result", "outcome"}));
    to.push_back(cpp::Variable{computedType(result.getType()), results.back()});
    printer.bind(result, cpp::name(results.back()));
  }
  for (auto [argument, name] : llvm::zip(loop.getAfterArguments(), results))
    printer.bind(argument, cpp::name(name));
  Body body;
  if (failed(printer.print(*loop.getBeforeBody(), body)))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  FailureOr<Expression> goesOn = printer.use(condition.getCondition());
  if (failed(goesOn) || failed(assignAll(printer, condition.getArgs(), results, body)))
    return failure();
  body.push_back(cpp::BreakIf{unary("!", *goesOn)});
  Block &after = *loop.getAfterBody();
  if (failed(printer.print(after, body)) || failed(assignAll(printer, after.back().getOperands(), *carried, body)))
    return failure();
  to.push_back(cpp::While{std::move(body)});
  return success();
}

void handleControlFlow(ScalarPrinter &printer) {
  printer.handle("scf.if", printIf);
  printer.handle("scf.for", printFor);
  printer.handle("scf.while", printWhile);
}

} // namespace ml2k
