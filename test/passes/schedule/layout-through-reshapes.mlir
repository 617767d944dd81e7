// Attention as exporters write it: heads transposed, batch and heads joined for the product, and back. What is left are two
// products that address the projections as they lie.
// RUN: ml2kokkos-opt %s --ml2k-raise-contractions --ml2k-propagate-layout --canonicalize | FileCheck %s

// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[$RIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>

// CHECK-LABEL: func.func @scores
// CHECK-SAME:  (%[[Q:.*]]: tensor<2x24x4x16xf32>, %[[K:.*]]: tensor<2x24x4x16xf32>)
// CHECK-NOT:   linalg.transpose
// CHECK-NOT:   tensor.collapse_shape
// CHECK:       %[[S:.*]] = nest.contract "contract" [batch, batch, m, n, k]
// CHECK-SAME:    ins(%[[Q]], %[[K]] : tensor<2x24x4x16xf32>, tensor<2x24x4x16xf32>)
// CHECK-SAME:    maps [#[[$LEFT]], #[[$RIGHT]], #[[$OUT]]]
// CHECK:       return %[[S]] : tensor<2x4x24x24xf32>
func.func @scores(%q: tensor<2x24x4x16xf32>, %k: tensor<2x24x4x16xf32>) -> tensor<2x4x24x24xf32> {
  %zero = arith.constant 0.0 : f32
  %heads = tensor.empty() : tensor<2x4x24x16xf32>
  %qt = linalg.transpose ins(%q : tensor<2x24x4x16xf32>) outs(%heads : tensor<2x4x24x16xf32>) permutation = [0, 2, 1, 3]
  %turned = tensor.empty() : tensor<2x4x16x24xf32>
  %kt = linalg.transpose ins(%k : tensor<2x24x4x16xf32>) outs(%turned : tensor<2x4x16x24xf32>) permutation = [0, 2, 3, 1]
  %qj = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %kj = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x4x16x24xf32> into tensor<8x16x24xf32>
  %empty = tensor.empty() : tensor<8x24x24xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x24x24xf32>) -> tensor<8x24x24xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>,
                                        affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%qj, %kj : tensor<8x24x16xf32>, tensor<8x16x24xf32>) outs(%start : tensor<8x24x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  } -> tensor<8x24x24xf32>
  %r = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 4, 24, 24] : tensor<8x24x24xf32> into tensor<2x4x24x24xf32>
  return %r : tensor<2x4x24x24xf32>
}

// The batch of one that stands before the heads is in nobody's way; the result goes where the next projection reads it.
// CHECK-LABEL: func.func @values
// CHECK-NOT:   linalg.transpose
// CHECK:       nest.contract "contract" [batch, m, n, k]
// CHECK-SAME:    outs(%{{.*}} : tensor<24x4x16xf32>)
// CHECK:       tensor.collapse_shape {{.*}} : tensor<24x4x16xf32> into tensor<24x64xf32>
func.func @values(%s: tensor<4x24x24xf32>, %v: tensor<4x24x16xf32>) -> tensor<24x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x24x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>,
                                        affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %v : tensor<4x24x24xf32>, tensor<4x24x16xf32>) outs(%start : tensor<4x24x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x24x16xf32>
  %batch = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [1, 4, 24, 16] : tensor<4x24x16xf32> into tensor<1x4x24x16xf32>
  %turned = tensor.empty() : tensor<1x24x4x16xf32>
  %t = linalg.transpose ins(%batch : tensor<1x4x24x16xf32>) outs(%turned : tensor<1x24x4x16xf32>) permutation = [0, 2, 1, 3]
  %r = tensor.collapse_shape %t [[0, 1], [2, 3]] : tensor<1x24x4x16xf32> into tensor<24x64xf32>
  return %r : tensor<24x64xf32>
}

// The patches of a convolution, channels last, become the rows of a transformer as they lie.
// CHECK-LABEL: func.func @patches
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x6x8xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2], [3]] : tensor<1x4x6x8xf32> into tensor<1x24x8xf32>
// CHECK: return %[[ROWS]]
func.func @patches(%x: tensor<1x4x6x8xf32>) -> tensor<1x24x8xf32> {
  %e = tensor.empty() : tensor<1x8x4x6xf32>
  %first = linalg.transpose ins(%x : tensor<1x4x6x8xf32>) outs(%e : tensor<1x8x4x6xf32>) permutation = [0, 3, 1, 2]
  %flat = tensor.collapse_shape %first [[0], [1], [2, 3]] : tensor<1x8x4x6xf32> into tensor<1x8x24xf32>
  %f = tensor.empty() : tensor<1x24x8xf32>
  %rows = linalg.transpose ins(%flat : tensor<1x8x24xf32>) outs(%f : tensor<1x24x8xf32>) permutation = [0, 2, 1]
  return %rows : tensor<1x24x8xf32>
}

// The boxes of a detector: channels in parts behind an image of run-time batch, turned to the end; one transpose is left
// CHECK-LABEL: func.func @boxes
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x6x8xf32>, %[[N:.*]]: index)
// CHECK: %[[PARTS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2], [3, 4]] output_shape [%[[N]], 4, 6, 2, 4]
// CHECK: linalg.transpose ins(%[[PARTS]] : tensor<?x4x6x2x4xf32>)
// CHECK-NOT: linalg.transpose
func.func @boxes(%x: tensor<?x4x6x8xf32>, %n: index) -> tensor<?x2x4x6x4xf32> {
  %e = tensor.empty(%n) : tensor<?x8x4x6xf32>
  %first = linalg.transpose ins(%x : tensor<?x4x6x8xf32>) outs(%e : tensor<?x8x4x6xf32>) permutation = [0, 3, 1, 2]
  %split = tensor.expand_shape %first [[0], [1, 2], [3], [4]] output_shape [%n, 2, 4, 4, 6] : tensor<?x8x4x6xf32> into tensor<?x2x4x4x6xf32>
  %f = tensor.empty(%n) : tensor<?x2x4x6x4xf32>
  %turned = linalg.transpose ins(%split : tensor<?x2x4x4x6xf32>) outs(%f : tensor<?x2x4x6x4xf32>) permutation = [0, 1, 3, 4, 2]
  return %turned : tensor<?x2x4x6x4xf32>
}
