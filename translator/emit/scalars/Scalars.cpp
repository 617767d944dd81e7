//===- Scalars.cpp - the scalar operations of a region as C++ statements and expressions --------------------------===//

#include "translator/emit/scalars/Nouns.h"
#include "translator/emit/scalars/UnsignedForms.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

LogicalResult unprintable(Operation *op, llvm::Twine const &why) {
  return op->emitError("has no printed form, although it was checked: ") << why;
}

/// What the model calls the operation.
static StringRef identityOf(Value value) {
  auto const name = value.getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : "";
}

Expression ScalarPrinter::let(Body &to, Type type, Expression const &value, Nouns const &nouns, StringRef identity) {
  Identifier const name = names.fresh(nouns, identity);
  changing.erase(name);
  to.push_back(cpp::Let{computedType(type), name, value});
  return cpp::name(name);
}

Expression ScalarPrinter::letValue(Body &to, Value value, Expression const &expression, Nouns const &nouns,
                                   StringRef identity) {
  std::optional<Expression> const form = expression.unsignedForm();
  if (!form || !isBetterUnsigned(value))
    return let(to, value.getType(), expression, nouns, identity);
  Identifier const name = names.fresh(nouns, identity);
  changing.erase(name);
  to.push_back(cpp::Let{unsignedScalarType(value.getType()), name, *form});
  return cpp::cast(computedType(value.getType()).code, cpp::name(name)).withUnsignedForm(cpp::name(name));
}

Expression ScalarPrinter::repeatable(Expression const &operand, Type type) {
  return operand.isSimple() || !current || isChain ? operand : let(*current, type, operand, {"x", "y", "z", "value"});
}

void ScalarPrinter::bindLater(Value value, Expression expression) {
  expression.readsMemory = true;
  pendingReads.push_back(value);
  bound[value] = std::move(expression);
}

void ScalarPrinter::bindRead(Value value, Expression read, Body &to) {
  if (value.use_empty())
    return;
  read.readsMemory = true;
  Nouns const nouns = readNouns(value, read);
  if (auto const form = read.unsignedForm())
    read = cpp::cast(scalarType(value.getType()).code, read).withUnsignedForm(*form);
  if (readsBools && value.getType().isInteger(1))
    read = call(Raw("is_set"), {read}, "is_set");
  if (isStoredNarrow(value.getType()))
    read = cpp::cast(Raw("float"), read).withHalfForm(read);
  place(value, std::move(read), nouns, to);
}

/// Values that the text names are told apart earlier.
unsigned ScalarPrinter::mostWidth(Value value) const {
  constexpr unsigned unnamed = 100;
  if (withSourceName(value, {}).empty())
    return unnamed;
  return isNamedOnPurpose(value) ? longest / 2 : longest;
}

/// `i + 1` or `3 * i` of the index of a loop: as easy to read as a name for it.
static bool isNeighbour(Value value, Expression const &expression) {
  Operation *op = value.getDefiningOp();
  auto const isIndex = [](Value operand) {
    return isa<BlockArgument>(operand) || operand.getDefiningOp<nest::FromEndOp>();
  };
  return value.getType().isIndex() && op && isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
         isIndex(op->getOperand(0)) && matchPattern(op->getOperand(1), m_Constant()) && expression.width() <= 10;
}

static bool isSum(Operation *op) { return op && isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp>(op); }

/// A part of a sum that goes on in the same variable: lines of it are easier to read than names for parts.
static bool goesOn(Value value, Operation *user, Expression const &expression) {
  constexpr size_t longestTerm = 60, longestSum = 320;
  if (!isSum(value.getDefiningOp()) || !isSum(user) || user->getOperand(0) != value ||
      expression->kind != cpp::Kind::Binary || expression->rank != Rank::Add)
    return false;
  return expression->parts[1].width() <= longestTerm && expression.width() <= longestSum &&
         sourceVariable(value) == sourceVariable(user->getResult(0));
}

/// `3.0 * u`: as easy to read as a name that says nothing, and computed once all the same.
static bool isPlain(Value value, Expression const &expression) {
  constexpr size_t longestPlain = 16;
  constexpr unsigned mostUses = 3;
  Operation *const op = value.getDefiningOp();
  auto const isNear = [&](Operation *user) { return user->getBlock() == value.getParentBlock(); };
  bool const isPart = isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op);
  if (!isPart || expression.readsMemory || expression.width() > longestPlain ||
      llvm::hasNItemsOrMore(value.getUses(), mostUses + 1) || !llvm::all_of(value.getUsers(), isNear) ||
      !withSourceName(value, {}).empty())
    return false;
  bool isArithmetic = true;
  cpp::walk(expression, [&](cpp::Node const &node) {
    isArithmetic = isArithmetic &&
                   (node.kind == cpp::Kind::Name || node.kind == cpp::Kind::Literal || node.kind == cpp::Kind::Unary ||
                    node.kind == cpp::Kind::Binary || node.kind == cpp::Kind::Parentheses);
  });
  return isArithmetic;
}

/// Inline where it is used once, in the same block; else a constant of its own.
void ScalarPrinter::place(Value value, Expression expression, Nouns const &nouns, Body &to) {
  bool const isShort = expression.isWord() || expression.width() < 3 || isNeighbour(value, expression);
  bool const literalOrName = !expression.readsMemory && isShort;
  Operation *user = value.hasOneUse() ? *value.getUsers().begin() : nullptr;
  bool const once = user && user->getBlock() == value.getParentBlock();
  auto store = dyn_cast_or_null<memref::StoreOp>(user);
  bool const isLast = once && (user->hasTrait<OpTrait::IsTerminator>() || (store && store.getValue() == value) ||
                               user->hasAttr("nest.adds"));
  bool const isReadable = expression.width() < mostWidth(value) || goesOn(value, user, expression);
  bool const inlined = (once && (isLast || isReadable)) || isPlain(value, expression);
  Operation *own = value.getDefiningOp();
  bool const isOfBranch = once && isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp()); // which has a name
  bool const isSeen = own && own->hasAttr("nest.let") && !isOfBranch; // a pass wants it to be
  bool const named = isSeen || (isNamed && isNamed(value));
  if (isChain || (literalOrName && !isSeen) || (inlined && !named)) {
    if (expression.readsMemory)
      pendingReads.push_back(value);
    bound[value] = std::move(expression);
    return;
  }
  std::optional<Identifier> variable = variableNextHeldBy(value, *this);
  if (!variable)
    variable = variableChangedBy(value, *this, to);
  if (variable) {
    to.push_back(cpp::Assign{cpp::name(*variable), std::move(expression)});
    bound[value] = cpp::name(*variable);
    return;
  }
  bound[value] = letValue(to, value, expression, nouns, identityOf(value));
}

/// What the last addition of a sum is called, or the kind.
static ScalarPrinter::Nouns sumNouns(Value sum) {
  while (sum.hasOneUse() && sum.getUsers().begin()->hasAttr("nest.adds"))
    sum = sum.getUsers().begin()->getResult(0);
  return withSourceName(sum, {"total", "sum"});
}

/// `total += term`, behind a variable `total` if the sum begins.
LogicalResult ScalarPrinter::printSum(Operation *op, Body &to) {
  bool const isFromNumber = matchPattern(op->getOperand(1), m_Constant());
  Value const before = op->getOperand(isFromNumber ? 1 : 0);
  FailureOr<Expression> sum = use(before), term = use(op->getOperand(isFromNumber ? 0 : 1));
  if (failed(sum) || failed(term))
    return failure();
  Operation *const part = before.getDefiningOp();
  if (!part || !part->hasAttr("nest.adds") || part->getBlock() != op->getBlock()) {
    Identifier const name = names.fresh(sumNouns(op->getResult(0)));
    to.push_back(cpp::Variable{computedType(op->getResult(0).getType()), name, {}, *sum});
    sum = cpp::name(name);
  }
  to.push_back(cpp::Add{*sum, *term});
  bound[op->getResult(0)] = *sum;
  return success();
}

/// What a value is called in front of which something is written: `new_u` where it will be stored to `u`.
ScalarPrinter::Nouns ScalarPrinter::settledNouns(Value value) const {
  auto store = value.hasOneUse() ? dyn_cast<memref::StoreOp>(*value.user_begin()) : memref::StoreOp();
  bool const isComputed = !isa_and_nonnull<memref::LoadOp>(value.getDefiningOp());
  std::string const target = store && isComputed && memoryName ? memoryName(store.getMemref()) : "";
  return target.empty() || target.back() == '_' ? readNouns(value, bound.at(value))
                                                : withSourceName(value, {"new_" + target});
}

/// What several statements use and one stores is called after where: `k_01`, in front of `nouns`.
ScalarPrinter::Nouns ScalarPrinter::storedNouns(Value value, Nouns nouns) {
  auto const isStored = [&](Operation *user) {
    auto store = dyn_cast<memref::StoreOp>(user);
    return store && store.getValue() == value && store->getBlock() == value.getParentBlock();
  };
  auto const isKnown = [&](Value position) {
    auto const found = bound.find(position);
    return matchPattern(position, m_Constant()) || (found != bound.end() && !found->second.readsMemory);
  };
  Operation *first = nullptr;
  for (Operation *user : llvm::make_filter_range(value.getUsers(), isStored))
    if (!first || user->isBeforeInBlock(first))
      first = user;
  if (!first || value.hasOneUse() || !memoryName)
    return nouns;
  auto store = cast<memref::StoreOp>(first);
  std::string const memory = memoryName(store.getMemref());
  if (memory.empty() || !llvm::all_of(store.getIndices(), isKnown))
    return nouns;
  FailureOr<SmallVector<Expression>> const positions = use(store.getIndices());
  std::string const noun = succeeded(positions) ? elementNoun(memory, *positions) : "";
  if (!noun.empty())
    nouns.insert(nouns.begin(), noun);
  return nouns;
}

void ScalarPrinter::settleReads(Body &to) {
  for (Value value : pendingReads)
    bound[value] = letValue(to, value, bound[value], settledNouns(value));
  pendingReads.clear();
}

/// Whether what an expression reads may be in that memory.
static bool readsFrom(Value value, Value memref, llvm::function_ref<bool(Value, Value)> mayMeet,
                      llvm::function_ref<bool(Value)> isInline) {
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<memref::LoadOp>(op))
    return mayMeet(load.getMemref(), memref);
  if (!op || !isPure(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isInline(operand) && readsFrom(operand, memref, mayMeet, isInline);
  });
}

void ScalarPrinter::settleReads(Body &to, Value memref, llvm::function_ref<bool(Value, Value)> mayMeet) {
  constexpr size_t most = 16; // of which each is looked at for each write
  if (pendingReads.size() > most)
    return settleReads(to);
  auto const isInline = [&](Value operand) {
    auto const found = bound.find(operand);
    return found != bound.end() && found->second.readsMemory;
  };
  std::vector<Value> later;
  for (Value value : pendingReads)
    if (readsFrom(value, memref, mayMeet, isInline))
      bound[value] = letValue(to, value, bound[value], settledNouns(value));
    else
      later.push_back(value);
  pendingReads = std::move(later);
}

FailureOr<Expression> ScalarPrinter::use(Value value) {
  llvm::erase(pendingReads, value);
  TypedAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && isa<FloatAttr, IntegerAttr>(constant))
    return literal(constant);
  auto found = bound.find(value);
  if (found != bound.end())
    return found->second;
  if (outside)
    if (FailureOr<Expression> known = outside(value); succeeded(known))
      return *known;
  Operation *owner = value.getDefiningOp();
  if (!owner)
    owner = value.getParentBlock()->getParentOp();
  return unprintable(owner, "a value that nothing has printed");
}

FailureOr<SmallVector<Expression>> ScalarPrinter::use(ValueRange values) {
  SmallVector<Expression> expressions;
  for (Value value : values) {
    FailureOr<Expression> expression = use(value);
    if (failed(expression))
      return failure();
    expressions.push_back(std::move(*expression));
  }
  return expressions;
}

/// The integer in front of casts to other widths.
static Value wordOf(Value value) {
  while (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

FailureOr<Expression> ScalarPrinter::chain(ArrayRef<Operation *> operations, Value value) {
  for (Operation *op : operations)
    bound.erase(op->getResult(0));
  isChain = true;
  Body none;
  LogicalResult const result = print(operations, none);
  isChain = false;
  return failed(result) ? FailureOr<Expression>() : use(value);
}

LogicalResult ScalarPrinter::print(Block &block, Body &to) {
  size_t const outside = names.count();
  ++depth;
  for (Operation &op : block.without_terminator())
    if (failed(printOperation(&op, to)))
      return failure();
  if (--depth > 0)
    names.release(outside); // names of an inner block are free after it
  return success();
}

LogicalResult ScalarPrinter::print(ArrayRef<Operation *> operations, Body &to) {
  return success(llvm::all_of(operations, [&](Operation *op) { return succeeded(printOperation(op, to)); }));
}

LogicalResult ScalarPrinter::printOperation(Operation *op, Body &to) {
  bool const isKnown = op->getNumResults() == 1 && isBound(op->getResult(0)); // a block computes it
  if (isKnown || isa<arith::ConstantOp>(op))
    return success();
  if (auto found = handlers.find(op->getName().getStringRef().str()); found != handlers.end())
    return found->second(op, *this, to);
  if (op->hasAttr("nest.adds"))
    return printSum(op, to);
  ScalarEntry const *entry = lookUpScalar(op->getName().getStringRef());
  if (!entry)
    return unprintable(op, "no scalar operation");
  FailureOr<SmallVector<Expression>> operands = use(op->getOperands());
  if (failed(operands))
    return failure();
  current = &to;
  FailureOr<Expression> expression = entry->print(op, *operands, *this);
  current = nullptr;
  if (failed(expression))
    return failure();
  Nouns nouns =
      withSourceName(op->getResult(0), storedNouns(op->getResult(0), indexNouns(op->getResult(0), entry->nouns)));
  Value const word = isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) ? wordOf(op->getOperand(0)) : Value();
  if (word && word.getDefiningOp<memref::LoadOp>()) // called as what was read; the index of a loop has its name already
    nouns = withSourceName(word, nouns);
  if (auto name = op->getAttrOfType<StringAttr>("nest.name")) // what a pass knows it to be
    nouns.insert(nouns.begin(), name.str());
  place(op->getResult(0), std::move(*expression), nouns, to);
  return success();
}

} // namespace ml2k
