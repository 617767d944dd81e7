//===- Bias.cpp - biases that lie with the weights of their convolution or contraction
//-----------------------------===//

#include "translator/emit/model/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {

/// The operands of the epilogue of a convolution or contraction: accumulator, then extras at their places.
static std::pair<Block *, SmallVector<std::pair<Value, AffineMap>>> epilogueOf(Operation *kernel) {
  Block *block = nullptr;
  SmallVector<std::pair<Value, AffineMap>> extras;
  auto const fill = [&](auto op, ArrayRef<Attribute> maps) {
    block = &op.getEpilogue().front();
    for (auto [value, map] : llvm::zip(op.getExtras(), maps))
      extras.emplace_back(value, cast<AffineMapAttr>(map).getValue());
  };
  if (auto conv = dyn_cast<nest::ConvOp>(kernel))
    fill(conv, conv.getExtraMaps().getValue());
  if (auto contract = dyn_cast<nest::ContractOp>(kernel))
    fill(contract, contract.getIndexingMaps().getValue().drop_front(2));
  return {block, extras};
}

/// The loop of a kernel that runs along the outputs of its weights; none if several do.
static std::optional<unsigned> outputLoop(Operation *kernel) {
  if (isa<nest::ConvOp>(kernel))
    return 3;
  auto contract = cast<nest::ContractOp>(kernel);
  auto const map = cast<AffineMapAttr>(contract.getIndexingMaps()[1]).getValue();
  std::optional<unsigned> loop;
  for (AffineExpr expr : map.getResults()) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || contract.getRole(dim.getPosition()) != nest::Role::N)
      continue;
    if (loop)
      return std::nullopt;
    loop = dim.getPosition();
  }
  return loop;
}

/// What the epilogue adds to the sum before anything else: the sum with it, and what it is.
static std::pair<Value, Value> firstAddend(Operation *kernel) {
  if (auto conv = dyn_cast<nest::ConvOp>(kernel); conv && conv.getTransposed())
    return {}; // its phases share one
  auto const [block, extras] = epilogueOf(kernel);
  std::optional<unsigned> const loop = block ? outputLoop(kernel) : std::nullopt;
  if (!loop || !block->getArgument(0).hasOneUse())
    return {};
  Operation *add = *block->getArgument(0).getUsers().begin();
  if (!isa<arith::AddFOp>(add) || add->getBlock() != block)
    return {};
  auto const other = dyn_cast<BlockArgument>(add->getOperand(add->getOperand(0) == block->getArgument(0)));
  if (!other || other.getOwner() != block || !other.hasOneUse() || other.getArgNumber() == 0)
    return {};
  auto const [value, map] = extras[other.getArgNumber() - 1];
  bool const isAlong = map.getNumResults() == 1 && map.getResult(0) == getAffineDimExpr(*loop, map.getContext());
  return isAlong ? std::pair(add->getResult(0), value) : std::pair<Value, Value>();
}

/// The bias of packed weights if nobody else uses it.
Storage *Program::biasOf(Storage const &weight) const {
  if (weight.packing != nest::PackingKind::Panels || !weight.value.hasOneUse())
    return nullptr;
  Value const addend = firstAddend(*weight.value.getUsers().begin()).second;
  Storage *bias = addend && addend.hasOneUse() ? storages.lookup(addend) : nullptr;
  bool const isPlain = bias && bias->kind == StorageKind::Weight && bias->value == addend &&
                       bias->reader == "read_plain" && bias->type.getElementType() == weight.type.getElementType();
  return isPlain ? bias : nullptr;
}

/// A bias lies with its weights: their block adds it, and the loader reads it after them.
void Program::joinBiases() {
  llvm::DenseMap<Value, Value> biases;
  for (Storage &weight : weights)
    if (Storage *bias = biasOf(weight)) {
      biases[weight.value] = bias->value;
      bias->isBias = true;
    }
  std::deque<Storage> ordered;
  for (Storage &weight : weights) {
    if (weight.isBias)
      continue;
    Value const bias = biases.lookup(weight.value);
    ordered.push_back(std::move(weight));
    if (!bias)
      continue;
    Storage &owner = ordered.back();
    ordered.push_back(std::move(*storages.lookup(bias)));
    owner.bias = &ordered.back();
  }
  weights = std::move(ordered);
}

Value Program::biasedSum(Operation *kernel) const {
  Storage const *weight = kernel->getNumOperands() > 1 ? storageOf(kernel->getOperand(1)) : nullptr;
  return weight && weight->bias ? firstAddend(kernel).first : Value();
}

} // namespace ml2k
