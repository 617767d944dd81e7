//===- OwnInits.cpp - every kernel writes a tensor of its own -----------------------------------------------------===//
//
// Bufferization would copy a tensor.empty or a filled tensor that several kernels start from. It also compares each
// user of a value with all others, which takes a minute for a weight with 10,000 readers.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/Labels.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_OWNINITS
#include "passes/Passes.h.inc"

namespace {

bool isFill(Operation *op) {
  auto map = dyn_cast_or_null<nest::MapOp>(op);
  return map && map.getInputs().empty() && map.getExtras().empty() && map.getOutputs().size() == 1 &&
         map.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
}

bool isDestination(OpOperand &use) {
  if (auto kernel = dyn_cast<DestinationStyleOpInterface>(use.getOwner()))
    return kernel.isDpsInit(&use);
  if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
    return use.getOperandNumber() >= loop.getNumControlOperands();
  auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
  return insert && &use == &insert.getDestMutable();
}

/// A fill belongs to what goes on from it, wherever in the model the same number stood first: `scatter.fill`.
void nameFill(nest::MapOp fill, Operation *user, bool isCopy, Labels &labels) {
  std::string const layer = labelOf(user).empty() ? nameFromLocation(user->getLoc()) : labelOf(user).str();
  std::string const label = layer.empty() ? fill.getLabel().str() : layer + ".fill";
  if (fill.getLabel() == label && !isCopy)
    return;
  fill.setLabel(labels.unique(label, label + "|" + nameFromLocation(fill.getLoc())));
  if (!layer.empty())
    fill->setLoc(user->getLoc());
}

/// The fill for one more user, on a tensor of its own.
Value cloneFill(Operation *fill, Operation *user, Labels &labels) {
  OpBuilder builder(user);
  auto copy = cast<nest::MapOp>(builder.clone(*fill));
  nameFill(copy, user, true, labels);
  return copy.getResult(0);
}

void cloneFills(func::FuncOp function, Labels &labels) {
  SmallVector<Operation *> fills;
  function.walk([&](nest::MapOp map) {
    if (isFill(map))
      fills.push_back(map);
  });
  for (Operation *fill : fills) {
    SmallVector<OpOperand *> written;
    for (OpOperand &use : fill->getUses())
      if (isDestination(use))
        written.push_back(&use);
    std::reverse(written.begin(), written.end()); // program order
    // The fill itself serves its readers, else its first writer
    bool const isRead = !llvm::hasNItems(fill->getUses(), written.size());
    bool const servesFirst = !isRead && !written.empty();
    for (OpOperand *use : ArrayRef(written).drop_front(servesFirst))
      use->set(cloneFill(fill, use->getOwner(), labels));
    if (servesFirst)
      nameFill(cast<nest::MapOp>(fill), written.front()->getOwner(), false, labels);
  }
}

/// A tensor.empty right before each of its users.
void cloneEmpties(func::FuncOp function) {
  SmallVector<tensor::EmptyOp> empties;
  function.walk([&](tensor::EmptyOp empty) { empties.push_back(empty); });
  for (tensor::EmptyOp empty : empties) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : empty->getUses())
      if (!isa<tensor::DimOp>(use.getOwner()))
        uses.push_back(&use);
    for (OpOperand *use : uses) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*empty)->getResult(0));
    }
    if (empty->use_empty())
      empty->erase();
  }
}

/// A nest.weight for each of its readers; where they become memory, they are one again.
void cloneWeights(func::FuncOp function) {
  SmallVector<nest::WeightOp> weights;
  function.walk([&](nest::WeightOp weight) { weights.push_back(weight); });
  for (nest::WeightOp weight : weights) {
    if (weight->use_empty() || weight->hasOneUse())
      continue;
    OpBuilder builder(weight);
    builder.setInsertionPointAfter(weight);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(weight->getUses())))
      use.set(builder.clone(*weight)->getResult(0));
  }
}

struct OwnInits : impl::OwnInitsBase<OwnInits> {
  void runOnOperation() override {
    Labels labels(getOperation());
    cloneFills(getOperation(), labels);
    cloneEmpties(getOperation());
    cloneWeights(getOperation());
  }
};

} // namespace
} // namespace ml2k
