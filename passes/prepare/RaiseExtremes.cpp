//===- RaiseExtremes.cpp - the larger or smaller of two numbers ---------------------------------------------------===//
//
// `max(x, 0.0)` of Python and C++ is a comparison and a choice. A person calls Kokkos::max, which does the same.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISEEXTREMES
#include "passes/prepare/Passes.h.inc"

/// What loops carry or join stays a comparison: the text has it as a change of a variable.
static bool isArgument(Value value) { return isa<BlockArgument>(value); }

/// `select "t"` names what a choice makes, `larger "t"` the same of a nest.larger.
static Location placeOf(arith::SelectOp choice, StringRef kind) {
  auto const place = dyn_cast<NameLoc>(choice.getLoc());
  StringRef text = place ? place.getName().getValue() : "";
  return text.consume_front("select ")
             ? NameLoc::get(StringAttr::get(choice.getContext(), kind + " " + text), place.getChildLoc())
             : choice.getLoc();
}

static void raiseExtreme(arith::SelectOp choice) {
  Operation *const user = choice->hasOneUse() ? *choice->user_begin() : nullptr;
  bool const isYielded = isa_and_nonnull<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp());
  if (isYielded ||
      isa_and_nonnull<arith::SelectOp>(user)) // `d > most ? most : d < -most ? -most : d` is one expression
    return;
  auto compare = choice.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || !compare->hasOneUse() || !(choice.getType().isF32() || choice.getType().isF64()))
    return;
  Value const yes = choice.getTrueValue(), no = choice.getFalseValue();
  bool const isLess = compare.getPredicate() == arith::CmpFPredicate::OLT;
  bool const isInOrder = compare.getLhs() == yes && compare.getRhs() == no;
  bool const isTurned = compare.getLhs() == no && compare.getRhs() == yes;
  if ((!isLess && compare.getPredicate() != arith::CmpFPredicate::OGT) || !(isInOrder || isTurned) || isArgument(yes) ||
      isArgument(no))
    return;
  OpBuilder builder(choice);
  bool const isSmaller = isLess == isInOrder; // yes < no ? yes : no
  Value const extreme =
      isSmaller ? builder.create<nest::SmallerOp>(placeOf(choice, "smaller"), choice.getType(), no, yes).getResult()
                : builder.create<nest::LargerOp>(placeOf(choice, "larger"), choice.getType(), no, yes).getResult();
  extreme.getDefiningOp()->setDiscardableAttrs(choice->getDiscardableAttrDictionary());
  choice.replaceAllUsesWith(extreme);
  choice.erase();
  compare.erase();
}

namespace {
struct RaiseExtremes : impl::RaiseExtremesBase<RaiseExtremes> {
  void runOnOperation() override {
    SmallVector<arith::SelectOp> choices;
    getOperation().walk(
        [&](nest::LoopKernelOp kernel) { kernel.walk([&](arith::SelectOp choice) { choices.push_back(choice); }); });
    llvm::for_each(choices, raiseExtreme);
  }
};
} // namespace

} // namespace ml2k
