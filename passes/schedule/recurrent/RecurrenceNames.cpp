//===- RecurrenceNames.cpp - what the values of a recurrent layer are called --------------------------------------===//
//
// A model says LSTM, its formulas i, o, f, c: the printed code calls the gates by their names.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Provenance.h"
#include "passes/schedule/recurrent/Recurrence.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Which sums and other operands a value depends on: a bit each.
class Dependence {
public:
  explicit Dependence(nest::RecurrentOp kernel) : block(kernel.getNext().front().front()), gates(kernel.getGates()) {
    unsigned const outputs = block.getNumArguments() - kernel.getOutputs().size();
    for (BlockArgument argument : block.getArguments()) {
      unsigned const number = argument.getArgNumber();
      bits[argument] = number < gates ? uint64_t(1) << number : number < outputs ? 0 : uint64_t(1) << gates;
    }
    for (Operation &op : block)
      for (Value result : op.getResults())
        for (Value operand : op.getOperands())
          bits[result] |= bits.lookup(operand);
  }

  /// The gate, if the value depends on it alone and another one uses it; nothing else.
  std::optional<unsigned> gateOf(Operation &op) {
    uint64_t const own = op.getNumResults() == 1 ? bits.lookup(op.getResult(0)) : 0;
    if (!llvm::isPowerOf2_64(own) || own >> gates)
      return std::nullopt;
    bool const isUsed = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return user->getNumResults() != 1 || bits.lookup(user->getResult(0)) != own;
    });
    return isUsed ? std::optional<unsigned>(llvm::Log2_64(own)) : std::nullopt;
  }

private:
  Block &block;
  unsigned gates;
  DenseMap<Value, uint64_t> bits;
};

SmallVector<StringRef> gateNames(StringRef operation, int64_t gates) {
  if (operation == "LSTM" && gates == 4)
    return {"input", "output", "forget", "candidate"};
  if (operation == "GRU" && gates == 3)
    return {"update", "reset", "candidate"};
  return {};
}

/// Not the bare sum of a gate, which a GRU's reset gate scales.
bool isActivated(Operation &op) { return !isa<arith::AddFOp>(op); }

void giveName(Operation *op, StringRef name) {
  op->setAttr("nest.name", StringAttr::get(op->getContext(), name));
  op->setAttr("nest.let", UnitAttr::get(op->getContext()));
}

} // namespace

void nameGates(nest::RecurrentOp kernel) {
  SmallVector<StringRef> const names = gateNames(operationFromLocation(kernel.getLoc()), kernel.getGates());
  if (!names.empty()) {
    kernel->setAttr("nest.gates", Builder(kernel.getContext()).getStrArrayAttr(names));
    Dependence dependence(kernel);
    llvm::SmallBitVector named(kernel.getGates());
    for (Operation &op : kernel.getNext().front().front())
      if (std::optional<unsigned> const gate = dependence.gateOf(op); gate && isActivated(op) && !named[*gate]) {
        giveName(&op, names[*gate]);
        named.set(*gate);
      }
  }
  Operation *yield = kernel.getNext().front().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(yield->getOperands()))
    if (Operation *op = value.getDefiningOp();
        op && (number > 0 || yield->getNumOperands() > 1) && !op->hasAttr("nest.let"))
      giveName(op, number == 0 ? "next" : "next_cell");
}

} // namespace ml2k
