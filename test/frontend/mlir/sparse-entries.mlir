// What an operation says of elements that only one operand stores: dense operands, each with flags of its stored elements.
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// CHECK: linalg.generic
// CHECK: ^bb0(%[[A:.*]]: f64, %[[A_THERE:.*]]: i1, %[[B:.*]]: f64, %[[B_THERE:.*]]: i1, %[[BEFORE:.*]]: f64):
// CHECK: %[[LESS:.*]] = arith.minimumf %[[A]], %[[B]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[A_THERE]], %[[B_THERE]]
// CHECK: %[[VALUE:.*]] = arith.select %[[BOTH]], %[[LESS]], %[[A]]
// CHECK: %[[RESULT:.*]] = arith.select %{{.*}}, %[[VALUE]], %[[BEFORE]]
// CHECK: linalg.yield %[[RESULT]]
#csr = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @smaller(%a: tensor<4x6xf64, #csr>, %b: tensor<4x6xf64, #csr>) -> tensor<4x6xf64, #csr> {
  %e = tensor.empty() : tensor<4x6xf64, #csr>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x6xf64, #csr>, tensor<4x6xf64, #csr>) outs(%e : tensor<4x6xf64, #csr>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = sparse_tensor.binary %x, %y : f64, f64 to f64
      overlap = { ^bb0(%p: f64, %q: f64):
        %s = arith.minimumf %p, %q : f64
        sparse_tensor.yield %s : f64 }
      left = identity
      right = {}
    linalg.yield %m : f64
  } -> tensor<4x6xf64, #csr>
  return %r : tensor<4x6xf64, #csr>
}
