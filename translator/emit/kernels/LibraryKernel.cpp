//===- LibraryKernel.cpp - kernels as calls of KokkosKernels: library_gemm, library_gemv, library_spmv ------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/LibraryCalls.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {
struct LibraryCall {
  Operation *op;
  Layer &layer;
  nest::BlasProduct product;
  Layer::Loops loops;

  int64_t extentOf(ArrayRef<unsigned> fused) const {
    int64_t extent = 1;
    for (unsigned loop : fused)
      extent = ShapedType::isDynamic(loops.extents[loop]) || ShapedType::isDynamic(extent)
                   ? ShapedType::kDynamic
                   : extent * loops.extents[loop];
    return extent;
  }

  Expression sizeOf(ArrayRef<unsigned> fused) const {
    return ml2k::product(llvm::map_to_vector(fused, [&](unsigned loop) { return loops.sizes[loop]; }));
  }

  FailureOr<Expression> view(nest::BlasMatrix const &operand, StringRef wanted) {
    int64_t const rows = extentOf(operand.rows);
    if (operand.columns.empty())
      return layer.vector(operand.memref, rows, sizeOf(operand.rows), wanted);
    if (operand.rows.empty())
      return layer.vector(operand.memref, extentOf(operand.columns), sizeOf(operand.columns), wanted);
    return layer.matrix(operand.memref, extentOf(operand.columns), rows, sizeOf(operand.rows), wanted);
  }

  LogicalResult print();
};
} // namespace

/// `library_gemm<'N', 'T'>(label, space, left, right, 0, out)`
LogicalResult LibraryCall::print() {
  FailureOr<Expression> const a = view(product.a, "left"), b = view(product.b, product.isMatrix ? "right" : "vector"),
                              c = view(product.c, "out");
  if (failed(a) || failed(b) || failed(c))
    return failure();
  auto const stored = [](bool isPlain) { return isPlain ? Code(Raw("'N'")) : Code(Raw("'T'")); };
  Code forms = stored(layer.schedule.getLeft());
  if (product.isMatrix)
    forms += Raw(", ") + stored(layer.schedule.getRight());
  layer.setCall(forms, {*a, *b, literal(product.adds ? 1 : 0), *c});
  return success();
}

FailureOr<std::string> printProductCall(Operation *op, Layer &layer) {
  std::string why;
  auto kernel = cast<nest::Kernel>(op);
  SmallVector<Value> const operands = kernel.getMappedOperands();
  LibraryCall call{op, layer, *nest::blasProductOf(op, why), layer.loops(kernel.getMaps(), operands)};
  if (failed(call.print()))
    return failure();
  return describe(layer, {call.product.a.memref, call.product.b.memref}, {}, call.product.c.memref, " * ");
}

/// `library_spmv(label, space, A_positions, A_coordinates, A_values, x, 0, y)`
FailureOr<std::string> printSparseCall(nest::LoopKernelOp kernel, Layer &layer) {
  std::string why;
  nest::SparseProduct const product = *nest::sparseProductOf(kernel, why);
  auto const view = [&](Value array) { return layer.member(*layer.program.storageOf(array)); };
  layer.setCall({view(product.positions), view(product.coordinates), view(product.values), view(product.x),
                 literal(product.adds ? 1 : 0), view(product.y)});
  return describe(layer, {product.values, product.x}, {}, product.y, " * ");
}

} // namespace ml2k
