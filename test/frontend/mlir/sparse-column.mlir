// The columns of a CSC matrix all add to the same rows: hosts keep their order, by rows that a work item has to itself.
// RUN: ml2kokkos %s --emit=prepared | FileCheck %s
// RUN: ml2kokkos %s -o - | FileCheck %s --check-prefix=TEXT
// CHECK: nest.kernel "y" range (%{{.*}}) = (%c0) to (%c16) note "an element may change more than once"
// CHECK: nest.schedule = #nest.schedule<scatter_rows>, ordered = array<i1: true>
// TEXT: scatter_rows({{$}}
// TEXT-NEXT: "sparse_column::y", space, 16, a_coordinates_size, 16, a_positions, a_coordinates,
// TEXT-NEXT: KOKKOS_LAMBDA(int column, int entry, int row) { add_to(y(row), a_values(entry) * x(column)); });
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
