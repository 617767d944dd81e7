//===- Exchanges.h - memory that host loops hand from round to round ------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_EXCHANGES_H
#define ML2K_IR_EXCHANGES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// A loop, and which of the values that it carries one is: in its body or behind it. No loop for other values.
struct Exchange {
  mlir::Operation *loop = nullptr;
  unsigned place = 0;
};

/// What the condition of an scf.while passes on as it is.
inline Exchange passedBy(mlir::scf::WhileOp loop, unsigned place) {
  auto const same = mlir::dyn_cast<mlir::BlockArgument>(loop.getConditionOp().getArgs()[place]);
  if (!same || same.getOwner() != loop.getBeforeBody())
    return {};
  return {loop, same.getArgNumber()};
}

inline Exchange exchangeOf(mlir::Value value) {
  using namespace mlir;
  if (auto const result = dyn_cast<OpResult>(value)) {
    if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
      return passedBy(loop, result.getResultNumber());
    return isa<scf::ForOp>(result.getOwner()) ? Exchange{result.getOwner(), result.getResultNumber()} : Exchange();
  }
  auto const argument = cast<BlockArgument>(value);
  Operation *const owner = argument.getOwner()->getParentOp();
  if (isa_and_nonnull<scf::ForOp>(owner) && argument.getArgNumber() > 0)
    return {owner, argument.getArgNumber() - 1};
  if (auto loop = dyn_cast_or_null<scf::WhileOp>(owner))
    return argument.getOwner() == loop.getBeforeBody() ? Exchange{owner, argument.getArgNumber()}
                                                       : passedBy(loop, argument.getArgNumber());
  return {};
}

/// What the loop carries at first, and what it carries on.
inline mlir::ValueRange initsOf(mlir::Operation *loop) {
  auto counted = mlir::dyn_cast<mlir::scf::ForOp>(loop);
  return counted ? counted.getInitArgs() : mlir::cast<mlir::scf::WhileOp>(loop).getInits();
}
inline mlir::ValueRange yieldsOf(mlir::Operation *loop) {
  auto counted = mlir::dyn_cast<mlir::scf::ForOp>(loop);
  return counted ? mlir::ValueRange(counted.getYieldedValues())
                 : mlir::ValueRange(mlir::cast<mlir::scf::WhileOp>(loop).getYieldOp().getOperands());
}

/// Whether the memory that a loop yields is what it carries, in another order perhaps: that has names.
inline bool onlyExchanges(mlir::Operation *loop) {
  using namespace mlir;
  llvm::SmallDenseSet<unsigned> yielded;
  if (auto decided = dyn_cast<scf::WhileOp>(loop))
    for (auto [place, passed] : llvm::enumerate(decided.getConditionOp().getArgs()))
      if (isa<MemRefType>(passed.getType()) && !passedBy(decided, place).loop)
        return false;
  return llvm::all_of(yieldsOf(loop), [&](Value next) {
    if (!isa<MemRefType>(next.getType()))
      return true;
    Exchange const from = exchangeOf(next);
    return isa<BlockArgument>(next) && from.loop == loop && yielded.insert(from.place).second;
  });
}

} // namespace ml2k

#endif
