//===- JoinDirections.cpp - both directions of a recurrent layer become one kernel --------------------------------===//
//
// They read the same sequence from its two ends and do not wait for each other. A batch of one row occupies one thread,
// or one team of a device: two directions in one kernel take no longer than one.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/schedule/SameExtent.h"
#include "passes/schedule/recurrent/Recurrence.h"
#include "translator/ir/Nest.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINDIRECTIONS
#include "passes/Passes.h.inc"

namespace {

/// Extras that differ from step to step are inputs: both have as many.
bool haveAlikeExtras(nest::RecurrentOp a, nest::RecurrentOp b) {
  auto const isAlike = [](AffineMap x, AffineMap y) { return x.isFunctionOfDim(0) == y.isFunctionOfDim(0); };
  auto const hasSameElements = [](Value x, Value y) {
    return getElementTypeOrSelf(x.getType()) == getElementTypeOrSelf(y.getType());
  };
  return llvm::all_of_zip(a.getMaps(), b.getMaps(), isAlike) &&
         llvm::all_of_zip(a.getExtras(), b.getExtras(), hasSameElements);
}

bool areAlike(nest::RecurrentOp a, nest::RecurrentOp b) {
  return a.getNumDirections() == 1 && b.getNumDirections() == 1 && a.getSteps() == b.getSteps() &&
         a.getCount() == b.getCount() && a.getInputs()[0].getType() == b.getInputs()[0].getType() &&
         a.getExtras().size() == b.getExtras().size() && a.getOutputs().size() == b.getOutputs().size() &&
         a.getOutputs()[0].getType() == b.getOutputs()[0].getType() &&
         traceExtent(a.getOutputs()[0], 0).isSame(traceExtent(b.getOutputs()[0], 0)) &&
         a.getStarts().has_value() == b.getStarts().has_value() && haveAlikeExtras(a, b);
}

/// The operations between `earlier` and `later` that `later` needs.
SetVector<Operation *> neededBetween(Operation *earlier, Operation *later) {
  SetVector<Operation *> needed;
  SmallVector<Operation *> pending = {later};
  while (!pending.empty())
    pending.pop_back_val()->walk([&](Operation *inside) {
      for (Value operand : inside->getOperands()) {
        Operation *op = operand.getDefiningOp();
        if (op && op->getBlock() == earlier->getBlock() && !op->isBeforeInBlock(earlier) && needed.insert(op))
          pending.push_back(op);
      }
    });
  return needed;
}

/// Moves what `later` needs in front of `earlier`; false, and nothing moved, where that is `earlier` itself or has
/// effects.
bool bringForward(nest::RecurrentOp later, nest::RecurrentOp earlier) {
  SmallVector<Operation *> needed = neededBetween(earlier, later).takeVector();
  if (llvm::any_of(needed, [&](Operation *op) { return op == earlier || !isMemoryEffectFree(op); }))
    return false;
  llvm::sort(needed, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : needed)
    op->moveBefore(earlier);
  return true;
}

void join(nest::RecurrentOp forward, nest::RecurrentOp reverse) {
  OpBuilder builder(forward);
  auto const both = [](auto a, auto b) {
    SmallVector<Value> values(a);
    llvm::append_range(values, b);
    return values;
  };
  unsigned const extras = forward.getExtras().size();
  SmallVector<AffineMap> const ahead = forward.getMaps(), back = reverse.getMaps();
  SmallVector<AffineMap> maps = llvm::to_vector(ArrayRef(ahead).take_front(extras));
  llvm::append_range(maps, ArrayRef(back).take_front(extras));
  llvm::append_range(maps, ArrayRef(ahead).drop_front(extras));
  llvm::append_range(maps, ArrayRef(back).drop_front(extras));
  SmallVector<Attribute> starts;
  for (nest::RecurrentOp direction : {forward, reverse})
    if (direction.getStarts())
      llvm::append_range(starts, direction.getStartsAttr());
  SmallVector<Value> const outputs = both(forward.getOutputs(), reverse.getOutputs());
  Location const location = fusedLocation(builder.getContext(), {forward.getLoc(), reverse.getLoc()});
  auto kernel = builder.create<nest::RecurrentOp>(
      location, TypeRange(ValueRange(outputs)), forward.getLabel(), both(forward.getInputs(), reverse.getInputs()),
      both(forward.getExtras(), reverse.getExtras()), forward.getCount(), outputs, builder.getAffineMapArrayAttr(maps),
      forward.getStepsAttr(), starts.empty() ? ArrayAttr() : builder.getArrayAttr(starts), 2);
  kernel->setDiscardableAttrs(forward->getDiscardableAttrDictionary());
  kernel.getNext()[0].takeBody(forward.getNext().front());
  kernel.getNext()[1].takeBody(reverse.getNext().front());
  SmallVector<Value> results(kernel.getResults());
  forward.replaceAllUsesWith(ValueRange(results).take_front(forward.getNumResults()));
  reverse.replaceAllUsesWith(ValueRange(results).drop_front(forward.getNumResults()));
  forward.erase();
  reverse.erase();
}

struct JoinDirections : impl::JoinDirectionsBase<JoinDirections> {
  void runOnOperation() override {
    llvm::StringMap<nest::RecurrentOp> layers;
    SmallVector<nest::RecurrentOp> all;
    getOperation().walk([&](nest::RecurrentOp kernel) {
      if (kernel->getNumResults() != 0) // of tensors; a text may have it in memory already
        all.push_back(kernel);
    });
    for (nest::RecurrentOp kernel : all) {
      std::string const name = nameFromLocation(kernel.getLoc());
      StringRef layer = name;
      auto const forward = layer.consume_back(".reverse") ? layers.find(layer) : layers.end();
      bool const isPair = forward != layers.end() && forward->second->getBlock() == kernel->getBlock() &&
                          areAlike(forward->second, kernel) && bringForward(kernel, forward->second);
      if (isPair) {
        join(forward->second, kernel);
        layers.erase(forward);
      } else {
        layers.insert_or_assign(name, kernel);
      }
    }
    layOutSequences(getOperation());
  }
};

} // namespace
} // namespace ml2k
