//===- LoopScan.cpp - nest.kernel of running sums: scan_span, scan_rows, scan_columns -----------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {

/// Under `if (is_final)`, the one of the store in front if there is one.
void LoopPrinter::storeAtLast(cpp::Assign assign, Body &to) {
  Expression const condition = cpp::name(*isFinal);
  auto *last = to.empty() ? nullptr : to.back().as<cpp::If>();
  if (!last || last->condition != condition) {
    to.push_back(cpp::If{condition, {}, {}});
    last = to.back().as<cpp::If>();
  }
  last->yes.push_back(std::move(assign));
}

/// `if (condition) { if (is_final) ... }` as one condition, the one that processors foresee in front.
static void joinConditions(Expression const &isFinal, Body &body) {
  for (cpp::Statement &statement : body) {
    auto *outer = statement.as<cpp::If>();
    auto *inner = outer && outer->yes.size() == 1 && outer->no.empty() ? outer->yes.front().as<cpp::If>() : nullptr;
    if (!inner || inner->condition != isFinal)
      continue;
    Expression const both = binary(isFinal, "&&", Rank::And, operand(outer->condition, Rank::And));
    Body stores = std::move(inner->yes);
    statement = cpp::If{both, std::move(stores), {}};
  }
}

/// Scalars in front of the loop that its block uses: products of extents, which each iteration computes.
static SmallVector<Operation *> scalarsOf(scf::ForOp loop) {
  llvm::SetVector<Operation *> scalars;
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode())
    if (isPure(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
          return loop.getBody()->findAncestorOpInBlock(*user) || scalars.contains(user);
        }))
      scalars.insert(op);
  return SmallVector<Operation *>(scalars.rbegin(), scalars.rend());
}

/// The block adds a term to the sum of all iterations before, which is known in the final run alone. Its parameters are
/// the position, the sum and which run it is.
FailureOr<Body> LoopPrinter::bodyOfScan(scf::ForOp loop, std::vector<cpp::Parameter> &parameters) {
  BlockArgument const carried = loop.getRegionIterArg(0);
  Identifier const index = printer.names.fresh(withSourceName(loop.getInductionVar(), {"i", "k", "position"}));
  Identifier const sum = printer.names.fresh(withSourceName(carried, {"sum", "total", "carried"}));
  isFinal = printer.names.fresh({"is_final", "is_final_run"});
  printer.bind(loop.getInductionVar(), cpp::name(index));
  printer.bind(carried, cpp::name(sum));
  Body body;
  Block &block = *loop.getBody();
  if (failed(printer.print(scalarsOf(loop), body)) || failed(printer.print(block, body)))
    return failure();
  FailureOr<Expression> const next = printer.use(block.back().getOperand(0));
  if (failed(next))
    return failure();
  joinConditions(cpp::name(*isFinal), body);
  if (*next != cpp::name(sum))
    body.push_back(cpp::Assign{cpp::name(sum), *next});
  cpp::Parameter const all[] = {
      cpp::intParameter(index), {computedType(carried.getType()).code, sum, Raw(" &")}, {Raw("bool"), *isFinal}};
  parameters.insert(parameters.end(), std::begin(all), std::end(all));
  return body;
}

LogicalResult LoopPrinter::printScan(scf::ForOp loop) {
  FailureOr<Expression> const lower = host(loop.getLowerBound()), upper = host(loop.getUpperBound());
  std::vector<cpp::Parameter> parameters;
  FailureOr<Body> body = bodyOfScan(loop, parameters);
  if (failed(lower) || failed(upper) || failed(body))
    return failure();
  Code const scalar = computedType(loop.getRegionIterArg(0).getType()).code;
  layer.setBlockCall("scan_span", scalar, {cpp::braces(Raw("Span"), {*lower, *upper})});
  layer.addLambda({std::move(parameters), std::move(*body)});
  return success();
}

/// `scan_rows<float>(label, space, rows, length, [=](int row, int i, float &sum, bool is_final) { ... })`
LogicalResult LoopPrinter::printRowScan(scf::ForOp loop) {
  FailureOr<Group> const group = fused ? fusedLoops() : groupOf(0, 1, "row");
  if (failed(group))
    return failure();
  FailureOr<Expression> const rowCount = count(*group), length = host(loop.getUpperBound());
  std::vector<cpp::Parameter> parameters = {cpp::intParameter(group->name)};
  FailureOr<Body> body = bodyOfScan(loop, parameters);
  if (failed(rowCount) || failed(length) || failed(body) || failed(recover(*group, *body)))
    return failure();
  layer.setCall(computedType(loop.getRegionIterArg(0).getType()).code, {*rowCount, *length});
  layer.addLambda({std::move(parameters), std::move(*body)});
  return success();
}

/// `scan_columns<float, 8>(label, space, Span{0, rows}, Span{0, 8}, length, [=](int row, int j, int i, float &sum, bool
/// is_final) { ... })`
LogicalResult LoopPrinter::printColumnScan(scf::ForOp loop) {
  bool const isGrid = positions.size() > 1;
  FailureOr<Expression> const outer = isGrid ? rows() : Expression(), columns = span(positions.size() - 1);
  FailureOr<Expression> const length = host(loop.getUpperBound());
  if (failed(outer) || failed(columns) || failed(length))
    return failure();
  std::vector<Expression> arguments = {*columns, *length};
  std::vector<cpp::Parameter> parameters = {cpp::intParameter(positions.back())};
  if (isGrid) {
    arguments.insert(arguments.begin(), *outer);
    parameters.insert(parameters.begin(), cpp::intParameter(fused ? row : positions.front()));
  }
  FailureOr<Body> body = bodyOfScan(loop, parameters);
  if (failed(body) || failed(recover(fusedLoops(), *body)))
    return failure();
  Code const scalar = computedType(loop.getRegionIterArg(0).getType()).code;
  layer.setCall(scalar + Raw(", ") + Code(layer.schedule.getLanes()), std::move(arguments));
  layer.addLambda({std::move(parameters), std::move(*body)});
  return success();
}

} // namespace ml2k
