// A recurrence is no reduction with a name: loops take its terms in order, in one thread for each result.
// RUN: ml2kokkos-opt %s --ml2k-form-reductions | FileCheck %s
// RUN: ml2kokkos %s -o - | FileCheck %s --check-prefix=PRINTED

// CHECK: linalg.generic

// CHECK: attrs = {nest.in_order}
// PRINTED: "reductions_in_order::r", Kokkos::RangePolicy(space, 0, 4), KOKKOS_LAMBDA(int i) {
// PRINTED: float total = r(i);
// PRINTED: for (int k = 0; k < 8; ++k)
// PRINTED: total = x(i, k) - 0.5f * total;
// PRINTED: r(i) = total;
#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @recurrence(%x: tensor<4x8xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %half = arith.constant 0.5 : f32
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %half : f32
    %1 = arith.subf %in, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
