// The product of two activations reads a part of a tensor where it lies.
// RUN: ml2kokkos-opt %s --ml2k-read-slices --split-input-file | FileCheck %s

#same = affine_map<(a, b, c) -> (a, b, c)>
#keys = affine_map<(b, c) -> (0, b, c + 64)>
#row = affine_map<(b, c) -> (0, b, c)>
#left = affine_map<(h, m, n, k) -> (m, h, k)>
#right = affine_map<(h, m, n, k) -> (n, h, k)>
#out = affine_map<(h, m, n, k) -> (h, m, n)>

// Two heads of 32 of three parts: [1, 7, 192] is [1, 7, 6, 32], and the keys begin at head 2
// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d0, d3)>
// CHECK-DAG: #[[$RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d2, d0 + 2, d3)>
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: tensor<1x7x192xf32>
// CHECK-NOT: nest.map
// CHECK: %[[A:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [1, 7, 6, 32]
// CHECK: %[[B:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [1, 7, 6, 32]
// CHECK: nest.contract "" [batch, m, n, k] ins(%[[A]], %[[B]] : tensor<1x7x6x32xf32>, tensor<1x7x6x32xf32>)
// CHECK-SAME: maps [#[[$LEFT]], #[[$RIGHT]], #{{.*}}]
func.func @heads(%x: tensor<1x7x192xf32>) -> tensor<2x7x7xf32> {
  %e = tensor.empty() : tensor<1x7x64xf32>
  %q = nest.map "" ins(%x : tensor<1x7x192xf32>) outs(%e : tensor<1x7x64xf32>) maps [#same, #same] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<1x7x64xf32>
  %k = nest.map "" ins(%x : tensor<1x7x192xf32>) outs(%e : tensor<1x7x64xf32>) maps [#keys, #row] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<1x7x64xf32>
  %qh = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [1, 7, 2, 32] : tensor<1x7x64xf32> into tensor<1x7x2x32xf32>
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [1, 7, 2, 32] : tensor<1x7x64xf32> into tensor<1x7x2x32xf32>
  %ql = tensor.collapse_shape %qh [[0, 1], [2], [3]] : tensor<1x7x2x32xf32> into tensor<7x2x32xf32>
  %kl = tensor.collapse_shape %kh [[0, 1], [2], [3]] : tensor<1x7x2x32xf32> into tensor<7x2x32xf32>
  %s = tensor.empty() : tensor<2x7x7xf32>
  %r = nest.contract "" [batch, m, n, k] ins(%ql, %kl : tensor<7x2x32xf32>, tensor<7x2x32xf32>) outs(%s : tensor<2x7x7xf32>)
      maps [#left, #right, #out] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x7x7xf32>
  return %r : tensor<2x7x7xf32>
}

// -----

#same = affine_map<(a, b) -> (a, b)>
#late = affine_map<(a, b) -> (a, b + 3)>
#left = affine_map<(h, m, n, k) -> (m, h, k)>
#right = affine_map<(h, m, n, k) -> (n, h, k)>
#out = affine_map<(h, m, n, k) -> (h, m, n)>

// A part that begins inside a head of the whole has to be copied; one without heads is read at its offset.
// CHECK-LABEL: func.func @odd
// CHECK: nest.map
// CHECK: nest.contract
func.func @odd(%x: tensor<7x64xf32>, %y: tensor<7x2x8xf32>) -> tensor<2x7x7xf32> {
  %e = tensor.empty() : tensor<7x16xf32>
  %q = nest.map "" ins(%x : tensor<7x64xf32>) outs(%e : tensor<7x16xf32>) maps [#late, #same] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<7x16xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [7, 2, 8] : tensor<7x16xf32> into tensor<7x2x8xf32>
  %s = tensor.empty() : tensor<2x7x7xf32>
  %r = nest.contract "" [batch, m, n, k] ins(%qh, %y : tensor<7x2x8xf32>, tensor<7x2x8xf32>) outs(%s : tensor<2x7x7xf32>)
      maps [#left, #right, #out] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x7x7xf32>
  return %r : tensor<2x7x7xf32>
}

// -----

#same = affine_map<(a, b, c) -> (a, b, c)>
#row = affine_map<(b, m, n, k) -> (b, m, k)>
#column = affine_map<(b, m, n, k) -> (b, n, k)>
#result = affine_map<(b, m, n, k) -> (b, m, n)>
#keys = affine_map<(a, b, c) -> (a, b, c + 8)>

// Sums run as far as an input says: the first 8 of 24 columns are not read in place, nor are the next 8
// CHECK-LABEL: func.func @part_of_a_sum
// CHECK-COUNT-2: nest.map
// CHECK: nest.contract
func.func @part_of_a_sum(%x: tensor<2x7x24xf32>) -> tensor<2x7x7xf32> {
  %e = tensor.empty() : tensor<2x7x8xf32>
  %q = nest.map "" ins(%x : tensor<2x7x24xf32>) outs(%e : tensor<2x7x8xf32>) maps [#same, #same] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<2x7x8xf32>
  %k = nest.map "" ins(%x : tensor<2x7x24xf32>) outs(%e : tensor<2x7x8xf32>) maps [#keys, #same] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<2x7x8xf32>
  %s = tensor.empty() : tensor<2x7x7xf32>
  %r = nest.contract "" [batch, m, n, k] ins(%q, %k : tensor<2x7x8xf32>, tensor<2x7x8xf32>) outs(%s : tensor<2x7x7xf32>)
      maps [#row, #column, #result] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x7x7xf32>
  return %r : tensor<2x7x7xf32>
}

// -----

#same = affine_map<(a, b, c) -> (a, b, c)>
#row = affine_map<(b, m, n, k) -> (b, m, k)>
#column = affine_map<(b, m, n, k) -> (b, k, n)>
#result = affine_map<(b, m, n, k) -> (b, m, n)>
#values = affine_map<(a, b, c) -> (a, b, c + 8)>

// The sum over steps of run-time number is over all of them, as the size says
// CHECK-LABEL: func.func @open_sum
// CHECK: nest.map
// CHECK-NOT: nest.map
// CHECK: nest.contract "" [batch, m, n, k] ins(%{{.*}}, %{{.*}} : tensor<2x7x?xf32>, tensor<2x?x24xf32>)
func.func @open_sum(%w: tensor<2x7x?xf32>, %n: index) -> tensor<2x7x8xf32> {
  %o = tensor.empty(%n) : tensor<2x?x24xf32>
  %x = nest.map "" outs(%o : tensor<2x?x24xf32>) maps [#same] {
  ^bb0:
    %c = arith.constant 1.0 : f32
    nest.yield %c : f32
  } -> tensor<2x?x24xf32>
  %e = tensor.empty(%n) : tensor<2x?x8xf32>
  %v = nest.map "" ins(%x : tensor<2x?x24xf32>) outs(%e : tensor<2x?x8xf32>) maps [#values, #same] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } -> tensor<2x?x8xf32>
  %s = tensor.empty() : tensor<2x7x8xf32>
  %r = nest.contract "" [batch, m, n, k] ins(%w, %v : tensor<2x7x?xf32>, tensor<2x?x8xf32>) outs(%s : tensor<2x7x8xf32>)
      maps [#row, #column, #result] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x7x8xf32>
  return %r : tensor<2x7x8xf32>
}
