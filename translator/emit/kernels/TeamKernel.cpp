//===- TeamKernel.cpp - nest.kernel of teams: Kokkos::TeamPolicy --------------------------------------------------===//
//
// A team for each position of the kernel. Its threads share the loops inside; what one thread does alone is a
// Kokkos::single; memory of the team is scratch. Where each position is a row (Teams.h), for_rows does the same.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"
#include "translator/ir/Teams.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

/// The dimensions of a loop of threads.
struct LoopPrinter::Threads {
  std::vector<Identifier> names;
  SmallVector<Expression> lowers, uppers, lengths;
};

void LoopPrinter::handleTeam() {
  if (isOfRows())
    printer.names.take("along");
  team = printer.names.fresh({"team", "members"});
  level = layer.scope.fresh({"level", "scratch_memory"});
  printer.handle("scf.parallel", [this](Operation *op, ScalarPrinter &, Body &to) {
    return printThreads(cast<scf::ParallelOp>(op), to);
  });
  printer.handle("nest.barrier", [this](Operation *, ScalarPrinter &p, Body &to) {
    p.settleReads(to);
    if (!isOfRows()) // loops along rows end with one
      to.push_back(cpp::Run{call(cpp::member(cpp::name(team), Raw("team_barrier")), {})});
    return success();
  });
  for (StringRef operation : {"memref.store", "scf.for", "scf.if", "cf.assert", "vector.print"})
    handleOnce(operation);
}

/// What has effects stands in a Kokkos::single, the one of its neighbour if there is one.
void LoopPrinter::handleOnce(StringRef operation) {
  printer.handle(operation, [this, plain = printer.handlerOf(operation)](Operation *op, ScalarPrinter &p, Body &to) {
    if (inThread || nest::teamPartOf(op) != nest::TeamPart::Once)
      return plain(op, p, to);
    p.settleReads(to);
    Body body;
    inThread = true;
    LogicalResult const result = plain(op, p, body);
    inThread = false;
    if (isOfRows()) {
      cpp::addOnce(to, std::move(body));
      return result;
    }
    auto *single = to.empty() ? nullptr : to.back().as<cpp::Pattern>();
    if (!single || single->function != Raw("Kokkos::single"))
      to.push_back(cpp::Pattern{Raw("Kokkos::single"), {call(Raw("Kokkos::PerTeam"), {cpp::name(team)})}, {}, {}});
    llvm::append_range(to.back().as<cpp::Pattern>()->body, body);
    return result;
  });
}

//===--- Loops of threads -----------------------------------------------------------------------------------------===//

FailureOr<LoopPrinter::Threads> LoopPrinter::threadsOf(scf::ParallelOp loop) {
  static StringRef const letters[] = {"i", "j", "k", "l"};
  FailureOr<SmallVector<Expression>> const lowers = printer.use(loop.getLowerBound()),
                                           uppers = printer.use(loop.getUpperBound());
  if (failed(lowers) || failed(uppers))
    return failure();
  Threads threads{{}, *lowers, *uppers, {}};
  for (auto [i, index] : llvm::enumerate(loop.getInductionVars())) {
    std::string const letter = letters[std::min<size_t>(i, 3)].str();
    threads.names.push_back(printer.names.fresh(withSourceName(index, {letter, letter + letter, letter + "_index"})));
    printer.bind(index, cpp::name(threads.names.back()));
    Expression const &lower = threads.lowers[i], &upper = threads.uppers[i];
    std::optional<int64_t> const begin = lower.constant(), end = upper.constant();
    threads.lengths.push_back(lower.is(0)    ? upper
                              : begin && end ? literal(*end - *begin)
                                             : binary(upper, "-", Rank::Add, operand(lower, Rank::Multiply)));
  }
  return threads;
}

static Expression spanOf(Expression const &lower, Expression const &upper) {
  return cpp::braces(Raw("Span"), {lower, upper});
}

/// `for_threads(team, Span{0, 16}, Span{0, 16}, [&](int ty, int tx) { ... });`
LogicalResult LoopPrinter::printThreads(scf::ParallelOp loop, Body &to) {
  printer.settleReads(to);
  size_t const outside = printer.names.count();
  FailureOr<Threads> const threads = threadsOf(loop);
  if (failed(threads))
    return failure();
  Body body;
  inThread = true;
  LogicalResult const result = printer.print(*loop.getBody(), body);
  inThread = false;
  if (failed(result))
    return failure();
  if (loop.getNumResults() > 0)
    return printJoined(loop, *threads, std::move(body), outside, to);
  if (isOfRows()) {
    printer.names.release(outside);
    to.push_back(cpp::Each{threads->uppers[0], cpp::intParameter(threads->names[0]), std::move(body)});
    return success();
  }
  size_t const rank = threads->names.size(), last = rank - 1;
  std::vector<Expression> arguments = {cpp::name(team)};
  std::vector<cpp::Parameter> parameters;
  if (rank == 2) {
    arguments.push_back(spanOf(threads->lowers[0], threads->uppers[0]));
    parameters.push_back(cpp::intParameter(threads->names[0]));
  } else if (rank > 2) {
    Identifier const rows = printer.names.fresh({"row", "row_index"});
    recoverFrom(rows, ArrayRef(threads->names).drop_back(), ArrayRef(threads->lowers).drop_back(),
                ArrayRef(threads->lengths).drop_back(), body);
    arguments.push_back(spanOf(literal(0), product(ArrayRef(threads->lengths).drop_back())));
    parameters.push_back(cpp::intParameter(rows));
  }
  arguments.push_back(spanOf(threads->lowers[last], threads->uppers[last]));
  parameters.push_back(cpp::intParameter(threads->names[last]));
  printer.names.release(outside);
  to.push_back(
      cpp::Pattern{Raw("for_threads"), std::move(arguments), std::move(parameters), std::move(body), "for_threads"});
  return success();
}

/// `float const total = fold_threads<Sum>(team, Span{0, n}, [&](int i) { return x(i); });`
LogicalResult LoopPrinter::printJoined(scf::ParallelOp loop, Threads const &threads, Body body, size_t outside,
                                       Body &to) {
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  nest::Combiner const combiner = *nest::combinerOf(reduce.getReductions()[0]);
  Value const result = loop.getResult(0);
  FailureOr<Expression> const term = printer.use(reduce.getOperands()[0]);
  if (failed(term))
    return failure();
  bool const isLine = threads.names.size() == 1;
  Identifier const index = isLine ? threads.names[0] : printer.names.fresh({"thread", "thread_index"});
  if (!isLine) {
    body.push_back(cpp::Return{*term}); // uses of indices count
    recoverFrom(index, threads.names, threads.lowers, threads.lengths, body);
    body.pop_back();
  }
  Expression const range =
      isLine ? spanOf(threads.lowers[0], threads.uppers[0]) : spanOf(literal(0), product(threads.lengths));
  printer.names.release(outside);
  bool const isFirst = isOfRows() && nest::isFirstPlace(loop) && term->kind() == cpp::Kind::Conditional;
  ScalarPrinter::Nouns const nouns = isFirst ? ScalarPrinter::Nouns{"place", "position"} : accumulatorNouns(combiner);
  Identifier const name = printer.names.fresh(withSourceName(result, nouns));
  if (isFirst) {
    cpp::Fold first{computedType(result.getType()),
                    name,
                    combinerName(combiner),
                    threads.uppers[0],
                    cpp::intParameter(index),
                    std::move(body),
                    (*term)->parts[0]};
    first.isFirst = true;
    to.push_back(std::move(first));
    printer.bind(result, cpp::name(name));
    return success();
  }
  if (isOfRows())
    to.push_back(cpp::Fold{computedType(result.getType()), name, combinerName(combiner), threads.uppers[0],
                           cpp::intParameter(index), std::move(body), *term});
  else
    to.push_back(cpp::Joined{computedType(result.getType()),
                             name,
                             "fold_threads",
                             combinerName(combiner),
                             {cpp::name(team), range},
                             cpp::intParameter(index),
                             std::move(body),
                             *term,
                             "fold_threads"});
  Attribute constant;
  if (matchPattern(loop.getInitVals()[0], m_Constant(&constant)) && isa<TypedAttr>(constant)) {
    printer.bind(result, joined(combiner, cast<TypedAttr>(constant), cpp::name(name)));
    return success();
  }
  FailureOr<Expression> const initial = printer.use(loop.getInitVals()[0]);
  if (failed(initial))
    return failure();
  printer.bind(result, printer.let(to, result.getType(), joined(combiner, *initial, cpp::name(name)), {"joined"}));
  return success();
}

//===--- Memory of a team -----------------------------------------------------------------------------------------===//

/// `TeamArray<float, 16, 16> tile(team, level);`, or of threads `OfThreads<float, 16, 16> sum;`
LogicalResult LoopPrinter::printTeamArray(memref::AllocaOp array, Body &to) {
  MemRefType const type = array.getType();
  bool const isOfThreads = array->hasAttr(nest::ofThreads);
  Code const scalar = scalarType(type.getElementType()).code;
  Identifier const name = printer.names.fresh(
      withSourceName(array.getResult(), isOfThreads ? ScalarPrinter::Nouns{"own", "own_values"}
                                                    : ScalarPrinter::Nouns{"tile", "shared", "scratch"}));
  called.insert(array);
  arrays[array] = cpp::name(name);
  Code code = Code(isOfThreads ? Raw("OfThreads<") : Raw("TeamArray<")) + scalar;
  for (int64_t extent : type.getShape())
    code += Raw(", ") + Code(extent);
  cpp::Type declared(code + Raw(">"));
  declared.block = isOfThreads ? Raw("of_threads") : Raw("team_array");
  if (isOfThreads) {
    to.push_back(cpp::Variable{declared, name});
    return success();
  }
  to.push_back(cpp::View{declared, name, {cpp::name(team), cpp::name(level)}});
  to.back().as<cpp::View>()->isConst = false;
  scratchSizes.push_back(call(declared.code + Raw("::bytes"), {}, "team_array"));
  return success();
}

//===--- The call -------------------------------------------------------------------------------------------------===//

/// `Kokkos::parallel_for(label, teams(space, rows * columns, 16, 16), KOKKOS_LAMBDA(Team const &team) { ... })`
LogicalResult LoopPrinter::printTeams(Body statements) {
  unsigned const loops = positions.size();
  FailureOr<Group> const all = groupOf(0, loops, "block");
  if (failed(all) || failed(recover(*all, statements)))
    return failure();
  FailureOr<Expression> const league = count(*all);
  if (failed(league))
    return failure();
  if (usesOf(statements).contains(all->name))
    statements.insert(statements.begin(),
                      letInt(all->name, call(cpp::member(cpp::name(team), Raw("league_rank")), {})));
  Expression policy =
      call(Raw("teams"),
           {cpp::name(Raw("space")), *league, literal(layer.schedule.getThreads()), literal(layer.schedule.getLanes())},
           "teams");
  if (!scratchSizes.empty()) {
    Expression bytes = scratchSizes[0];
    for (Expression const &size : ArrayRef<Expression>(scratchSizes).drop_front())
      bytes = binary(bytes, "+", Rank::Add, size);
    Identifier const name = layer.scope.fresh({"scratch_bytes", "bytes_of_scratch"});
    layer.addLocal({Raw("std::size_t")}, name, bytes);
    layer.addLocal(intType(), level, call(Raw("scratch_level"), {layer.labelText(), cpp::name(name)}, "team_array"));
    policy = call(cpp::member(policy, Raw("set_scratch_size")),
                  {cpp::name(level), call(Raw("Kokkos::PerTeam"), {cpp::name(name)})});
  }
  layer.needBlock("teams");
  layer.setPolicyCall("Kokkos::parallel_for", policy);
  layer.addLambda({{{Raw("Team"), team, Raw(" const &")}}, std::move(statements)});
  return success();
}

/// `for_rows(label, space, rows, m, KOKKOS_LAMBDA(int row, Row const &along) { ... })`, whose longest loop has m
/// iterations
LogicalResult LoopPrinter::printTeamRows(Body statements) {
  FailureOr<Group> const all = groupOf(0, positions.size(), "row");
  if (failed(all) || failed(recover(*all, statements)))
    return failure();
  FailureOr<Expression> const rows = count(*all);
  if (failed(rows))
    return failure();
  std::vector<Expression> lengths;
  WalkResult const known = kernel.walk([&](scf::ParallelOp loop) {
    FailureOr<Expression> const length = host(loop.getUpperBound()[0]);
    if (succeeded(length))
      if (Expression const number = narrowed(loop.getUpperBound()[0], *length); !llvm::is_contained(lengths, number))
        lengths.push_back(number);
    return failed(length) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (known.wasInterrupted())
    return failure();
  Expression longest = lengths.front();
  for (Expression const &length : ArrayRef<Expression>(lengths).drop_front())
    longest = call(Raw("Kokkos::max"), {longest, length});
  layer.setCall({*rows, longest});
  layer.addLambda({{cpp::intParameter(all->name), rowParameter(Raw("Row"))}, std::move(statements)});
  return success();
}

} // namespace ml2k
