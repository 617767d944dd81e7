//===- ElementTouches.cpp - what may read or write one element of memory ------------------------------------------===//

#include "passes/lower/loops/ElementTouches.h"

#include "passes/lower/loops/BoundsProof.h"
#include "passes/lower/loops/Dependence.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

std::optional<AccessedElement> elementOf(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return AccessedElement{op, load.getMemref(), load.getIndices()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return AccessedElement{op, store.getMemref(), store.getIndices()};
  return std::nullopt;
}

/// Elements of one memory whose numbers differ.
static bool areApart(AccessedElement const &a, AccessedElement const &b) {
  return a.memref == b.memref && llvm::any_of(llvm::zip(a.indices, b.indices), [](auto pair) {
           auto const x = getConstantIntValue(std::get<0>(pair)), y = getConstantIntValue(std::get<1>(pair));
           return x && y && *x != *y;
         });
}

bool mayTouch(Operation *op, AccessedElement const &element, Operation *inside, unsigned &proofs, bool onlyWrites) {
  auto const meets = [&](Operation *inner) {
    auto const other = elementOf(inner);
    bool const isKnown = other || isPure(inner) || inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                         inner->hasTrait<OpTrait::IsTerminator>();
    if (!isKnown)
      return true;
    if (!other || (onlyWrites && isa<memref::LoadOp>(inner)) || !mayAlias(other->memref, element.memref) ||
        areApart(*other, element))
      return false;
    if (other->memref != element.memref || !isInjective(other->memref) || proofs == 0)
      return true;
    --proofs;
    return !neverMeet({element.op, element.indices}, {inner, other->indices}, inside);
  };
  return op->walk([&](Operation *inner) { return meets(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

} // namespace ml2k
