// A sparse argument becomes its arrays. Until its kernels are made a dense argument behind all others stands for it.
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// RUN: ml2kokkos %s --emit=nest | FileCheck %s --check-prefix=NEST
// CHECK: func.func @spmv(%{{.*}}: memref<?xindex> {nest.name = "A_positions", {{.*}}}, %{{.*}}: memref<?xindex> {nest.name = "A_coordinates", {{.*}}}, %{{.*}}: memref<?xf64> {nest.name = "A_values", {{.*}}}, %{{.*}}: memref<?xf64> {{{.*}}nest.name = "x"}
// CHECK-SAME: %[[A:[a-zA-Z0-9]*]]: memref<?x?xf64> {{{.*}}nest.sparse = #sparse
// CHECK: linalg.generic {{.*}} ins(%[[A]],
// The rows are parallel and add to y where it is, in one kernel.
// NEST: func.func @spmv({{.*}}%[[Y:[a-zA-Z0-9]*]]: memref<?xf64> {nest.dims = ["y_size"], nest.name = "y", nest.output, nest.updated})
// NEST-NOT: nest.buffer
// NEST-NOT: sparse_tensor
// NEST: nest.kernel "y" range (%[[ROW:.*]]) = {{.*}} note "parallel: an iteration has its own elements of y"
// NEST: %[[SUM:.*]] = scf.for
// NEST: memref.store %[[SUM]], %[[Y]][%[[ROW]]]
// NEST-NOT: nest.kernel
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
