//===- SelectElements.cpp - subscripts that a condition decides ---------------------------------------------------===//
//
// `table(a == b ? 1 : 0)` is `a == b ? table(1) : table(0)`: two values that stay in registers instead of an address
// for each element. gcc 12 needs that, too: of the address of an element whose subscript is a condition, its vectors of
// a loop with `omp simd` take a wrong one. Of a table whose extent is known at run time only, just the chosen one is
// read.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_SELECTELEMENTS
#include "passes/Passes.h.inc"

namespace {

/// Subscripts of one load that are made of constants and the same condition.
class Choice {
public:
  explicit Choice(memref::LoadOp load) : load(load) {
    for (OpOperand &operand : load->getOpOperands().drop_front())
      if (!matchPattern(operand.get(), m_Constant()) && isDecided(operand.get()))
        places.push_back(operand.getOperandNumber() - 1);
  }

  /// What they are if the condition holds, and if not.
  bool isFound() { return condition && !places.empty() && numbersIf(true, yes) && numbersIf(false, no); }

  void replace(IRRewriter &rewriter) {
    rewriter.setInsertionPoint(load);
    if (areBothThere) {
      rewriter.replaceOpWithNewOp<arith::SelectOp>(load, condition, element(yes, rewriter), element(no, rewriter));
      return;
    }
    auto const branch = [this](ArrayRef<int64_t> numbers) {
      return
          [=, this](OpBuilder &builder, Location loc) { builder.create<scf::YieldOp>(loc, element(numbers, builder)); };
    };
    rewriter.replaceOpWithNewOp<scf::IfOp>(load, condition, branch(yes), branch(no));
  }

private:
  static constexpr unsigned mostSteps = 16; ///< from a condition to a subscript

  /// Whether the value is made of constants and one condition.
  bool isDecided(Value value) {
    SmallVector<Value> work = {value};
    SmallVector<Operation *> steps;
    Value found = condition;
    while (!work.empty()) {
      Value const next = work.pop_back_val();
      if (matchPattern(next, m_Constant()))
        continue;
      if (next.getType().isInteger(1)) {
        if (found && found != next)
          return false;
        found = next;
        continue;
      }
      Operation *op = next.getDefiningOp();
      if (!op || !isPure(op) || op->getNumRegions() > 0 || steps.size() == mostSteps)
        return false;
      steps.push_back(op);
      llvm::append_range(work, op->getOperands());
    }
    condition = found;
    return found != nullptr;
  }

  /// The value as a number, where the condition is known. Null if it does not come to one.
  Attribute valueIf(bool holds, Value value) const {
    Attribute known;
    if (matchPattern(value, m_Constant(&known)))
      return known;
    if (value == condition)
      return IntegerAttr::get(value.getType(), holds ? -1 : 0);
    Operation *op = value.getDefiningOp();
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(valueIf(holds, operand));
    if (auto select = dyn_cast<arith::SelectOp>(op); select && operands[0])
      return operands[cast<IntegerAttr>(operands[0]).getValue().isZero() ? 2 : 1];
    SmallVector<OpFoldResult> results;
    if (llvm::is_contained(operands, Attribute()) || failed(op->fold(operands, results)) || results.size() != 1)
      return {};
    if (auto same = dyn_cast<Value>(results[0])) // one of the operands
      for (auto [operand, attribute] : llvm::zip(op->getOperands(), operands))
        if (operand == same)
          return attribute;
    return dyn_cast<Attribute>(results[0]);
  }

  bool numbersIf(bool holds, SmallVectorImpl<int64_t> &to) {
    for (unsigned place : places) {
      auto const number = dyn_cast_or_null<IntegerAttr>(valueIf(holds, load.getIndices()[place]));
      bool const isKnown = !load.getMemRefType().isDynamicDim(place);
      if (!number || number.getInt() < 0 || (isKnown && number.getInt() >= load.getMemRefType().getDimSize(place)))
        return false;
      areBothThere &= isKnown;
      to.push_back(number.getInt());
    }
    return true;
  }

  Value element(ArrayRef<int64_t> numbers, OpBuilder &builder) {
    if (Attribute const value = weightAt(numbers))
      return builder.create<arith::ConstantOp>(load.getLoc(), cast<TypedAttr>(value));
    SmallVector<Value> indices(load.getIndices());
    for (auto [place, number] : llvm::zip(places, numbers))
      indices[place] = builder.create<arith::ConstantIndexOp>(load.getLoc(), number);
    return builder.create<memref::LoadOp>(load.getLoc(), load.getMemref(), indices);
  }

  Attribute weightAt(ArrayRef<int64_t> numbers) {
    auto weight = load.getMemref().getDefiningOp<nest::WeightOp>();
    auto const values = weight ? dyn_cast<DenseElementsAttr>(weight.getValue()) : DenseElementsAttr();
    bool const isWhole = numbers.size() == size_t(load.getMemRefType().getRank());
    if (!values || !isWhole || values.getElementType() != load.getType())
      return {};
    SmallVector<uint64_t> const at(numbers.begin(), numbers.end());
    return values.getValues<Attribute>()[at];
  }

  memref::LoadOp load;
  Value condition;
  SmallVector<unsigned> places;
  SmallVector<int64_t> yes, no;
  bool areBothThere = true; ///< within extents that are known
};

struct SelectElements : impl::SelectElementsBase<SelectElements> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::LoadOp> loads;
    getOperation().walk([&](memref::LoadOp load) { loads.push_back(load); });
    for (memref::LoadOp load : loads) {
      auto weight = load.getMemref().getDefiningOp<nest::WeightOp>();
      if (Choice choice(load); choice.isFound())
        choice.replace(rewriter);
      if (weight && weight->use_empty())
        rewriter.eraseOp(weight);
    }
  }
};
} // namespace

} // namespace ml2k
