//===- LoopSizes.cpp - sizes of the memory that kernels of loops work on ------------------------------------------===//

#include "passes/lower/loops/LoopSizes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

SizeChecks::Value64 LoopSizes::extent(Value memref, int64_t dim) {
  auto const type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return Polynomial(type.getDimSize(dim));
  if (isOfEntry(memref))
    return extentOfArgument(cast<BlockArgument>(memref), dim);
  if (auto buffer = memref.getDefiningOp<nest::BufferOp>())
    return polynomial(buffer.getSizes()[type.getDynamicDimIndex(dim)]);
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return extent(cast.getSource(), dim);
  return std::nullopt;
}

void LoopSizes::enterKernel(nest::LoopKernelOp kernel) {
  for (auto [index, lower, upper] : llvm::zip(kernel.getBody().getArguments(), kernel.getLowers(), kernel.getUppers()))
    enter(index, lower, upper);
}

} // namespace ml2k
