//===- SettleSizes.cpp - the function asks for every extent that indices need -------------------------------------===//
//
// An index of a collapsed view is split by extents of its source, for which nobody may have asked.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_SETTLESIZES
#include "passes/prepare/Passes.h.inc"

/// The argument of the function that a view is of, null for other memory.
static BlockArgument argumentBehind(Value source, func::FuncOp entry) {
  while (auto cast = source.getDefiningOp<memref::CastOp>())
    source = cast.getSource();
  auto const argument = dyn_cast<BlockArgument>(source);
  return argument && argument.getOwner() == &entry.getBody().front() ? argument : BlockArgument();
}

/// A second memref.dim would be another symbol for the same extent.
static bool isAsked(BlockArgument argument, int64_t dim) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto asked = dyn_cast<memref::DimOp>(user);
    return asked && asked.getConstantIndex() == dim;
  });
}

namespace {
struct SettleSizes : impl::SettleSizesBase<SettleSizes> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (entry.isExternal())
      return;
    OpBuilder builder(entry.getBody());
    entry.walk([&](memref::CollapseShapeOp op) {
      BlockArgument const argument = argumentBehind(op.getSrc(), entry);
      if (!argument)
        return;
      auto const type = cast<MemRefType>(argument.getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim) && !isAsked(argument, dim))
          builder.create<memref::DimOp>(op.getLoc(), argument, dim);
    });
  }
};
} // namespace

} // namespace ml2k
