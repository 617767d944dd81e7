// Products of one input with constant weights are one product where all readers can read a part of it.
// RUN: ml2kokkos-opt %s --ml2k-join-products --split-input-file | FileCheck %s

#in = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#bias = affine_map<(m, n, k) -> (n)>
#out = affine_map<(m, n, k) -> (m, n)>
#left = affine_map<(h, m, n, k) -> (m, h, k)>
#right = affine_map<(h, m, n, k) -> (n, h, k)>
#scores = affine_map<(h, m, n, k) -> (h, m, n)>

// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, 0, d0, d3)>
// CHECK-DAG: #[[$RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, 1, d0, d3)>
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf32>, %[[ROWS:.*]]: index)
// CHECK: %[[W:.*]] = nest.weight "a.q_k.weight" : tensor<8x2xf32> = dense<{{\[\[}}1.000000e+00, 1.000000e+00], {{.*}}[2.000000e+00, 2.000000e+00]]>
// CHECK: %[[B:.*]] = nest.weight "a.q_k.bias" : tensor<8xf32> = dense<[3.000000e+00, {{.*}}, 4.000000e+00]>
// CHECK-NOT: nest.weight
// CHECK: %[[E:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x8xf32>
// CHECK: %[[QK:.*]] = nest.contract "a.q_k" [m, n, k] ins(%[[X]], %[[W]] : {{.*}}) extras(%[[B]] : tensor<8xf32>) outs(%[[E]] : tensor<?x8xf32>)
// CHECK: tensor.expand_shape %[[QK]] {{\[\[}}0], [1, 2, 3]] output_shape [%[[ROWS]], 2, 2, 2]
// CHECK: tensor.expand_shape %[[QK]] {{\[\[}}0], [1, 2, 3]] output_shape [%[[ROWS]], 2, 2, 2]
// CHECK: nest.contract "scores"
// CHECK-SAME: maps [#[[$LEFT]], #[[$RIGHT]], #{{.*}}]
func.func @heads(%x: tensor<?x2xf32>, %rows: index) -> tensor<2x?x?xf32> {
  %qw = nest.weight "a.q.weight" : tensor<4x2xf32> = dense<1.0> : tensor<4x2xf32>
  %qb = nest.weight "a.q.bias" : tensor<4xf32> = dense<3.0> : tensor<4xf32>
  %kw = nest.weight "a.k.weight" : tensor<4x2xf32> = dense<2.0> : tensor<4x2xf32>
  %kb = nest.weight "a.k.bias" : tensor<4xf32> = dense<4.0> : tensor<4xf32>
  %e = tensor.empty(%rows) : tensor<?x4xf32>
  %q = nest.contract "a.q" [m, n, k] ins(%x, %qw : tensor<?x2xf32>, tensor<4x2xf32>) extras(%qb : tensor<4xf32>) outs(%e : tensor<?x4xf32>)
      maps [#in, #weight, #bias, #out] epilogue {
  ^bb0(%s: f32, %b: f32):
    %v = arith.addf %s, %b : f32
    nest.yield %v : f32
  } -> tensor<?x4xf32>
  %k = nest.contract "a.k" [m, n, k] ins(%x, %kw : tensor<?x2xf32>, tensor<4x2xf32>) extras(%kb : tensor<4xf32>) outs(%e : tensor<?x4xf32>)
      maps [#in, #weight, #bias, #out] epilogue {
  ^bb0(%s: f32, %b: f32):
    %v = arith.addf %s, %b : f32
    nest.yield %v : f32
  } -> tensor<?x4xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [%rows, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%rows, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %f = tensor.empty(%rows, %rows) : tensor<2x?x?xf32>
  %r = nest.contract "scores" [batch, m, n, k] ins(%qh, %kh : tensor<?x2x2xf32>, tensor<?x2x2xf32>) outs(%f : tensor<2x?x?xf32>)
      maps [#left, #right, #scores] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<2x?x?xf32>
  return %r : tensor<2x?x?xf32>
}

// -----

#in = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(i, j) -> (i, j)>

// Elementwise kernels read parts. "c" returns, "d" is of other columns, "f" is copied, the weight of "g" has two readers: they stay.
// CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1) -> (d0, 0, d1)>
// CHECK-DAG: #[[$SECOND:.*]] = affine_map<(d0, d1) -> (d0, 1, d1)>
// CHECK-LABEL: func.func @readers
// CHECK: nest.contract "a_b" {{.*}} tensor<4x8xf32>
// CHECK: tensor.expand_shape {{.*}} output_shape [4, 2, 4]
// CHECK: nest.contract "c"
// CHECK: nest.contract "d"
// CHECK: nest.contract "f"
// CHECK: nest.contract "g"
// CHECK: nest.map "difference"
// CHECK-SAME: maps [#[[$FIRST]], #[[$SECOND]], #
func.func @readers(%x: tensor<4x2xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x2xf32>) {
  %aw = nest.weight "aw" : tensor<4x2xf32> = dense<1.0> : tensor<4x2xf32>
  %bw = nest.weight "bw" : tensor<4x2xf32> = dense<2.0> : tensor<4x2xf32>
  %cw = nest.weight "cw" : tensor<4x2xf32> = dense<3.0> : tensor<4x2xf32>
  %dw = nest.weight "dw" : tensor<3x2xf32> = dense<3.0> : tensor<3x2xf32>
  %fw = nest.weight "fw" : tensor<4x2xf32> = dense<4.0> : tensor<4x2xf32>
  %gw = nest.weight "gw" : tensor<4x2xf32> = dense<5.0> : tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %e3 = tensor.empty() : tensor<4x3xf32>
  %e2 = tensor.empty() : tensor<4x2xf32>
  %a = nest.contract "a" [m, n, k] ins(%x, %aw : tensor<4x2xf32>, tensor<4x2xf32>) outs(%e : tensor<4x4xf32>) maps [#in, #weight, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x4xf32>
  %b = nest.contract "b" [m, n, k] ins(%x, %bw : tensor<4x2xf32>, tensor<4x2xf32>) outs(%e : tensor<4x4xf32>) maps [#in, #weight, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x4xf32>
  %c = nest.contract "c" [m, n, k] ins(%x, %cw : tensor<4x2xf32>, tensor<4x2xf32>) outs(%e : tensor<4x4xf32>) maps [#in, #weight, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x4xf32>
  %d = nest.contract "d" [m, n, k] ins(%x, %dw : tensor<4x2xf32>, tensor<3x2xf32>) outs(%e3 : tensor<4x3xf32>) maps [#in, #weight, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x3xf32>
  %f = nest.contract "f" [m, n, k] ins(%x, %fw : tensor<4x2xf32>, tensor<4x2xf32>) outs(%e : tensor<4x4xf32>) maps [#in, #weight, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x4xf32>
  %g = nest.contract "g" [m, n, k] ins(%x, %gw : tensor<4x2xf32>, tensor<4x2xf32>) outs(%e : tensor<4x4xf32>) maps [#in, #weight, #out] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x4xf32>
  %diff = nest.map "difference" ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) maps [#same, #same, #same] {
  ^bb0(%s: f32, %t: f32):
    %v = arith.subf %s, %t : f32
    nest.yield %v : f32
  } -> tensor<4x4xf32>
  %copy = nest.map "copy" ins(%f : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) maps [#same, #same] {
  ^bb0(%s: f32):
    nest.yield %s : f32
  } -> tensor<4x4xf32>
  %neg = nest.map "negative" ins(%g : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) maps [#same, #same] {
  ^bb0(%s: f32):
    %v = arith.negf %s : f32
    nest.yield %v : f32
  } -> tensor<4x4xf32>
  %twice = nest.map "twice" ins(%gw : tensor<4x2xf32>) outs(%e2 : tensor<4x2xf32>) maps [#same, #same] {
  ^bb0(%s: f32):
    %v = arith.addf %s, %s : f32
    nest.yield %v : f32
  } -> tensor<4x2xf32>
  return %diff, %c, %d, %copy, %neg, %twice : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x2xf32>
}
