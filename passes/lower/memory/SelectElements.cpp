//===- SelectElements.cpp - subscripts that a condition decides ---------------------------------------------------===//
//
// `table(a == b ? 1 : 0)` is `a == b ? table(1) : table(0)`: two values that stay in registers instead of an address
// for each element. gcc 12 needs that, too: where a subscript is a condition and what does not change in a loop, its
// vectors take a wrong element, with `omp simd` or at -O3 without. Of positions that may not exist, those of a table
// whose extent is known at run time only, just the chosen one is read.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_SELECTELEMENTS
#include "passes/Passes.h.inc"

namespace {

/// The conditions that a subscript is made of: as numbers, 0 or 1, or as what chooses one of two constants.
class Conditions {
public:
  /// Whether nothing but conditions and constants makes the value. What else it may be made of stays as it is.
  bool decide(Value value) {
    if (matchPattern(value, m_Constant()))
      return true;
    Operation *op = value.getDefiningOp();
    if (value.getType().isInteger(1))
      return isComparison(op) || addCondition(value);
    if (!op || op->getNumOperands() == 0 || !isPure(op) || op->getNumRegions() > 0 || steps.size() == mostSteps)
      return false;
    if (isa<arith::SelectOp>(op) && !isChoiceOfNumbers(op) && !isComparison(op->getOperand(0).getDefiningOp()))
      return false;
    steps.insert(op);
    bool isDecided = true;
    for (Value operand : op->getOperands())
      isDecided &= decide(operand);
    return isDecided;
  }

  /// `value` where `condition` is known, of operations in front of the insertion point.
  Value valueIf(bool holds, Value condition, Value value, OpBuilder &builder, Location location) const {
    Operation *op = value.getDefiningOp();
    if (value == condition)
      return builder.create<arith::ConstantOp>(location, builder.getBoolAttr(holds));
    if (!op || !steps.contains(op))
      return value;
    IRMapping known;
    for (Value operand : op->getOperands())
      if (!known.contains(operand))
        known.map(operand, valueIf(holds, condition, operand, builder, location));
    if (llvm::all_of(op->getOperands(), [&](Value operand) { return known.lookup(operand) == operand; }))
      return value;
    Operation *const copy = builder.clone(*op, known);
    copy->setLoc(location); // it is not what the source calls so
    SmallVector<Value> folded;
    if (failed(builder.tryFold(copy, folded)) || folded.empty()) // or in place
      return copy->getResult(0);
    copy->erase();
    return folded.front();
  }

  ArrayRef<Value> get() const { return found; }

private:
  static constexpr unsigned mostSteps = 16; ///< from conditions to a subscript

  static bool isChoiceOfNumbers(Operation *select) {
    return llvm::all_of(select->getOperands().drop_front(), [](Value arm) { return matchPattern(arm, m_Constant()); });
  }

  /// `(c ? 1 : 0) < 0`, which is known where c is.
  bool isComparison(Operation *op) {
    Conditions inside = *this;
    if (!isa_and_nonnull<arith::CmpIOp>(op) || steps.size() == mostSteps ||
        !llvm::all_of(op->getOperands(), [&](Value operand) { return inside.decide(operand); }))
      return false;
    *this = std::move(inside);
    steps.insert(op);
    return true;
  }

  bool addCondition(Value value) {
    if (!llvm::is_contained(found, value))
      found.push_back(value);
    return true;
  }

  SmallVector<Value> found;
  llvm::SmallPtrSet<Operation *, mostSteps> steps; ///< that the conditions go through
};

/// A load with subscripts of conditions.
class Choice {
public:
  explicit Choice(memref::LoadOp load) : load(load) {
    for (Value index : load.getIndices())
      conditions.decide(index);
  }

  /// Of more, there would be more loads than a table has elements.
  bool isFound() const { return !conditions.get().empty() && conditions.get().size() <= mostConditions; }

  /// Two loads for it, if both positions may exist.
  SmallVector<memref::LoadOp> replace(IRRewriter &rewriter) {
    Value const condition = conditions.get().front();
    rewriter.setInsertionPoint(load);
    SmallVector<Value> const yes = indicesIf(true, condition, rewriter), no = indicesIf(false, condition, rewriter);
    if (isOutside(yes) || isOutside(no))
      return {};
    if (isThere(yes) && isThere(no)) {
      rewriter.replaceOpWithNewOp<arith::SelectOp>(load, condition, element(yes, rewriter), element(no, rewriter));
      return loads;
    }
    auto const branch = [this](ArrayRef<Value> indices) {
      return
          [=, this](OpBuilder &builder, Location loc) { builder.create<scf::YieldOp>(loc, element(indices, builder)); };
    };
    rewriter.replaceOpWithNewOp<scf::IfOp>(load, condition, branch(yes), branch(no));
    return loads;
  }

private:
  static constexpr unsigned mostConditions = 2;

  SmallVector<Value> indicesIf(bool holds, Value condition, OpBuilder &builder) {
    return llvm::map_to_vector(load.getIndices(), [&](Value index) {
      return conditions.valueIf(holds, condition, index, builder, load.getLoc());
    });
  }

  bool isOutside(ArrayRef<Value> indices) {
    return llvm::any_of(llvm::enumerate(indices), [this](auto const &index) {
      std::optional<int64_t> const number = getConstantIntValue(index.value());
      int64_t const extent = load.getMemRefType().getDimSize(index.index());
      return number && (*number < 0 || (!ShapedType::isDynamic(extent) && *number >= extent));
    });
  }

  /// Whether a position is within the extents, given that the load's own position is: other subscripts are the same.
  bool isThere(ArrayRef<Value> indices) {
    return llvm::all_of(llvm::enumerate(indices), [this](auto const &index) {
      bool const isKnown = getConstantIntValue(index.value()) && !load.getMemRefType().isDynamicDim(index.index());
      return isKnown || index.value() == load.getIndices()[index.index()];
    });
  }

  Value element(ArrayRef<Value> indices, OpBuilder &builder) {
    if (Attribute const value = weightAt(indices))
      return builder.create<arith::ConstantOp>(load.getLoc(), cast<TypedAttr>(value));
    loads.push_back(builder.create<memref::LoadOp>(load.getLoc(), load.getMemref(), indices));
    return loads.back();
  }

  Attribute weightAt(ArrayRef<Value> indices) {
    auto weight = load.getMemref().getDefiningOp<nest::WeightOp>();
    auto const values = weight ? dyn_cast<DenseElementsAttr>(weight.getValue()) : DenseElementsAttr();
    std::optional<SmallVector<int64_t>> const numbers = getConstantIntValues(getAsOpFoldResult(indices));
    if (!values || !numbers || values.getElementType() != load.getType())
      return {};
    SmallVector<uint64_t> const at(numbers->begin(), numbers->end());
    return values.getValues<Attribute>()[at];
  }

  memref::LoadOp load;
  Conditions conditions;
  SmallVector<memref::LoadOp> loads; ///< made of it
};

struct SelectElements : impl::SelectElementsBase<SelectElements> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::LoadOp> loads;
    getOperation().walk([&](memref::LoadOp load) { loads.push_back(load); });
    while (!loads.empty()) {
      memref::LoadOp load = loads.pop_back_val();
      auto weight = load.getMemref().getDefiningOp<nest::WeightOp>();
      if (Choice choice(load); choice.isFound())
        llvm::append_range(loads, choice.replace(rewriter));
      if (weight && weight->use_empty())
        rewriter.eraseOp(weight);
    }
  }
};
} // namespace

} // namespace ml2k
