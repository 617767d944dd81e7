// A sparse argument becomes its arrays; which loop is parallel is proved later.
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// RUN: ml2kokkos %s --emit=nest | FileCheck %s --check-prefix=NEST
// CHECK: func.func @spmv(%[[POS:.*]]: memref<?xindex> {nest.name = "A_positions"}, %{{.*}}: memref<?xindex> {nest.name = "A_coordinates"}, %{{.*}}: memref<?xf64> {nest.name = "A_values"}, %{{.*}}: memref<?xf64> {nest.name = "x"}
// CHECK-NOT: sparse_tensor
// CHECK: memref.dim %[[POS]]
// CHECK: scf.for
// CHECK: scf.for
// The rows are parallel, the sum along a row keeps its order.
// NEST: nest.kernel "{{.*}}" range
// NEST: nest.kernel "{{.*}}" range (%[[ROW:.*]]) = {{.*}} note "parallel
// NEST: scf.for
// NEST: memref.store %{{.*}}[%[[ROW]]]
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#spmv = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}
func.func @spmv(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %0 = linalg.generic #spmv ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %0 : tensor<?xf64>
}
