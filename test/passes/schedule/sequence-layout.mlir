// Sequences with the batch in front are read and written where they lie: no transposition stands around the layer.
// RUN: ml2kokkos-opt %s --ml2k-join-directions --canonicalize | FileCheck %s

#x = affine_map<(t, n, j) -> (t, n, j)>
#back = affine_map<(t, n, j) -> (-t + 2, n, j)>
#nj = affine_map<(t, n, j) -> (n, j)>
#swap = affine_map<(a, b, c) -> (b, a, c)>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// CHECK-DAG: #[[$SWAP:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[$BACK:.*]] = affine_map<(d0, d1, d2) -> (d1, -d0 + 2, d2)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>

// CHECK-LABEL: func.func @read
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x3x6xf32>
// CHECK-NOT: nest.map
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK: %[[P:.*]] = nest.contract "p" {{.*}} ins(%[[ROWS]],
// CHECK: %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, 3, 8]
// CHECK: nest.recurrent "" steps 3 {{.*}} extras(%[[E]] : tensor<?x3x8xf32>) {{.*}} maps [#[[$SWAP]], #[[$ROW]], #[[$SWAP]]]
// CHECK: tensor<?x3x8xf32>
// CHECK-NOT: nest.map
// CHECK: return
func.func @read(%x: tensor<?x3x6xf32>, %n: index, %rows: index) -> tensor<?x3x8xf32> {
  %w = nest.weight "w" : tensor<8x6xf32> = dense<1.0> : tensor<8x6xf32>
  %r = nest.weight "r" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %turned = tensor.empty(%n) : tensor<3x?x6xf32>
  %t = nest.map "t" ins(%x : tensor<?x3x6xf32>) outs(%turned : tensor<3x?x6xf32>) maps [#swap, #x] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<3x?x6xf32>
  %flat = tensor.collapse_shape %t [[0, 1], [2]] : tensor<3x?x6xf32> into tensor<?x6xf32>
  %sums = tensor.empty(%rows) : tensor<?x8xf32>
  %p = nest.contract "p" [m, n, k] ins(%flat, %w : tensor<?x6xf32>, tensor<8x6xf32>) outs(%sums : tensor<?x8xf32>)
      maps [#lhs, #rhs, #out] epilogue {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<?x8xf32>
  %all = tensor.expand_shape %p [[0, 1], [2]] output_shape [3, %n, 8] : tensor<?x8xf32> into tensor<3x?x8xf32>
  %h = tensor.empty(%n) : tensor<?x8xf32>
  %y = tensor.empty(%n) : tensor<3x?x8xf32>
  %f:2 = nest.recurrent "" steps 3 ins(%r : tensor<8x8xf32>) extras(%all : tensor<3x?x8xf32>)
      outs(%h, %y : tensor<?x8xf32>, tensor<3x?x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<?x8xf32>, tensor<3x?x8xf32>
  %one = arith.constant 1 : index
  %batch = tensor.dim %f#1, %one : tensor<3x?x8xf32>
  %place = tensor.empty(%batch) : tensor<?x3x8xf32>
  %back = nest.map "b" ins(%f#1 : tensor<3x?x8xf32>) outs(%place : tensor<?x3x8xf32>) maps [#swap, #x] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<?x3x8xf32>
  return %back : tensor<?x3x8xf32>
}

// Both directions, beside each other for each step of a row of the batch: [batch, steps, 2, 8]
// CHECK-LABEL: func.func @both
// CHECK: %[[ALL:.*]]:4 = nest.recurrent {{.*}} maps [{{.*}}, #[[$ROW]], #[[$SWAP]], #[[$ROW]], #[[$BACK]]]
// CHECK-DAG: %[[A:.*]] = tensor.expand_shape %[[ALL]]#1 {{\[\[}}0], [1, 2], [3]] output_shape [2, 3, 1, 8]
// CHECK-DAG: %[[B:.*]] = tensor.expand_shape %[[ALL]]#3 {{\[\[}}0], [1, 2], [3]] output_shape [2, 3, 1, 8]
// CHECK: %[[C:.*]] = tensor.concat dim(2) %[[A]], %[[B]]
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[C]] {{\[\[}}0], [1, 2], [3]]
// CHECK: return %[[R]]
func.func @both(%x: tensor<3x2x8xf32>) -> tensor<2x6x8xf32> {
  %a = nest.weight "a" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %b = nest.weight "b" : tensor<8x8xf32> = dense<2.0> : tensor<8x8xf32>
  %h = tensor.empty() : tensor<2x8xf32>
  %y = tensor.empty() : tensor<3x2x8xf32>
  %f:2 = nest.recurrent "" steps 3 ins(%a : tensor<8x8xf32>) extras(%x : tensor<3x2x8xf32>)
      outs(%h, %y : tensor<2x8xf32>, tensor<3x2x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<2x8xf32>, tensor<3x2x8xf32> loc("RNN \"rnn\"")
  %r:2 = nest.recurrent "" steps 3 ins(%b : tensor<8x8xf32>) extras(%x : tensor<3x2x8xf32>)
      outs(%h, %y : tensor<2x8xf32>, tensor<3x2x8xf32>) maps [#back, #nj, #back] attributes {starts = [1.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.mulf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<2x8xf32>, tensor<3x2x8xf32> loc("RNN \"rnn\" reverse")
  %first = tensor.expand_shape %f#1 [[0], [1, 2], [3]] output_shape [3, 1, 2, 8] : tensor<3x2x8xf32> into tensor<3x1x2x8xf32>
  %second = tensor.expand_shape %r#1 [[0], [1, 2], [3]] output_shape [3, 1, 2, 8] : tensor<3x2x8xf32> into tensor<3x1x2x8xf32>
  %all = tensor.concat dim(1) %first, %second : (tensor<3x1x2x8xf32>, tensor<3x1x2x8xf32>) -> tensor<3x2x2x8xf32>
  %flat = tensor.collapse_shape %all [[0, 1], [2], [3]] : tensor<3x2x2x8xf32> into tensor<6x2x8xf32>
  %place = tensor.empty() : tensor<2x6x8xf32>
  %back = nest.map "b" ins(%flat : tensor<6x2x8xf32>) outs(%place : tensor<2x6x8xf32>) maps [#swap, #x] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<2x6x8xf32>
  return %back : tensor<2x6x8xf32>
}

// Others read the sequence as it was: it stays.
// CHECK-LABEL: func.func @read_twice
// CHECK: nest.recurrent
// CHECK: nest.map
func.func @read_twice(%x: tensor<3x2x8xf32>) -> (tensor<2x3x8xf32>, tensor<3x2x8xf32>) {
  %a = nest.weight "a" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %h = tensor.empty() : tensor<2x8xf32>
  %y = tensor.empty() : tensor<3x2x8xf32>
  %f:2 = nest.recurrent "" steps 3 ins(%a : tensor<8x8xf32>) extras(%x : tensor<3x2x8xf32>)
      outs(%h, %y : tensor<2x8xf32>, tensor<3x2x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<2x8xf32>, tensor<3x2x8xf32>
  %place = tensor.empty() : tensor<2x3x8xf32>
  %back = nest.map "b" ins(%f#1 : tensor<3x2x8xf32>) outs(%place : tensor<2x3x8xf32>) maps [#swap, #x] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<2x3x8xf32>
  return %back, %f#1 : tensor<2x3x8xf32>, tensor<3x2x8xf32>
}
