//===- ControlFlow.cpp - scf inside kernels as C++ statements -----------------------------------------------------===//
//
// Results of a branch and values that a loop carries become variables. A loop's values change as a set: where a new
// value depends on an old one that was assigned before it, it goes through a constant.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/scalars/Nouns.h"
#include "translator/emit/scalars/UnsignedForms.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

/// `targets = values` all at once; those in `natural` are unsigned variables.
static LogicalResult assignAll(ScalarPrinter &printer, ValueRange values, ArrayRef<Identifier> targets, Body &to,
                               ArrayRef<bool> natural = {}) {
  FailureOr<SmallVector<Expression>> expressions = printer.use(values);
  if (failed(expressions))
    return failure();
  for (auto [expression, isNatural] : llvm::zip(*expressions, natural))
    if (isNatural)
      expression = expression.unsignedForm().value_or(expression);
  // A value that mentions a target assigned before it is computed first
  for (size_t i = 1; i < targets.size(); ++i)
    for (size_t before = 0; before < i; ++before)
      if ((*expressions)[before] != cpp::name(targets[before]) && uses((*expressions)[i], targets[before])) {
        (*expressions)[i] = printer.let(to, values[i].getType(), (*expressions)[i], {"next_" + targets[i].str()});
        break;
      }
  for (auto [target, expression] : llvm::zip(targets, *expressions))
    if (expression != cpp::name(target))
      to.push_back(cpp::Assign{cpp::name(target), expression});
  return success();
}

/// Whether each step adds to what a loop carries.
static bool isRunningSum(Value value) {
  auto const carried = dyn_cast<BlockArgument>(value);
  auto loop = carried ? dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp()) : scf::ForOp();
  OpOperand *const next = loop ? loop.getTiedLoopYieldedValue(carried) : nullptr;
  Operation *const add = next ? next->get().getDefiningOp() : nullptr;
  return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) && llvm::is_contained(add->getOperands(), value);
}

/// A variable for what a loop carries: as the text calls it, without a number if it is the same one in front.
static Identifier declare(ScalarPrinter &printer, Value value, Value init, Expression const &initial, Body &to) {
  ScalarPrinter::Nouns nouns = {"carried", "state", "current"};
  if (isRunningSum(value))
    nouns.insert(nouns.begin(), {std::string("total"), std::string("sum")});
  nouns = withSourceName(value, nouns);
  std::string const variable = sourceVariable(value);
  if (!variable.empty() && variable == sourceVariable(init))
    nouns.insert(nouns.begin(), variable);
  Identifier const name = printer.names.fresh(nouns);
  to.push_back(cpp::Variable{computedType(value.getType()), name, {}, initial});
  return name;
}

/// The same, unsigned where the loop begins with such a number and asks for one.
static std::optional<Identifier> declareUnsigned(ScalarPrinter &printer, Value initial, BlockArgument value,
                                                 Expression const &expression, Body &to) {
  if (!expression.unsignedForm() || !wantsUnsigned(value))
    return std::nullopt;
  Identifier const name = printer.names.fresh(withSourceName(value, {"carried", "state", "current"}));
  to.push_back(cpp::Variable{unsignedScalarType(value.getType()), name, {}, *unsignedFormOf(initial, expression)});
  return name;
}

/// A variable that a loop carries, which may be unsigned.
static Expression carriedAs(Value value, Identifier const &name, bool isNatural) {
  return isNatural ? cpp::cast(computedType(value.getType()).code, cpp::name(name)).withUnsignedForm(cpp::name(name))
                   : cpp::name(name);
}

/// Declares a variable per value and binds it to `bindTo`.
static FailureOr<std::vector<Identifier>> declareAll(ScalarPrinter &printer, ValueRange initial, ValueRange bindTo,
                                                     Body &to) {
  std::vector<Identifier> names;
  FailureOr<SmallVector<Expression>> expressions = printer.use(initial);
  if (failed(expressions))
    return failure();
  for (auto [expression, init, value] : llvm::zip(*expressions, initial, bindTo)) {
    names.push_back(declare(printer, value, init, expression, to));
    printer.bind(value, cpp::name(names.back()));
  }
  return names;
}

static LogicalResult printBranch(ScalarPrinter &printer, Region &region, ArrayRef<Identifier> targets, Body &to) {
  if (region.empty())
    return success();
  Block &block = region.front();
  if (failed(printer.print(block, to)) || failed(assignAll(printer, block.back().getOperands(), targets, to)))
    return failure();
  cpp::Let const *const let = to.size() == 2 ? to.front().as<cpp::Let>() : nullptr;
  cpp::Assign *const assign = let ? to.back().as<cpp::Assign>() : nullptr;
  if (assign && assign->value == cpp::name(let->name)) { // a choice within a choice needs no name
    assign->value = let->value;
    to.erase(to.begin());
  }
  return success();
}

/// The value of a branch that only chooses one for the first of `targets`, else null: a branch that keeps it may store.
static Expression const *chosenIn(Body const &statements, ArrayRef<Identifier> targets) {
  cpp::Assign const *assign = statements.size() == 1 ? statements.front().as<cpp::Assign>() : nullptr;
  bool const isChoice = assign && targets.size() == 1 && assign->target == cpp::name(targets.front());
  return isChoice ? &assign->value : nullptr;
}

//===--- One variable for a value that changes ---===//

/// Whether what is made of `value` may be printed behind `op`, which changes the variable that it is read from.
static bool isSeenBehind(Value value, Operation *op) {
  constexpr unsigned most = 256; // operations that are looked at
  SmallVector<Value> work = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!work.empty()) {
    if (seen.size() > most)
      return true;
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *const here = op->getBlock()->findAncestorOpInBlock(*user);
      if (here && here != op && !here->isBeforeInBlock(op))
        return true;
      if (here != op && seen.insert(user).second) // an expression in front, of which others are made
        llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

/// What the second part of the loop, and those behind it, get is what the loop carries, as it is: the places of that.
static std::optional<SmallVector<unsigned>> placesHandedOn(scf::WhileOp loop) {
  SmallVector<unsigned> places;
  for (Value value : loop.getConditionOp().getArgs()) {
    auto const argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != loop.getBeforeBody() || llvm::is_contained(places, argument.getArgNumber()))
      return std::nullopt;
    places.push_back(argument.getArgNumber());
  }
  return places;
}

/// The argument of the second part that the loop carries at `place`, if there is one.
static BlockArgument handedOn(scf::WhileOp loop, unsigned place) {
  std::optional<SmallVector<unsigned>> const places = placesHandedOn(loop);
  auto const *found = places ? llvm::find(*places, place) : nullptr;
  return places && found != places->end() ? loop.getAfterArguments()[found - places->begin()] : BlockArgument();
}

/// The value of a loop around that result `place` of a branch or loop becomes, with nothing but branches in between:
/// one variable is enough. Null if there is none, or if something wants the old value later.
static BlockArgument carriedBy(Operation *op, unsigned place) {
  Value const result = op->getResult(place);
  OpOperand *const use = result.hasOneUse() ? &*result.use_begin() : nullptr;
  if (!use || use->getOwner() != op->getBlock()->getTerminator())
    return {};
  BlockArgument carried;
  if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
    carried = loop.getRegionIterArg(use->getOperandNumber());
  else if (auto loop = dyn_cast<scf::WhileOp>(op->getParentOp()); loop && op->getBlock() == loop.getAfterBody())
    carried = handedOn(loop, use->getOperandNumber());
  else if (isa<scf::IfOp>(op->getParentOp()))
    carried = carriedBy(op->getParentOp(), use->getOperandNumber());
  return carried && !isSeenBehind(carried, op) ? carried : BlockArgument();
}

std::optional<Identifier> variableNextHeldBy(Value value, ScalarPrinter &printer) {
  Operation *const op = value.getDefiningOp();
  Operation *const end = op && op->getBlock()->mightHaveTerminator() ? op->getBlock()->getTerminator() : nullptr;
  auto const isYield = [&](OpOperand &use) { return use.getOwner() == end; };
  if (!isa_and_nonnull<scf::YieldOp>(end) || llvm::count_if(value.getUses(), isYield) != 1)
    return std::nullopt;
  unsigned const place = llvm::find_if(value.getUses(), isYield)->getOperandNumber();
  BlockArgument carried;
  if (auto loop = dyn_cast<scf::ForOp>(end->getParentOp()))
    carried = loop.getRegionIterArg(place);
  else if (auto loop = dyn_cast<scf::WhileOp>(end->getParentOp()); loop && op->getBlock() == loop.getAfterBody())
    carried = handedOn(loop, place);
  std::string const name = sourceVariable(value);
  if (!carried || !printer.isBound(carried) || (!name.empty() && name != sourceVariable(carried)) ||
      isSeenBehind(carried, op))
    return std::nullopt;
  FailureOr<Expression> const text = printer.use(carried);
  return succeeded(text) && (*text)->kind == cpp::Kind::Name ? std::optional(*(*text)->name) : std::nullopt;
}

/// The value of `variable` that `value` is computed from in its own block, if a front end says that it is one.
static Value earlierValue(Value value, StringRef variable, ScalarPrinter &printer, unsigned &steps) {
  Operation *const op = value.getDefiningOp();
  for (Value operand : op->getOperands()) {
    Operation *const before = operand.getDefiningOp();
    if (!before || before->getBlock() != op->getBlock() || steps == 0)
      continue;
    --steps;
    if (sourceVariable(operand) == variable && (before->hasAttr("nest.let") || printer.changed.contains(operand)))
      return operand;
    if (Value const found = earlierValue(operand, variable, printer, steps))
      return found;
  }
  return {};
}

std::optional<Identifier> variableChangedBy(Value value, ScalarPrinter &printer, Body &to) {
  Operation *const op = value.getDefiningOp();
  std::string const name = op ? sourceVariable(value) : "";
  unsigned steps = 16;
  Value const earlier = name.empty() ? Value() : earlierValue(value, name, printer, steps);
  if (!earlier || earlier.getType() != value.getType() || !printer.isBound(earlier) || isSeenBehind(earlier, op))
    return std::nullopt;
  FailureOr<Expression> const text = printer.use(earlier);
  if (failed(text) || (*text)->kind != cpp::Kind::Name)
    return std::nullopt;
  constexpr size_t most = 64; // statements in between
  for (cpp::Statement &statement : MutableArrayRef<cpp::Statement>(to).take_back(std::min(most, to.size())))
    if (auto *const let = statement.as<cpp::Let>(); let && cpp::name(let->name) == *text) {
      printer.changing[let->name] = &to;
      statement = cpp::Variable{let->type, let->name, {}, let->value};
    }
  auto const known = printer.changing.find(*(*text)->name);
  if (known == printer.changing.end() || known->second != &to)
    return std::nullopt;
  printer.changed.insert(value);
  return (*text)->name;
}

/// The name of that, where it has one.
static std::optional<Identifier> changedBy(Operation *op, unsigned place, ScalarPrinter &printer) {
  BlockArgument const carried = carriedBy(op, place);
  if (!carried || !printer.isBound(carried))
    return std::nullopt;
  FailureOr<Expression> const text = printer.use(carried);
  return succeeded(text) && (*text)->kind == cpp::Kind::Name ? std::optional(*(*text)->name) : std::nullopt;
}

/// What the text calls a result or, if it has no name, what a branch yields for it.
static ScalarPrinter::Nouns nounsOf(OpResult result) {
  auto branch = cast<scf::IfOp>(result.getOwner());
  ScalarPrinter::Nouns const nouns{"chosen", "result"}, own = withSourceName(result, nouns);
  if (own.size() > nouns.size())
    return own;
  for (Region &region : branch->getRegions()) {
    Value yielded = region.front().getTerminator()->getOperand(result.getResultNumber());
    ScalarPrinter::Nouns const inside = withSourceName(yielded, nouns);
    if (yielded.getParentRegion() == &region && inside.size() > nouns.size())
      return inside;
  }
  return nouns;
}

/// `found < end && at(found) == column` where the other branch is false.
static Expression choice(Expression const &condition, Expression const &yes, Expression const &no) {
  if (no == cpp::boolLiteral(false))
    return binary(condition, "&&", Rank::And, yes);
  return yes == cpp::boolLiteral(true) ? binary(condition, "||", Rank::Or, no) : conditional(condition, yes, no);
}

/// Whether all that happens to what a branch chooses is a store, another branch or the end of a loop, which it decides,
/// in the same block, and the text has no name for it.
static bool isForNext(scf::IfOp branch) {
  Value const chosen = branch.getResult(0);
  Operation *const user = chosen.hasOneUse() ? *chosen.user_begin() : nullptr;
  auto store = dyn_cast_or_null<memref::StoreOp>(user);
  auto end = dyn_cast_or_null<scf::ConditionOp>(user);
  bool const isNext = (store && store.getValue() == chosen) || isa_and_nonnull<scf::IfOp>(user) ||
                      (end && end.getCondition() == chosen);
  return isNext && user->getBlock() == branch->getBlock() && withSourceName(chosen, {}).empty();
}

static LogicalResult printIf(Operation *op, ScalarPrinter &printer, Body &to) {
  auto branch = cast<scf::IfOp>(op);
  if (branch->hasAttr(nest::everyOther) && nest::goesToEveryOther(branch->getParentOfType<nest::LoopKernelOp>()))
    return printBranch(printer, branch.getThenRegion(), {}, to);
  FailureOr<Expression> condition = printer.use(branch.getCondition());
  if (failed(condition))
    return failure();
  printer.settleReads(to);
  std::vector<Identifier> targets;
  bool isNew = false;
  for (OpResult result : branch->getResults()) {
    std::optional<Identifier> const changed = changedBy(branch, result.getResultNumber(), printer);
    targets.push_back(changed ? *changed : printer.names.fresh(nounsOf(result)));
    if (!changed)
      to.push_back(cpp::Variable{computedType(result.getType()), targets.back()});
    isNew |= !changed;
    printer.bind(result, cpp::name(targets.back()));
  }
  Body yes, no;
  if (failed(printBranch(printer, branch.getThenRegion(), targets, yes)) ||
      failed(printBranch(printer, branch.getElseRegion(), targets, no)))
    return failure();
  Expression const *whenTrue = chosenIn(yes, targets), *const whenFalse = chosenIn(no, targets);
  constexpr size_t longest = 60;
  auto const isChoice = [](Expression const *value) { return value->kind() == cpp::Kind::Conditional; };
  if (whenTrue && whenFalse && (isChoice(whenTrue) || isChoice(whenFalse)) &&
      (isChoice(whenTrue) == isChoice(whenFalse) || whenTrue->width() > longest || whenFalse->width() > longest))
    whenTrue = nullptr; // `a ? (b ? x : y) : c ? z : w` is hard to read
  if (whenTrue && whenFalse && !isNew) {
    to.push_back(cpp::Assign{cpp::name(targets[0]), choice(*condition, *whenTrue, *whenFalse)});
    return success();
  }
  if (whenTrue && whenFalse && isForNext(branch)) {
    to.pop_back(); // the declaration of the variable
    printer.bindLater(branch.getResult(0), choice(*condition, *whenTrue, *whenFalse));
    return success();
  }
  if (whenTrue && whenFalse) {
    to.pop_back();
    to.push_back(
        cpp::Let{computedType(branch.getResult(0).getType()), targets[0], choice(*condition, *whenTrue, *whenFalse)});
    return success();
  }
  bool const isOtherwise = yes.empty() && !no.empty();
  if (branch->hasAttr(nest::earlyLoads))
    condition = call(Raw("likely"), {*condition}, "likely");
  if (isOtherwise)
    to.push_back(cpp::If{unary("!", *condition), std::move(no), {}});
  else if (!yes.empty())
    to.push_back(cpp::If{*condition, std::move(yes), std::move(no)});
  return success();
}

/// True if the loop goes on with what a loop around it carries, which has it back: one variable is enough.
static bool goesOn(scf::ForOp loop, unsigned place) {
  BlockArgument const carried = carriedBy(loop, place);
  return carried && loop.getInitArgs()[place] == carried && llvm::none_of(carried.getUsers(), [&](Operation *user) {
           return loop->isProperAncestor(user) || (user == loop && llvm::count(loop->getOperands(), carried) > 1);
         });
}

/// One statement that needs no braces around it.
static bool isOneLine(Body const &body) {
  return body.size() == 1 &&
         (body.front().as<cpp::Assign>() || body.front().as<cpp::Add>() || body.front().as<cpp::For>());
}

/// `end - 1`
static FailureOr<Expression> lastBefore(Value end, ScalarPrinter &printer) {
  Operation *const op = end.getDefiningOp();
  APInt number;
  if (matchPattern(end, m_ConstantInt(&number)))
    return literal(number.getSExtValue() - 1);
  if (auto rest = end.getDefiningOp<arith::SubIOp>(); rest && matchPattern(rest.getLhs(), m_ConstantInt(&number))) {
    FailureOr<Expression> const less = printer.use(rest.getRhs());
    return failed(less) ? less : binary(literal(number.getSExtValue() - 1), "-", Rank::Add, *less);
  }
  bool const isSum = isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) && op->getResult(0).getType().isIndex() &&
                     matchPattern(op->getOperand(1), m_ConstantInt(&number));
  int64_t const distance = (isSum ? isa<arith::AddIOp>(op) ? number.getSExtValue() : -number.getSExtValue() : 0) - 1;
  FailureOr<Expression> const base = printer.use(isSum ? op->getOperand(0) : end);
  if (failed(base) || distance == 0)
    return base;
  return binary(*base, distance > 0 ? Raw("+") : Raw("-"), Rank::Add, literal(std::abs(distance)));
}

FailureOr<cpp::For> loopHead(scf::ForOp loop, ScalarPrinter &printer) {
  FailureOr<SmallVector<Expression>> const bounds =
      printer.use({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (failed(bounds))
    return failure();
  cpp::For head{Raw("k"), (*bounds)[0], operand((*bounds)[1], Rank::Add), (*bounds)[2], {}};
  if (nest::countsDown(loop)) {
    FailureOr<Expression> const last = lastBefore(loop.getUpperBound(), printer);
    if (failed(last))
      return failure();
    std::tie(head.begin, head.end, head.isDown) = std::tuple(*last, operand((*bounds)[0], Rank::Add), true);
  }
  return head;
}

void bindIndex(scf::ForOp loop, cpp::For &head, ScalarPrinter &printer) {
  ScalarPrinter::Nouns const nouns = withSourceName(loop.getInductionVar(), {"k", "m", "l", "step"});
  head.index = printer.names.fresh(withSourceName(nest::shownIndex(loop), nouns));
  printer.bind(loop.getInductionVar(), cpp::name(head.index));
  printer.bind(nest::shownIndex(loop), cpp::name(head.index));
}

LogicalResult printFor(Operation *op, ScalarPrinter &printer, Body &to) {
  auto loop = cast<scf::ForOp>(op);
  FailureOr<cpp::For> head = loopHead(loop, printer);
  if (failed(head))
    return failure();
  std::vector<Identifier> carried;
  SmallVector<bool> natural;
  for (unsigned place = 0; place < loop.getNumResults(); ++place) {
    FailureOr<Expression> initial = printer.use(loop.getInitArgs()[place]);
    if (failed(initial))
      return failure();
    BlockArgument const argument = loop.getRegionIterArg(place);
    std::optional<Identifier> const own = declareUnsigned(printer, loop.getInitArgs()[place], argument, *initial, to);
    bool const isKnown = !own && (*initial)->kind == cpp::Kind::Name && goesOn(loop, place);
    carried.push_back(own       ? *own
                      : isKnown ? *(*initial)->name
                                : declare(printer, argument, loop.getInitArgs()[place], *initial, to));
    natural.push_back(own.has_value());
    printer.bind(argument, carriedAs(argument, carried.back(), natural.back()));
  }
  printer.settleReads(to);
  Scope const outside = printer.names; // the loops behind this one may have the name of its index
  bindIndex(loop, *head, printer);
  Block &block = *loop.getBody();
  if (failed(printer.print(block, head->body)) ||
      failed(assignAll(printer, block.back().getOperands(), carried, head->body, natural)))
    return failure();
  head->isLine = isOneLine(head->body);
  printer.names = outside;
  to.push_back(std::move(*head));
  for (auto [result, name, isNatural] : llvm::zip(loop.getResults(), carried, natural))
    printer.bind(result, carriedAs(result, name, isNatural));
  return success();
}

/// `while (condition) { after; }` where the condition is an expression of what the loop carries on; nothing else
/// otherwise.
static FailureOr<bool> printPlainWhile(scf::WhileOp loop, ArrayRef<Identifier> carried, ScalarPrinter &printer,
                                       Body &to) {
  ScalarPrinter const outside = printer; // which the handlers know, so that the trial is its own
  Body before, body;
  std::optional<SmallVector<unsigned>> const places = placesHandedOn(loop);
  if (!places)
    return false;
  if (failed(printer.print(*loop.getBeforeBody(), before)))
    return failure();
  if (!before.empty()) {
    printer = outside;
    return false;
  }
  FailureOr<Expression> const condition = printer.use(loop.getConditionOp().getCondition());
  if (failed(condition))
    return failure();
  for (auto [argument, result, place] : llvm::zip(loop.getAfterArguments(), loop.getResults(), *places)) {
    printer.bind(argument, cpp::name(carried[place]));
    printer.bind(result, cpp::name(carried[place]));
  }
  Block &after = *loop.getAfterBody();
  if (failed(printer.print(after, body)) || failed(assignAll(printer, after.back().getOperands(), carried, body)))
    return failure();
  to.push_back(cpp::While{std::move(body), *condition});
  return true;
}

/// `while (true) { before; if (!condition) break; after; }`
static LogicalResult printWhile(Operation *op, ScalarPrinter &printer, Body &to) {
  auto loop = cast<scf::WhileOp>(op);
  printer.settleReads(to);
  FailureOr<std::vector<Identifier>> carried = declareAll(printer, loop.getInits(), loop.getBeforeArguments(), to);
  if (failed(carried))
    return failure();
  if (FailureOr<bool> const isPlain = printPlainWhile(loop, *carried, printer, to); failed(isPlain) || *isPlain)
    return success(succeeded(isPlain));
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
