// Grouped-query attention: keys that exporters spread over the heads of a group are read as they lie, without the heads'
// loop in their map.
// RUN: ml2kokkos-opt %s --ml2k-propagate-layout --ml2k-cleanup | FileCheck %s

#left = affine_map<(b, h, i, j, k) -> (b, h, i, k)>
#right = affine_map<(b, h, i, j, k) -> (b, h, j, k)>
#out = affine_map<(b, h, i, j, k) -> (b, h, i, j)>

// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[$RIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>

// CHECK-LABEL: func.func @keys
// CHECK-SAME: (%[[Q:.*]]: tensor<?x6x?x8xf32>, %[[K:.*]]: tensor<?x2x?x8xf32>
// CHECK-NOT: linalg.generic
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0], [1, 2], [3], [4]]
// CHECK: nest.contract "scores" [batch, batch, batch, m, n, k] ins(%[[HEADS]], %[[K]] : tensor<?x2x3x?x8xf32>, tensor<?x2x?x8xf32>)
// CHECK-SAME: maps [#[[$LEFT]], #[[$RIGHT]], #[[$OUT]]]
// CHECK: tensor.collapse_shape {{.*}} into tensor<?x6x?x?xf32>
func.func @keys(%q: tensor<?x6x?x8xf32>, %k: tensor<?x2x?x8xf32>, %b: index, %m: index, %n: index) -> tensor<?x6x?x?xf32> {
  %e = tensor.empty(%b, %n) : tensor<?x2x3x?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(b, h, g, j, k) -> (b, h, j, k)>, affine_map<(b, h, g, j, k) -> (b, h, g, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x2x?x8xf32>) outs(%e : tensor<?x2x3x?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<?x2x3x?x8xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2], [3], [4]] : tensor<?x2x3x?x8xf32> into tensor<?x6x?x8xf32>
  %2 = tensor.empty(%b, %m, %n) : tensor<?x6x?x?xf32>
  %3 = nest.contract "scores" [batch, batch, m, n, k] ins(%q, %1 : tensor<?x6x?x8xf32>, tensor<?x6x?x8xf32>) outs(%2 : tensor<?x6x?x?xf32>) maps [#left, #right, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<?x6x?x?xf32>
  return %3 : tensor<?x6x?x?xf32>
}
