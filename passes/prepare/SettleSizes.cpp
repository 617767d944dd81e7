//===- SettleSizes.cpp - the function asks for every extent that indices need -------------------------------------===//
//
// An index of a collapsed view is split by extents of its source, a part of an argument starts at a sum over them, and
// nobody may have asked for those.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"

#include "passes/lower/memory/Memory.h"
#include "passes/lower/memory/Operands.h"

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

/// The argument of which a block takes a pointer to a part.
static BlockArgument partOfArgument(OpOperand &operand, func::FuncOp entry) {
  if (!isImageOperand(operand) && !isMatrixOperand(operand))
    return {};
  auto const argument = dyn_cast<BlockArgument>(rootOf(operand.get()));
  bool const isPart = argument && argument != operand.get() && argument.getOwner() == &entry.getBody().front();
  return isPart ? argument : BlockArgument();
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
    auto const ask = [&](BlockArgument argument, Location location, int64_t firstDim) {
      auto const type = cast<MemRefType>(argument.getType());
      for (int64_t dim = firstDim; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim) && !isAsked(argument, dim))
          builder.create<memref::DimOp>(location, argument, dim);
    };
    entry.walk([&](memref::CollapseShapeOp op) {
      if (BlockArgument const argument = argumentBehind(op.getSrc(), entry))
        ask(argument, op.getLoc(), 0);
    });
    for (BlockArgument argument : entry.getArguments()) // indexed by one sum
      if (auto type = dyn_cast<MemRefType>(argument.getType()); type && type.getRank() > nest::maxViewRank)
        ask(argument, argument.getLoc(), 1);
    entry.walk([&](nest::Kernel kernel) {
      for (OpOperand &operand : kernel->getOpOperands())
        if (BlockArgument const argument = partOfArgument(operand, entry))
          ask(argument, kernel.getLoc(), 1);
    });
  }
};
} // namespace

} // namespace ml2k
