// RUN: ml2kokkos %s -o - | FileCheck %s
//
// An element depends on what it was by more than a sum: the sparse operand is taken as dense, also where it is not read.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#rows = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}
func.func @grown(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %0 = linalg.generic #rows ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %c, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  %1 = linalg.generic #rows ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %c, %a : f64
    %s = arith.subf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %0, %1 : tensor<?xf64>, tensor<?xf64>
}
// CHECK: total += total * x(k);
// CHECK: buffer(i, a_coordinates(entry)) = a_values(entry);
// CHECK: carried(i) = carried_i - carried_i * buffer(i, k);
