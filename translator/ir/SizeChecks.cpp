//===- SizeChecks.cpp - what forward() asks of run-time sizes -----------------------------------------------------===//

#include "translator/ir/SizeChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k;

using Value64 = SizeChecks::Value64;

//===--- Values ---------------------------------------------------------------------------------------------------===//

unsigned SizeChecks::symbolOf(Symbol symbol) {
  unsigned const next = symbols.size();
  unsigned const number = symbol.dim >= 0 ? extentSymbols.try_emplace(symbol.name, next).first->second
                                          : valueSymbols.try_emplace(symbol.value, next).first->second;
  if (number == next)
    symbols.push_back(std::move(symbol));
  return number;
}

bool SizeChecks::isOfEntry(Value value) {
  auto const argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &entry.getBody().front();
}

Value64 SizeChecks::extentOfArgument(BlockArgument argument, int64_t dim) {
  auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
  return Polynomial::ofSymbol(symbolOf({argument, dim, cast<StringAttr>(names[dim]).str(), true}));
}

/// Narrow ones wrap, and one bit is no number.
static bool isWide(Type type) { return type.isIndex() || (type.isInteger() && type.getIntOrFloatBitWidth() >= 32); }

/// Values that many others lead to are nothing, too: those are no positions of loops.
Value64 SizeChecks::polynomial(Value value) {
  if (auto const found = known.find(value); found != known.end())
    return found->second;
  if (depth == 64)
    return std::nullopt;
  ++depth;
  Value64 const result = computed(value);
  --depth;
  return known[value] = result;
}

Value64 SizeChecks::polynomialOf(OpFoldResult value) {
  if (auto const constant = dyn_cast<Attribute>(value))
    return Polynomial(cast<IntegerAttr>(constant).getInt());
  return polynomial(cast<Value>(value));
}

Value64 SizeChecks::computed(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return Polynomial(constant.getSExtValue());
  if (auto const found = valueSymbols.find(value); found != valueSymbols.end())
    return Polynomial::ofSymbol(found->second);
  if (isOfEntry(value) && isWide(value.getType()))
    return Polynomial::ofSymbol(symbolOf({value, -1, nameOf(value)}));
  Operation *op = value.getDefiningOp();
  if (!op || !isWide(value.getType()) || (!value.getType().isIndex() && !isa<arith::IndexCastOp>(op)))
    return std::nullopt;
  // One after the other: sizes stand in messages in the order in which they are asked for
  auto const joined = [&](auto const &join) {
    Value64 const right = polynomial(op->getOperand(1)), left = polynomial(op->getOperand(0));
    return join(left, right);
  };
  auto const asked = [&](auto dim) {
    return dim.getConstantIndex() ? extent(dim.getSource(), *dim.getConstantIndex()) : std::nullopt;
  };
  return TypeSwitch<Operation *, Value64>(op)
      .Case<arith::AddIOp>([&](auto) { return joined([](auto &a, auto &b) { return sum(a, b, 1); }); })
      .Case<arith::SubIOp>([&](auto) { return joined([](auto &a, auto &b) { return sum(a, b, -1); }); })
      .Case<arith::MulIOp>([&](auto) { return joined([](auto &a, auto &b) { return product(a, b); }); })
      .Case<arith::IndexCastOp>([&](auto) { return polynomial(op->getOperand(0)); })
      .Case<memref::DimOp, tensor::DimOp>(asked)
      .Default([](Operation *) { return std::nullopt; });
}

std::string SizeChecks::nameOf(Value number) {
  unsigned const place = cast<BlockArgument>(number).getArgNumber();
  auto const name = entry.getArgAttrOfType<StringAttr>(place, "nest.name");
  return name ? name.str() : "argument " + std::to_string(place);
}

Value64 SizeChecks::sum(Value64 const &a, Value64 const &b, int64_t factor) {
  return a ? a->plus(b, factor) : std::nullopt;
}

Value64 SizeChecks::product(Value64 const &a, Value64 const &b) { return a ? a->times(b) : std::nullopt; }

int SizeChecks::signOf(Polynomial const &value) const {
  bool isPositive = true, isNegative = true;
  for (auto const &[product, factor] : value.terms()) {
    if (llvm::any_of(product, [&](unsigned symbol) { return !symbols[symbol].isNatural; }))
      return 0;
    (factor > 0 ? isNegative : isPositive) = false;
  }
  return isPositive ? 1 : isNegative ? -1 : 0;
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

void SizeChecks::enter(Value index, Value lower, Value upper, Value step) {
  Loop loop{symbolOf({index, -1, ""}), polynomial(lower), polynomial(upper)};
  loop.isDense = !step || matchPattern(step, m_One());
  bool const isNatural = loop.lower && signOf(*loop.lower) > 0;
  symbols[loop.index].isNatural = isNatural;
  // It runs, so that its upper bound is larger than its lower one
  if (isNatural && loop.upper && loop.upper->terms().size() == 1)
    if (Polynomial::Product const &end = loop.upper->terms().begin()->first; end.size() == 1)
      symbols[end.front()].isNatural = true;
  loops.push_back(std::move(loop));
}

Value64 SizeChecks::extreme(Value64 value, bool largest) {
  for (Loop const &loop : llvm::reverse(loops)) {
    if (!value || !value->contains(loop.index))
      continue;
    Value64 const factor = value->factorOf(loop.index);
    int const sign = factor ? signOf(*factor) : 0;
    bool const isAtEnd = (sign > 0) == largest;
    bool const isKnown = sign != 0 && (!isAtEnd || loop.isDense) && &loop >= loops.data() + firstLoop;
    if (!isKnown)
      return std::nullopt;
    Value64 const at = isAtEnd ? sum(loop.upper, Polynomial(1), -1) : loop.lower;
    Value64 const rest = sum(value, product(factor, Polynomial::ofSymbol(loop.index)), -1);
    value = sum(rest, product(factor, at), 1);
  }
  return value;
}

//===--- Requirements ---------------------------------------------------------------------------------------------===//

void SizeChecks::atMostZero(Value64 const &value) {
  if (!value || value->isConstant() || signOf(*value) < 0)
    return;
  int64_t const constant = value->constant();
  Value64 const variable = value->plus(Polynomial(constant), -1);
  if (!variable)
    return;
  auto const [found, isNew] = needed.try_emplace(*variable, constant);
  found->second = std::max(found->second, constant);
}

void SizeChecks::zero(Value64 const &value) {
  atMostZero(value);
  atMostZero(sum(Polynomial(), value, -1));
}

void SizeChecks::inBranch(Block &block, llvm::function_ref<void()> visit) {
  std::map<Polynomial, int64_t> outside = std::move(needed);
  unsigned const first = std::exchange(firstLoop, loops.size());
  needed.clear();
  visit();
  for (auto const &[value, most] : outside)
    needed.erase(value);
  write(block);
  firstLoop = first;
  needed = std::move(outside);
}

AffineExpr SizeChecks::affine(Polynomial const &value, SmallVectorImpl<std::string> &names) const {
  MLIRContext *context = entry->getContext();
  AffineExpr total = getAffineConstantExpr(value.constant(), context);
  for (auto const &[product, factor] : value.terms()) {
    if (product.empty())
      continue;
    AffineExpr term;
    for (unsigned number : product) {
      std::string const &name = symbols[number].name;
      if (name.empty())
        return {};
      auto found = llvm::find(names, name);
      if (found == names.end())
        found = names.insert(found, name);
      AffineExpr const symbol = getAffineSymbolExpr(std::distance(names.begin(), found), context);
      term = term ? term * symbol : symbol;
    }
    total = total + term * factor;
  }
  return total;
}

//===--- Checks ---------------------------------------------------------------------------------------------------===//

void SizeChecks::add(OpBuilder &builder, Side &side, Value term, std::string const &text) {
  side.value = side.value ? builder.create<arith::AddIOp>(entry.getLoc(), side.value, term).getResult() : term;
  side.text += (side.text.empty() ? "" : " + ") + text;
}

Value SizeChecks::valueOf(OpBuilder &builder, Symbol const &symbol) {
  Location const location = entry.getLoc();
  if (symbol.dim >= 0 && isa<TensorType>(symbol.value.getType()))
    return builder.create<tensor::DimOp>(location, symbol.value, symbol.dim);
  if (symbol.dim >= 0)
    return builder.create<memref::DimOp>(location, symbol.value, symbol.dim);
  if (symbol.value.getType().isIndex())
    return symbol.value;
  return builder.create<arith::IndexCastOp>(location, builder.getIndexType(), symbol.value);
}

void SizeChecks::addTerm(OpBuilder &builder, Side &side, Polynomial::Product const &product, int64_t factor) {
  Value value;
  std::string text;
  auto const times = [&](Value by, std::string const &name) {
    value = value ? builder.create<arith::MulIOp>(entry.getLoc(), value, by).getResult() : by;
    text += (text.empty() ? "" : " * ") + name;
  };
  if (factor != 1 || product.empty())
    times(builder.create<arith::ConstantIndexOp>(entry.getLoc(), factor), std::to_string(factor));
  for (unsigned symbol : product)
    times(valueOf(builder, symbols[symbol]), symbols[symbol].name);
  add(builder, side, value, text);
}

/// `less` <= `more` says that `value` + `constant` is at most 0.
std::pair<SizeChecks::Side, SizeChecks::Side> SizeChecks::sidesOf(OpBuilder &builder, Polynomial const &value,
                                                                  int64_t constant) {
  Side less, more;
  for (auto const &[product, factor] : value.terms())
    addTerm(builder, factor > 0 ? less : more, product, std::abs(factor));
  if (constant != 0 || !less.value || !more.value)
    addTerm(builder, constant > 0 || (constant == 0 && !less.value) ? less : more, {}, std::abs(constant));
  if (!less.value || !more.value)
    addTerm(builder, less.value ? more : less, {}, 0);
  return {less, more};
}

/// The opposite is needed, too.
bool SizeChecks::isEquality(Polynomial const &value, int64_t constant) const {
  Value64 const opposite = Polynomial().plus(value, -1);
  auto const found = opposite ? needed.find(*opposite) : needed.end();
  return found != needed.end() && found->second == -constant;
}

/// Of an equality and its opposite: the one whose last extent among the arguments has to be the rest.
bool SizeChecks::isOfLast(Polynomial const &value) const {
  int64_t last = -1;
  bool isPositive = false;
  for (auto const &[product, factor] : value.terms())
    for (unsigned symbol : product) {
      if (symbols[symbol].dim < 0)
        continue;
      int64_t const place = cast<BlockArgument>(symbols[symbol].value).getArgNumber();
      if (place > last)
        isPositive = factor > 0;
      last = std::max(last, place);
    }
  return isPositive || (last < 0 && value < *Polynomial().plus(value, -1));
}

/// Extents are named before what they have to be is: `y_size has to be x_size + 1`.
static bool isNumberOf(Polynomial const &value, std::string const &more) {
  return value.terms().begin()->second > 0 && more.find_first_not_of("0123456789") == more.npos;
}

void SizeChecks::write(Block &block) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (auto const &[value, constant] : needed) {
    bool const isEqual = isEquality(value, constant);
    if (isEqual && !isOfLast(value))
      continue; // the opposite says it
    auto const [less, more] = sidesOf(builder, value, constant);
    auto const predicate = isEqual ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle;
    Value const holds = builder.create<arith::CmpIOp>(entry.getLoc(), predicate, less.value, more.value);
    std::string const text = isEqual                        ? less.text + " has to be " + more.text
                             : isNumberOf(value, more.text) ? less.text + " has to be at most " + more.text
                                                            : more.text + " has to be at least " + less.text;
    bool const isSaid =
        llvm::any_of(block.getOps<cf::AssertOp>(), [&](cf::AssertOp check) { return check.getMsg() == text; });
    if (!isSaid)
      builder.create<cf::AssertOp>(entry.getLoc(), holds, text);
  }
  needed.clear();
}
