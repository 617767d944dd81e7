// The columns of a CSC matrix all add to the same rows: no loop of it may be parallel.
// RUN: ml2kokkos %s --emit=nest | FileCheck %s
// CHECK: nest.kernel "{{.*}}" range () = () to () note "sequential: iterations may
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#spmv = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}
func.func @spmv(%A: tensor<16x16xf64, #CSC>, %x: tensor<16xf64>, %y: tensor<16xf64>) -> tensor<16xf64> {
  %0 = linalg.generic #spmv ins(%A, %x : tensor<16x16xf64, #CSC>, tensor<16xf64>) outs(%y : tensor<16xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<16xf64>
  return %0 : tensor<16xf64>
}
