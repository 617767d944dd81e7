//===- BoundsProof.cpp - elements that the bounds of loops keep apart ---------------------------------------------===//
//
// Two accesses meet if all of their subscripts are equal. Of that, of the bounds of all loops whose indices take part,
// and of the conditions around them, a system of linear inequalities is made. Where it has no solution, they never
// meet. Fourier and Motzkin's elimination looks for one among the rationals; it gives up where the system grows.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/BoundsProof.h"

#include "passes/lower/loops/LinearForms.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

constexpr unsigned mostColumns = 12, mostInequalities = 32, mostGuards = 16;

/// What two sides say, each of values of its own in `inside`, both of the same values outside.
class System {
public:
  explicit System(Operation *inside) : inside(inside) {}

  /// a >= b + least
  void addAtLeast(Linear const &a, unsigned sideOfA, Linear const &b, unsigned sideOfB, int64_t least) {
    if (auto row = difference(a, sideOfA, b, sideOfB); row && rows.size() < mostInequalities) {
      row->constant -= least;
      rows.push_back(*row);
    }
  }

  void addAtLeast(Value a, Value b, int64_t least, unsigned side) {
    addAtLeast(linearForm(a), side, linearForm(b), side, least);
  }

  void addEqual(Value a, Value b) {
    if (auto const row = difference(linearForm(a), 0, linearForm(b), 1))
      equalities.push_back(*row);
  }

  /// Conditions that hold where `op` runs.
  void addGuards(Operation *op, unsigned side) {
    for (unsigned i = 0; i < mostGuards && op && op->getParentOp(); ++i, op = op->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(op->getParentOp()))
        if (auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>())
          addComparison(compare, op->getParentRegion() == &branch.getThenRegion(), side);
  }

  bool hasNoSolution() {
    addBounds();
    unsigned const unknowns = columns.size();
    presburger::IntegerPolyhedron all(presburger::PresburgerSpace::getSetSpace(unknowns));
    for (Row const &row : rows)
      all.addInequality(dense(row));
    for (Row const &row : equalities)
      all.addEquality(dense(row));
    return all.isEmpty();
  }

private:
  struct Row {
    SmallVector<std::pair<unsigned, int64_t>> terms;
    int64_t constant;
  };

  SmallVector<llvm::DynamicAPInt> dense(Row const &row) const {
    SmallVector<llvm::DynamicAPInt> numbers(columns.size() + 1, llvm::DynamicAPInt(0));
    for (auto [column, coefficient] : row.terms)
      numbers[column] += coefficient;
    numbers.back() = row.constant;
    return numbers;
  }

  static LoopLikeOpInterface loopOf(Value index) {
    auto const argument = dyn_cast<BlockArgument>(index);
    auto around = argument ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp()) : LoopLikeOpInterface();
    std::optional<SmallVector<Value>> const indices = around ? around.getLoopInductionVars() : std::nullopt;
    return indices && llvm::is_contained(*indices, index) ? around : LoopLikeOpInterface();
  }

  /// Nothing for what an iteration computes.
  std::optional<unsigned> columnOf(Value value, unsigned side) {
    bool const isInside = inside->isAncestor(value.getParentRegion()->getParentOp());
    if (isInside && !loopOf(value))
      return std::nullopt;
    std::pair<Value, unsigned> const key(value, isInside ? side : 0);
    if (auto const *known = columns.find(key); known != columns.end())
      return known->second;
    if (columns.size() == mostColumns)
      return std::nullopt;
    unsigned const place = columns.size();
    columns[key] = place;
    return place;
  }

  std::optional<Row> difference(Linear const &a, unsigned sideOfA, Linear const &b, unsigned sideOfB) {
    Row row;
    if (llvm::SubOverflow(a.constant, b.constant, row.constant) || std::abs(row.constant / 2) > (int64_t(1) << 60))
      return std::nullopt;
    for (auto [form, side, sign] : {std::tuple(&a, sideOfA, 1), std::tuple(&b, sideOfB, -1)})
      for (auto [symbol, coefficient] : form->terms) {
        std::optional<unsigned> const column = coefficient ? columnOf(symbol, side) : std::optional(0u);
        if (!column || coefficient == std::numeric_limits<int64_t>::min())
          return std::nullopt;
        row.terms.push_back({*column, sign * coefficient});
      }
    return row;
  }

  void addComparison(arith::CmpIOp compare, bool holds, unsigned side) {
    Value const a = compare.getLhs(), b = compare.getRhs();
    using Predicate = arith::CmpIPredicate;
    Predicate const predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
    if (predicate == Predicate::sge || predicate == Predicate::eq)
      addAtLeast(a, b, 0, side);
    if (predicate == Predicate::sle || predicate == Predicate::eq)
      addAtLeast(b, a, 0, side);
    if (predicate == Predicate::sgt)
      addAtLeast(a, b, 1, side);
    if (predicate == Predicate::slt)
      addAtLeast(b, a, 1, side);
  }

  /// c * floor(x / c) is x or up to c - 1 less; c * ceil(x / c) as much more.
  void addQuotient(Value value, unsigned side) {
    Operation *const op = value.getDefiningOp();
    APInt divisor;
    bool const isOfSize = isa_and_nonnull<arith::DivUIOp, arith::DivSIOp>(op) &&
                          op->getOperand(0).getDefiningOp<memref::DimOp>(); // not negative
    bool const isFloor = isOfSize || isa_and_nonnull<arith::FloorDivSIOp>(op);
    if (!(isFloor || isa_and_nonnull<arith::CeilDivSIOp>(op)) ||
        !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive() ||
        divisor.getSignificantBits() > 32)
      return;
    Linear product;
    if (!product.add(linearForm(value), divisor.getSExtValue()))
      return;
    Linear const whole = linearForm(op->getOperand(0));
    Linear const &less = isFloor ? product : whole, &more = isFloor ? whole : product;
    addAtLeast(more, side, less, side, 0);
    addAtLeast(less, side, more, side, 1 - divisor.getSExtValue());
  }

  /// Of the indices that take part, and of those in their bounds.
  void addBounds() {
    for (unsigned i = 0; i < columns.size(); ++i) {
      auto const [value, side] = columns.begin()[i].first;
      Linear none;
      if (value.getDefiningOp<memref::DimOp>())
        addAtLeast(linearForm(value), side, none, side, 0);
      addQuotient(value, side);
      LoopLikeOpInterface around = loopOf(value);
      auto const lowers = around ? around.getLoopLowerBounds() : std::nullopt;
      auto const uppers = around ? around.getLoopUpperBounds() : std::nullopt;
      if (!lowers || !uppers)
        continue;
      for (auto [index, lower, upper] : llvm::zip(*around.getLoopInductionVars(), *lowers, *uppers)) {
        if (index != value)
          continue;
        addAtLeast(linearForm(value), side, formOf(lower), side, 0);
        addAtLeast(formOf(upper), side, linearForm(value), side, 1);
      }
    }
  }

  static Linear formOf(OpFoldResult bound) {
    if (auto value = dyn_cast<Value>(bound))
      return linearForm(value);
    Linear number;
    number.constant = *getConstantIntValue(bound);
    return number;
  }

  Operation *inside;
  llvm::SmallMapVector<std::pair<Value, unsigned>, unsigned, 8> columns;
  SmallVector<Row> rows, equalities;
};

System systemOf(PlaceOf a, PlaceOf b, Operation *inside) {
  System system(inside);
  for (auto [x, y] : llvm::zip(a.subscripts, b.subscripts))
    if (x && y)
      system.addEqual(x, y);
  system.addGuards(a.op, 0);
  system.addGuards(b.op, 1);
  return system;
}

} // namespace

bool neverMeetInOthers(PlaceOf a, PlaceOf b, scf::ForOp loop) {
  int64_t const step = getConstantIntValue(loop.getStep()).value_or(1);
  Linear const index = linearForm(loop.getInductionVar());
  return llvm::all_of(ArrayRef{0u, 1u}, [&](unsigned later) {
    System system = systemOf(a, b, loop);
    system.addAtLeast(index, later, index, 1 - later, step);
    return system.hasNoSolution();
  });
}

bool neverMeet(PlaceOf a, PlaceOf b, Operation *inside) { return systemOf(a, b, inside).hasNoSolution(); }

} // namespace ml2k
