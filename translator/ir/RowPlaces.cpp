//===- RowPlaces.cpp - indices of a contraction's epilogue that are the same for a whole row ----------------------===//

#include "translator/ir/RowPlaces.h"

using namespace mlir;

namespace ml2k::nest {

/// Values of the block that differ within a row, or may.
static DenseSet<Value> varyingOf(ContractOp contract) {
  Block &block = contract.getEpilogue().front();
  SmallVector<Role> const roles = llvm::to_vector(contract.getRoles());
  SmallVector<AffineMap> const maps = contract.getMaps();
  DenseSet<Value> varying = {block.getArgument(0)}; // the sum
  for (auto [argument, map] : llvm::zip(block.getArguments().drop_front(), ArrayRef(maps).drop_front(2)))
    for (auto [loop, role] : llvm::enumerate(roles))
      if (role != Role::M && map.isFunctionOfDim(loop))
        varying.insert(argument);
  for (Operation &op : block) {
    auto index = dyn_cast<IndexOp>(op);
    auto const isVarying = [&](Value operand) { return varying.contains(operand); };
    bool const isKnown = op.getNumRegions() == 0 && (isPure(&op) || isa<memref::LoadOp>(op));
    if (index ? roles[index.getDim()] != Role::M : !isKnown || llvm::any_of(op.getOperands(), isVarying))
      varying.insert(op.result_begin(), op.result_end());
  }
  return varying;
}

RowPlaces rowPlacesOf(ContractOp contract) {
  RowPlaces places;
  DenseSet<Value> const varying = varyingOf(contract);
  for (auto position : contract.getEpilogue().front().getOps<PositionOp>())
    if (!varying.contains(position))
      places.positions.push_back(position);
  if (places.positions.empty())
    return places;
  DenseSet<Value> const found(places.positions.begin(), places.positions.end());
  for (Operation &op : llvm::reverse(contract.getEpilogue().front())) {
    auto const isOwn = [&](Operation *user) { return places.own.contains(user); };
    bool const isPosition = op.getNumResults() == 1 && found.contains(op.getResult(0));
    if (isPosition || (!op.use_empty() && llvm::all_of(op.getUsers(), isOwn)))
      places.own.insert(&op);
  }
  return places;
}

} // namespace ml2k::nest
