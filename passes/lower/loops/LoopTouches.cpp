//===- LoopTouches.cpp - what parallel loops read and write, and where --------------------------------------------===//

#include "passes/lower/loops/LoopTouches.h"

#include "passes/lower/loops/Dependence.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

bool collectTouches(Operation *op, SmallVectorImpl<Touch> &touches) {
  return !op->walk([&](Operation *inner) {
              if (auto load = dyn_cast<memref::LoadOp>(inner))
                touches.push_back({inner, load.getMemref(), SmallVector<Value>(load.getIndices()), false});
              else if (auto store = dyn_cast<memref::StoreOp>(inner))
                touches.push_back({inner, store.getMemref(), SmallVector<Value>(store.getIndices()), true});
              else if (auto call = dyn_cast<nest::CallOp>(inner)) {
                for (auto [argument, writes] : llvm::zip(call.getArguments(), call.getWrites()))
                  if (isa<MemRefType>(argument.getType()))
                    touches.push_back({inner, argument, {}, writes});
              } else if (!isPure(inner) && !inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
                         !inner->hasTrait<OpTrait::IsTerminator>())
                return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

/// The name of an extent of an argument: those that have to be equal share it.
static StringAttr nameOfExtent(Value value) {
  auto size = value.getDefiningOp<memref::DimOp>();
  auto const argument = size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!entry || !size.getConstantIndex())
    return {};
  auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
  auto const name = names ? dyn_cast<StringAttr>(names[*size.getConstantIndex()]) : StringAttr();
  return name && !name.empty() ? name : StringAttr();
}

bool haveSameBounds(scf::ParallelOp a, scf::ParallelOp b) {
  auto const same = [](ValueRange left, ValueRange right) {
    return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [](auto pair) {
             auto const [x, y] = pair;
             if (x == y || (nameOfExtent(x) && nameOfExtent(x) == nameOfExtent(y)))
               return true;
             Operation *const first = x.getDefiningOp(), *const second = y.getDefiningOp();
             return first && second && isPure(first) && isPure(second) &&
                    OperationEquivalence::isEquivalentTo(first, second, OperationEquivalence::IgnoreLocations);
           });
  };
  return same(a.getLowerBound(), b.getLowerBound()) && same(a.getUpperBound(), b.getUpperBound()) &&
         same(a.getStep(), b.getStep());
}

bool isAtOwnPosition(Touch const &touch, scf::ParallelOp loop) {
  return baseOf(touch.memref) == touch.memref && llvm::equal(touch.at, loop.getInductionVars());
}

bool conflict(ArrayRef<Touch> a, ArrayRef<Touch> b) {
  return llvm::any_of(a, [&](Touch const &x) {
    return llvm::any_of(b, [&](Touch const &y) { return (x.writes || y.writes) && mayAlias(x.memref, y.memref); });
  });
}

} // namespace ml2k
