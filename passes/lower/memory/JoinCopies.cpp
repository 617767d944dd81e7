//===- JoinCopies.cpp - copies of one shape that do not depend on each other are one kernel -----------------------===//
//
// Part of LabelCopies. A decoder copies the keys and the values of earlier tokens into the tensors that it returns,
// layer by layer: two launches that do next to nothing each.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Provenance.h"
#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"

using namespace mlir;

namespace ml2k {
namespace {

/// From so many elements on a launch does not count, and devices copy by assign_each, which has one output.
constexpr int64_t manyElements = int64_t(1) << 20;

/// True if neighbours along the last dimension of `to` are neighbours in `from`.
bool keepsNeighbours(AffineMap from, AffineMap to) {
  if (from.getNumResults() == 0 || to.getNumResults() == 0)
    return false;
  auto const loop = dyn_cast<AffineDimExpr>(to.getResults().back());
  return loop &&
         !simplifyAffineExpr(from.getResults().back() - loop, from.getNumDims(), 0).isFunctionOfDim(loop.getPosition());
}

/// A map that moves elements as they are, along the same loop in both.
bool isPlainCopy(nest::MapOp map) {
  if (map.getInputs().size() != 1 || !map.getExtras().empty() || map.getOutputs().size() != 1)
    return false;
  Block &body = map.getBody().front();
  SmallVector<AffineMap> const maps = map.getMaps();
  auto const type = cast<MemRefType>(map.getOutputs()[0].getType());
  return body.getOperations().size() == 1 && body.back().getOperand(0) == body.getArgument(0) &&
         keepsNeighbours(maps[0], maps[1]) && (!type.hasStaticShape() || type.getNumElements() < manyElements);
}

/// True if `later` computes the same at the place of `earlier`.
bool canMoveUp(nest::MapOp later, nest::MapOp earlier) {
  return isFreeBetween(later.getInputs()[0], earlier, later, /*mayRead=*/true) &&
         isFreeBetween(later.getOutputs()[0], earlier, later, /*mayRead=*/false);
}

void join(nest::MapOp first, nest::MapOp second) {
  OpBuilder builder(first);
  SmallVector<AffineMap> const a = first.getMaps(), b = second.getMaps();
  Location const location = fusedLocation(builder.getContext(), {first.getLoc(), second.getLoc()});
  SmallVector<Value> const from{first.getInputs()[0], second.getInputs()[0]};
  SmallVector<Value> const to{first.getOutputs()[0], second.getOutputs()[0]};
  auto both = builder.create<nest::MapOp>(location, TypeRange(), first.getLabel(), from, ValueRange(), to,
                                          builder.getAffineMapArrayAttr({a[0], b[0], a[1], b[1]}));
  Type const element = cast<MemRefType>(from[0].getType()).getElementType();
  Block *body = builder.createBlock(&both.getBody(), {}, {element, element}, {location, location});
  builder.create<nest::YieldOp>(location, body->getArguments());
  first.erase();
  second.erase();
}

/// Copies that store as many elements of one type in the same order.
bool areAlike(nest::MapOp a, nest::MapOp b) {
  AffineMap const map = a.getMaps().back();
  llvm::SmallBitVector known(map.getNumDims());
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      known.set(dim.getPosition());
  return a->getBlock() == b->getBlock() && known.all() && map == b.getMaps().back() &&
         a.getBody().getArgument(0).getType() == b.getBody().getArgument(0).getType() &&
         haveSameShape(a.getOutputs()[0], b.getOutputs()[0]);
}

} // namespace

void joinCopies(func::FuncOp function) {
  constexpr unsigned most = 8; // that wait: time must not grow with the square of the program
  SmallVector<nest::MapOp> copies, open;
  function.walk([&](nest::MapOp map) {
    if (isPlainCopy(map))
      copies.push_back(map);
  });
  for (nest::MapOp later : copies) {
    auto *const found = llvm::find_if(open, [&](nest::MapOp earlier) {
      return areAlike(earlier, later) && canMoveUp(later, earlier) &&
             hoistAllBefore(later->getOperands(), earlier) == nullptr;
    });
    if (found != open.end()) {
      join(*found, later);
      open.erase(found);
      continue;
    }
    open.push_back(later);
    if (open.size() > most)
      open.erase(open.begin());
  }
}

} // namespace ml2k
