//===- ControlFlow.cpp - scf inside kernels as C++ statements -----------------------------------------------------===//
//
// Results of a branch and values that a loop carries become variables. A loop's values change as a set: where a new
// value depends on an old one that was assigned before it, it goes through a constant.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

static Json variable(Type type, std::string const &name, std::string const &value) {
  return {{"template", "statement/variable"},
          {"type", computeType(type)},
          {"name", name},
          {"initial", !value.empty()},
          {"value", value}};
}

static Json assign(std::string const &target, std::string const &value) {
  return {{"template", "statement/assign"}, {"target", target}, {"value", value}};
}

static std::string advance(std::string const &index, std::string const &step) {
  return step == "1" ? "++" + index : index + " += " + step;
}

/// `targets = values` all at once.
static LogicalResult assignAll(ScalarPrinter &printer, ValueRange values, ArrayRef<std::string> targets, Json &to) {
  FailureOr<SmallVector<Expression>> expressions = printer.use(values);
  if (failed(expressions))
    return failure();
  // A value that mentions a target assigned before it is computed first
  for (size_t i = 1; i < targets.size(); ++i)
    for (size_t before = 0; before < i; ++before)
      if (mentions((*expressions)[i].text, targets[before])) {
        (*expressions)[i] = printer.let(to, values[i].getType(), (*expressions)[i], {"next_" + targets[i]});
        break;
      }
  for (auto [target, expression] : llvm::zip(targets, *expressions))
    if (expression.text != target)
      to.push_back(assign(target, expression.text));
  return success();
}

/// Declares a variable per value, named after nouns, and binds it to `bindTo`.
static FailureOr<std::vector<std::string>> declareAll(ScalarPrinter &printer, ValueRange initial, ValueRange bindTo,
                                                      Json &to) {
  std::vector<std::string> names;
  FailureOr<SmallVector<Expression>> expressions = printer.use(initial);
  if (failed(expressions))
    return failure();
  for (auto [expression, value] : llvm::zip(*expressions, bindTo)) {
    names.push_back(printer.names.fresh(withSourceName(value, {"carried", "state", "current"})));
    to.push_back(variable(value.getType(), names.back(), expression.text));
    printer.bind(value, {names.back()});
  }
  return names;
}

static LogicalResult printBranch(ScalarPrinter &printer, Region &region, ArrayRef<std::string> targets, Json &to) {
  if (region.empty())
    return success();
  Block &block = region.front();
  return failed(printer.print(block, to)) ? failure() : assignAll(printer, block.back().getOperands(), targets, to);
}

/// A branch that only chooses a value.
static bool isAssignment(Json const &statements) {
  return statements.size() == 1 && statements[0]["template"] == "statement/assign";
}

static LogicalResult printIf(Operation *op, ScalarPrinter &printer, Json &to) {
  auto branch = cast<scf::IfOp>(op);
  FailureOr<Expression> condition = printer.use(branch.getCondition());
  if (failed(condition))
    return failure();
  printer.settleReads(to);
  std::vector<std::string> targets;
  for (Value result : branch.getResults()) {
    targets.push_back(printer.names.fresh(withSourceName(result, {"chosen", "result"})));
    to.push_back(variable(result.getType(), targets.back(), ""));
    printer.bind(result, {targets.back()});
  }
  Json yes = Json::array(), no = Json::array();
  if (failed(printBranch(printer, branch.getThenRegion(), targets, yes)) ||
      failed(printBranch(printer, branch.getElseRegion(), targets, no)))
    return failure();
  if (targets.size() == 1 && isAssignment(yes) && isAssignment(no)) {
    to.erase(to.size() - 1); // the declaration of the variable
    std::string const text = asOperand(*condition, Rank::Or) + " ? " + yes[0]["value"].get<std::string>() + " : " +
                             no[0]["value"].get<std::string>();
    to.push_back({{"template", "statement/let"},
                  {"type", computeType(branch.getResult(0).getType())},
                  {"name", targets[0]},
                  {"value", text}});
    return success();
  }
  to.push_back({{"template", "statement/if"},
                {"condition", condition->text},
                {"then", yes},
                {"else", no},
                {"has_else", !no.empty()}});
  return success();
}

static LogicalResult printFor(Operation *op, ScalarPrinter &printer, Json &to) {
  auto loop = cast<scf::ForOp>(op);
  FailureOr<SmallVector<Expression>> bounds = printer.use({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (failed(bounds))
    return failure();
  FailureOr<std::vector<std::string>> carried = declareAll(printer, loop.getInitArgs(), loop.getRegionIterArgs(), to);
  if (failed(carried))
    return failure();
  printer.settleReads(to);
  std::string const index = printer.names.fresh(withSourceName(loop.getInductionVar(), {"k", "m", "l", "step"}));
  printer.bind(loop.getInductionVar(), {index});
  Json body = Json::array();
  Block &block = *loop.getBody();
  if (failed(printer.print(block, body)) || failed(assignAll(printer, block.back().getOperands(), *carried, body)))
    return failure();
  to.push_back({{"template", "statement/for"},
                {"index", index},
                {"begin", (*bounds)[0].text},
                {"end", asOperand((*bounds)[1], Rank::Add)},
                {"advance", advance(index, (*bounds)[2].text)},
                {"statements", body}});
  for (auto [result, name] : llvm::zip(loop.getResults(), *carried))
    printer.bind(result, {name});
  return success();
}

/// `while (true) { before; if (!condition) break; after; }`
static LogicalResult printWhile(Operation *op, ScalarPrinter &printer, Json &to) {
  auto loop = cast<scf::WhileOp>(op);
  printer.settleReads(to);
  FailureOr<std::vector<std::string>> carried = declareAll(printer, loop.getInits(), loop.getBeforeArguments(), to);
  if (failed(carried))
    return failure();
  std::vector<std::string> results;
  for (Value result : loop.getResults()) {
    results.push_back(printer.names.fresh({"result", "outcome"}));
    to.push_back(variable(result.getType(), results.back(), ""));
    printer.bind(result, {results.back()});
  }
  for (auto [argument, name] : llvm::zip(loop.getAfterArguments(), results))
    printer.bind(argument, {name});
  Json body = Json::array();
  if (failed(printer.print(*loop.getBeforeBody(), body)))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  FailureOr<Expression> goesOn = printer.use(condition.getCondition());
  if (failed(goesOn) || failed(assignAll(printer, condition.getArgs(), results, body)))
    return failure();
  body.push_back({{"template", "statement/break"}, {"condition", unary("!", *goesOn).text}});
  Block &after = *loop.getAfterBody();
  if (failed(printer.print(after, body)) || failed(assignAll(printer, after.back().getOperands(), *carried, body)))
    return failure();
  to.push_back({{"template", "statement/while"}, {"statements", body}});
  return success();
}

void handleControlFlow(ScalarPrinter &printer) {
  printer.handle("scf.if", printIf);
  printer.handle("scf.for", printFor);
  printer.handle("scf.while", printWhile);
}

} // namespace ml2k
