// Heads that a view joins with the batch, and steps that stand in front of it: nn.MultiheadAttention.
// RUN: ml2kokkos-opt %s --ml2k-propagate-layout --split-input-file | FileCheck %s

#left = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#right = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#out = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// [7, b, 256] seen as [7, b * 4, 64], turned and cut into [b, 4, 7, 64]: nothing is copied
// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d1, d4)>
// CHECK-DAG: #[[$RIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4)>
// CHECK-LABEL: func.func @joined
// CHECK-SAME: (%[[X:.*]]: tensor<7x?x256xf32>, %[[SIZE:.*]]: index)
// CHECK-NOT: linalg.transpose
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [7, %{{.*}}, 4, 64]
// CHECK: nest.contract "" [batch, batch, m, n, k] ins(%[[HEADS]], %[[HEADS]] : tensor<7x?x4x64xf32>, tensor<7x?x4x64xf32>)
// CHECK-SAME: maps [#[[$LEFT]], #[[$RIGHT]], #{{.*}}]
func.func @joined(%x: tensor<7x?x256xf32>, %b: index) -> tensor<?x4x7x7xf32> {
  %c4 = arith.constant 4 : index
  %n = arith.muli %b, %c4 : index
  %rows = tensor.collapse_shape %x [[0], [1, 2]] : tensor<7x?x256xf32> into tensor<7x?xf32>
  %view = tensor.expand_shape %rows [[0], [1, 2]] output_shape [7, %n, 64] : tensor<7x?xf32> into tensor<7x?x64xf32>
  %e = tensor.empty(%n) : tensor<?x7x64xf32>
  %t = linalg.transpose ins(%view : tensor<7x?x64xf32>) outs(%e : tensor<?x7x64xf32>) permutation = [1, 0, 2]
  %q = tensor.expand_shape %t [[0, 1], [2], [3]] output_shape [%b, 4, 7, 64] : tensor<?x7x64xf32> into tensor<?x4x7x64xf32>
  %s = tensor.empty(%b) : tensor<?x4x7x7xf32>
  %r = nest.contract "" [batch, batch, m, n, k] ins(%q, %q : tensor<?x4x7x64xf32>, tensor<?x4x7x64xf32>) outs(%s : tensor<?x4x7x7xf32>)
      maps [#left, #right, #out] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<?x4x7x7xf32>
  return %r : tensor<?x4x7x7xf32>
}

// -----

#left = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#right = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#out = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// What is cut is not what was joined: 3 * h of 4 * h for each entry of another batch
// CHECK-LABEL: func.func @others
// CHECK: linalg.transpose
func.func @others(%x: tensor<7x?x256xf32>, %b: index) -> tensor<?x8x7x7xf32> {
  %c4 = arith.constant 4 : index
  %n = arith.muli %b, %c4 : index
  %half = arith.divui %b, %c4 : index
  %rows = tensor.collapse_shape %x [[0], [1, 2]] : tensor<7x?x256xf32> into tensor<7x?xf32>
  %view = tensor.expand_shape %rows [[0], [1, 2]] output_shape [7, %n, 64] : tensor<7x?xf32> into tensor<7x?x64xf32>
  %e = tensor.empty(%n) : tensor<?x7x64xf32>
  %t = linalg.transpose ins(%view : tensor<7x?x64xf32>) outs(%e : tensor<?x7x64xf32>) permutation = [1, 0, 2]
  %q = tensor.expand_shape %t [[0, 1], [2], [3]] output_shape [%half, 8, 7, 64] : tensor<?x7x64xf32> into tensor<?x8x7x64xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<?x8x7x64xf32>) outs(%q : tensor<?x8x7x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.mulf %v, %v : f32
    linalg.yield %m : f32
  } -> tensor<?x8x7x64xf32>
  %s = tensor.empty(%half) : tensor<?x8x7x7xf32>
  %r = nest.contract "" [batch, batch, m, n, k] ins(%w, %w : tensor<?x8x7x64xf32>, tensor<?x8x7x64xf32>) outs(%s : tensor<?x8x7x7xf32>)
      maps [#left, #right, #out] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<?x8x7x7xf32>
  return %r : tensor<?x8x7x7xf32>
}

// -----

#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// Rows that are turned in front of a product and back behind it are not turned
// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x32xf32>
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK: nest.contract
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @there_and_back(%x: tensor<?x?x32xf32>, %b: index, %s: index) -> tensor<?x?x16xf32> {
  %w = nest.weight "w" : tensor<16x32xf32> = dense<1.0> : tensor<16x32xf32>
  %e = tensor.empty(%s, %b) : tensor<?x?x32xf32>
  %t = linalg.transpose ins(%x : tensor<?x?x32xf32>) outs(%e : tensor<?x?x32xf32>) permutation = [1, 0, 2]
  %m = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x?x32xf32> into tensor<?x32xf32>
  %n = arith.muli %s, %b : index
  %o = tensor.empty(%n) : tensor<?x16xf32>
  %p = nest.contract "" [m, n, k] ins(%m, %w : tensor<?x32xf32>, tensor<16x32xf32>) outs(%o : tensor<?x16xf32>)
      maps [#rows, #columns, #result] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<?x16xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [%s, %b, 16] : tensor<?x16xf32> into tensor<?x?x16xf32>
  %f = tensor.empty(%b, %s) : tensor<?x?x16xf32>
  %z = linalg.transpose ins(%y : tensor<?x?x16xf32>) outs(%f : tensor<?x?x16xf32>) permutation = [1, 0, 2]
  return %z : tensor<?x?x16xf32>
}
