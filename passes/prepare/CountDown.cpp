//===- CountDown.cpp - loops from the last index to the first -----------------------------------------------------===//
//
// Loops of MLIR go up: what goes down a column from its top counts steps and reads at `n - 1 - step`. Where all uses of
// an index are `first - index` and its neighbours, the loop is over those: in any order where the order is free, and
// printed as `for (int k = n - 1; k >= 0; --k)` where it is not.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Rewrite.h"
#include "passes/lower/loops/LinearForms.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/SparseLevels.h"
#include "translator/ir/StoredRows.h"
#include "translator/ir/Strips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RUNFORWARD
#define GEN_PASS_DEF_COUNTDOWN
#include "passes/prepare/Passes.h.inc"

/// A form without what cancels out.
static Linear difference(Linear a, Linear const &b) {
  Linear result;
  if (a.add(b, -1))
    result.constant = a.constant;
  for (auto [symbol, coefficient] : a.terms)
    if (coefficient != 0)
      result.terms[symbol] = coefficient;
  return result;
}

/// `n - i + 1`: of what the text can show as a bound.
static bool isSimple(Linear const &form) {
  auto const isTerm = [](auto const &term) { return std::abs(term.second) == 1 && term.first.getType().isIndex(); };
  auto const isAdded = [](auto const &term) { return term.second == 1; };
  return form.terms.size() <= 2 && llvm::all_of(form.terms, isTerm) &&
         (form.terms.empty() || form.constant > 0 || llvm::any_of(form.terms, isAdded));
}

/// Whether another loop moves the bound.
static bool movesWithLoop(Linear const &form) {
  return llvm::any_of(llvm::make_first_range(form.terms), [](Value symbol) {
    auto const argument = dyn_cast<BlockArgument>(symbol);
    return symbol.getDefiningOp<nest::FromEndOp>() ||
           (argument && !isa<func::FuncOp>(argument.getOwner()->getParentOp()));
  });
}

static Value constantOf(OpBuilder &builder, Location location, int64_t number) {
  return builder.create<arith::ConstantIndexOp>(location, number);
}

static Value plus(OpBuilder &builder, Location location, Value value, int64_t number) {
  if (number == 0)
    return value;
  Value const distance = constantOf(builder, location, std::abs(number));
  return number > 0 ? Value(builder.create<arith::AddIOp>(location, value, distance))
                    : builder.create<arith::SubIOp>(location, value, distance);
}

/// The value of a simple form: `8 - i` if nothing but the number is added.
static Value valueOf(OpBuilder &builder, Location location, Linear const &form) {
  Value sum;
  for (auto [symbol, coefficient] : form.terms)
    if (coefficient > 0)
      sum = sum ? Value(builder.create<arith::AddIOp>(location, sum, symbol)) : symbol;
  int64_t const rest = sum ? form.constant : 0;
  if (!sum)
    sum = constantOf(builder, location, form.constant);
  for (auto [symbol, coefficient] : form.terms)
    if (coefficient < 0)
      sum = builder.create<arith::SubIOp>(location, sum, symbol);
  return plus(builder, location, sum, rest);
}

namespace {

/// An index of which only `first - index` and numbers next to it are used.
class Countdown {
public:
  static std::optional<Countdown> of(Operation *loop, Value index, Value begin, Value end);

  /// The ascending bounds of what is used.
  Value begin(OpBuilder &builder) const { return valueOf(builder, loop->getLoc(), least); }
  Value end(OpBuilder &builder) const { return valueOf(builder, loop->getLoc(), behind); }
  bool isShared() const;
  void replaceUses(Value shown) const;
  Location location() const;

private:
  Countdown(Operation *loop, Value index) : loop(loop), index(index) {}
  bool collect();
  bool chooseFirst();

  struct Use {
    Value value;
    unsigned count;
    int64_t distance = 0; ///< from first - index
  };

  Operation *loop;
  Value index;
  SmallVector<Value> arithmetic; ///< each is computed from one before it
  SmallVector<Use> uses;
  Linear first, least, behind;
};

} // namespace

/// Values that depend on the index as `number - index` does. False where something else is used.
bool Countdown::collect() {
  constexpr size_t most = 64;
  auto const isOutside = [&](Value value) { // or computed inside of what is
    return llvm::none_of(llvm::make_first_range(linearForm(value).terms),
                         [&](Value symbol) { return loop->getRegion(0).isAncestor(symbol.getParentRegion()); });
  };
  SmallVector<Value> work = {index};
  for (size_t next = 0; next < work.size(); ++next) {
    Value const value = work[next];
    unsigned others = 0;
    for (OpOperand &use : value.getUses()) {
      Operation *const user = use.getOwner();
      unsigned const place = use.getOperandNumber();
      bool const isSum = isa<arith::AddIOp, arith::SubIOp>(user) && user->getResult(0).getType().isIndex() &&
                         isOutside(user->getOperand(1 - place));
      bool const isGoingDown = isa<arith::SubIOp>(user) && place == 1;
      if (isSum && (value == index ? isGoingDown : !isGoingDown))
        work.push_back(user->getResult(0));
      else if (value == index)
        return false;
      else
        ++others;
    }
    if (others > 0)
      uses.push_back({value, others});
    if (work.size() > most)
      return false;
  }
  arithmetic.assign(std::next(work.begin()), work.end());
  return !uses.empty();
}

/// What is used most becomes the index that the text shows. False where uses differ by more than numbers.
bool Countdown::chooseFirst() {
  Linear const some = linearForm(uses.front().value);
  std::map<int64_t, unsigned> counts;
  for (Use &use : uses) {
    Linear const from = difference(linearForm(use.value), some);
    if (!from.terms.empty())
      return false;
    use.distance = from.constant;
    counts[use.distance] += use.count;
  }
  auto const chosen = llvm::max_element(counts, [](auto const &a, auto const &b) { return a.second < b.second; });
  for (Use &use : uses)
    use.distance -= chosen->first;
  Linear own, distance;
  own.terms[index] = -1;
  distance.constant = -chosen->first;
  first = difference(difference(some, own), distance);
  return !first.terms.count(index);
}

std::optional<Countdown> Countdown::of(Operation *loop, Value index, Value begin, Value end) {
  Countdown found(loop, index);
  if (!index.getType().isIndex() || !found.collect() || !found.chooseFirst())
    return std::nullopt;
  Linear one;
  one.constant = -1;
  Linear const above = difference(found.first, one); // first + 1
  found.least = difference(above, linearForm(end));
  found.behind = difference(above, linearForm(begin));
  // `x[i - k]` of a few k is a window that moves, not a loop that goes down to somewhere
  bool const isWindow = movesWithLoop(found.least) && movesWithLoop(found.behind);
  bool const fits = isSimple(found.least) && isSimple(found.behind) && !isWindow;
  return fits ? std::optional(found) : std::nullopt;
}

/// Whether the bounds are made of what all columns of a strip share: values from outside of the kernel and indices of
/// loops of the strip.
bool Countdown::isShared() const {
  auto const kernel = loop->getParentOfType<nest::LoopKernelOp>();
  auto const isOutside = [&](Value symbol) {
    auto const argument = dyn_cast<BlockArgument>(symbol);
    Operation *const owner = argument ? argument.getOwner()->getParentOp() : nullptr;
    return !kernel->isAncestor(symbol.getParentRegion()->getParentOp()) ||
           (owner && owner != kernel && owner->hasAttr(nest::stripLoop));
  };
  return llvm::all_of(llvm::make_first_range(least.terms), isOutside) &&
         llvm::all_of(llvm::make_first_range(behind.terms), isOutside);
}

void Countdown::replaceUses(Value shown) const {
  for (Use const &use : uses) {
    OpBuilder builder(use.value.getDefiningOp());
    Value const now = plus(builder, use.value.getLoc(), shown, use.distance);
    llvm::SmallPtrSet<Operation *, 8> own;
    for (Value value : arithmetic)
      own.insert(value.getDefiningOp());
    Value(use.value).replaceUsesWithIf(now, [&](OpOperand &operand) { return !own.contains(operand.getOwner()); });
  }
  SmallVector<Operation *> unused;
  for (Value value : arithmetic)
    if (value.use_empty())
      unused.push_back(value.getDefiningOp());
  llvm::for_each(unused, eraseUnused);
}

/// `from_end "at"` where the text has a name for what is used.
Location Countdown::location() const {
  for (Use const &use : uses) {
    auto const named = use.distance == 0 ? dyn_cast<NameLoc>(use.value.getLoc()) : NameLoc();
    auto const [kind, name] = named ? named.getName().getValue().split(" \"") : std::pair<StringRef, StringRef>();
    if (named && kind == use.value.getDefiningOp()->getName().stripDialect())
      return NameLoc::get(StringAttr::get(loop->getContext(), "from_end \"" + name), named.getChildLoc());
  }
  return loop->getLoc();
}

static void setBound(OpOperand &bound, Value now) {
  Operation *const before = bound.get().getDefiningOp();
  bound.set(now);
  if (before)
    eraseUnused(before);
}

static void setBounds(scf::ForOp loop, Countdown const &found) {
  OpBuilder builder(loop);
  setBound(loop.getLowerBoundMutable(), found.begin(builder));
  setBound(loop.getUpperBoundMutable(), found.end(builder));
}

static bool isNaive(func::FuncOp function) { return function->hasAttr("nest.naive"); }

/// The iterations of a kernel do not depend on each other.
static void runForward(nest::LoopKernelOp kernel) {
  if (kernel.getOrdered() || kernel.getPolicy() == nest::Policy::Team || nest::storedRowsOf(kernel))
    return;
  for (unsigned i = 0; i < kernel.getLowers().size(); ++i) {
    Value const index = kernel.getBody().getArgument(i);
    auto const found = Countdown::of(kernel, index, kernel.getLowers()[i], kernel.getUppers()[i]);
    if (!found)
      continue;
    OpBuilder builder(kernel);
    setBound(kernel.getLowersMutable()[i], found->begin(builder));
    setBound(kernel.getUppersMutable()[i], found->end(builder));
    found->replaceUses(index);
  }
}

static void runForward(scf::ForOp loop) {
  if (!loop->hasAttr(sumsInAnyOrder) || !matchPattern(loop.getStep(), m_One()))
    return;
  auto const found = Countdown::of(loop, loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound());
  if (!found)
    return;
  setBounds(loop, *found);
  found->replaceUses(loop.getInductionVar());
}

/// Whether it is printed as a loop of C++.
static bool isPlain(scf::ForOp loop) {
  auto const kernel = loop->getParentOfType<nest::LoopKernelOp>();
  return matchPattern(loop.getStep(), m_One()) && !(kernel && nest::storedRowsOf(kernel)) &&
         llvm::all_of(loop->getDiscardableAttrs(), [](NamedAttribute attribute) {
           return attribute.getName() == "nest.note" || attribute.getName() == nest::stripLoop;
         });
}

static void countDown(scf::ForOp loop) {
  if (!isPlain(loop))
    return;
  auto const found = Countdown::of(loop, loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound());
  if (!found || (loop->hasAttr(nest::stripLoop) && !found->isShared()))
    return;
  setBounds(loop, *found);
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  found->replaceUses(
      builder.create<nest::FromEndOp>(found->location(), loop.getInductionVar().getType(), loop.getInductionVar()));
}

namespace {
struct RunForward : impl::RunForwardBase<RunForward> {
  void runOnOperation() override {
    if (isNaive(getOperation()))
      return;
    getOperation().walk([](nest::LoopKernelOp kernel) { runForward(kernel); });
    getOperation().walk([](scf::ForOp loop) { runForward(loop); });
  }
};

struct CountDown : impl::CountDownBase<CountDown> {
  void runOnOperation() override {
    if (!isNaive(getOperation()))
      getOperation().walk([](scf::ForOp loop) { countDown(loop); });
  }
};
} // namespace

} // namespace ml2k
