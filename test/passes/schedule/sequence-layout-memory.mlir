// A recurrent layer whose program has memory instead of tensors (a complex number is why) keeps its order.
// RUN: ml2kokkos %s --emit nest -o - | FileCheck %s
// CHECK: nest.map "t"
// CHECK: nest.recurrent "rnn"
// CHECK: nest.map "b"
#x = affine_map<(t, n, j) -> (t, n, j)>
#nj = affine_map<(t, n, j) -> (n, j)>
#swap = affine_map<(a, b, c) -> (b, a, c)>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

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
  %f:2 = nest.recurrent "rnn" steps 3 ins(%r : tensor<8x8xf32>) extras(%all : tensor<3x?x8xf32>)
      outs(%h, %y : tensor<?x8xf32>, tensor<3x?x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32

    nest.yield %1, %1 : f32, f32
  } -> tensor<?x8xf32>, tensor<3x?x8xf32>
  %one = arith.constant 1 : index
  %i = complex.constant [0.0 : f32, 1.0 : f32] : complex<f32>
  %batch = tensor.dim %f#1, %one : tensor<3x?x8xf32>
  %place = tensor.empty(%batch) : tensor<?x3x8xf32>
  %back = nest.map "b" ins(%f#1 : tensor<3x?x8xf32>) outs(%place : tensor<?x3x8xf32>) maps [#swap, #x] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<?x3x8xf32>
  return %back : tensor<?x3x8xf32>
}
