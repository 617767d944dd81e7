//===- FindEveryOther.cpp - grids that do something at every other position ---------------------------------------===//
//
// A sweep over the red or the black points of a checkerboard is written as a branch around all that a grid does.
// Vectors would compute both halves of it and store one through a mask, which later loads of the same line wait for. So
// the branch is marked, and the block goes by two columns.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LinearForms.h"
#include "passes/prepare/GridAccesses.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FINDEVERYOTHER
#include "passes/prepare/Passes.h.inc"

/// Whether a condition holds where the sum of the positions is even (0) or odd (1); none if it says something else.
static std::optional<int64_t> parityOf(Value condition, nest::LoopKernelOp kernel) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  bool const isEqual = compare && compare.getPredicate() == arith::CmpIPredicate::eq;
  if (!compare || (!isEqual && compare.getPredicate() != arith::CmpIPredicate::ne))
    return std::nullopt;
  auto const expected = getConstantIntValue(compare.getRhs());
  Value const number = halved(compare.getLhs());
  if (!number || !expected || *expected < 0 || *expected > 1)
    return std::nullopt;
  Linear const sum = linearForm(number);
  auto const isOdd = [&](Value position) { return sum.terms.lookup(position) % 2 != 0; };
  bool const isSum =
      sum.terms.size() == kernel.getLowers().size() && llvm::all_of(kernel.getBody().getArguments(), isOdd);
  bool const mayBeBelow = *expected == 1 && compare.getLhs().getDefiningOp<arith::RemSIOp>(); // -1 of odd ones below 0
  if (!isSum ||
      (mayBeBelow && !(isWide(number) && isNeverNegative(sum, kernel.getBody().getArguments(), kernel.getLowers()))))
    return std::nullopt;
  return (*expected + !isEqual + sum.constant) & 1;
}

/// Marks the last branch of a kernel if nothing else has an effect.
static void mark(nest::LoopKernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto branch = dyn_cast_or_null<scf::IfOp>(body.getTerminator()->getPrevNode());
  bool const isAll = branch && branch->getNumResults() == 0 && branch.getElseRegion().empty() &&
                     llvm::all_of(body.without_terminator(), [&](Operation &op) {
                       return &op == branch || isMemoryEffectFree(&op) || isa<memref::LoadOp>(op);
                     });
  std::optional<int64_t> const parity = isAll ? parityOf(branch.getCondition(), kernel) : std::nullopt;
  if (parity)
    branch->setAttr(nest::everyOther, IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), *parity));
}

namespace {
struct FindEveryOther : impl::FindEveryOtherBase<FindEveryOther> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr("nest.naive"))
      getOperation().walk([](nest::LoopKernelOp kernel) {
        if (isPlainGrid(kernel))
          mark(kernel);
      });
  }
};
} // namespace

} // namespace ml2k
