// Both directions of a recurrent layer become one kernel, unless one reads what the other computes.
// RUN: ml2kokkos-opt %s --ml2k-join-directions --split-input-file | FileCheck %s

#x = affine_map<(t, n, j) -> (t, n, j)>
#back = affine_map<(t, n, j) -> (-t + 2, n, j)>
#nj = affine_map<(t, n, j) -> (n, j)>

// CHECK-LABEL: func.func @both
// What the reverse direction needs comes first
// CHECK: %[[TWICE:.*]] = nest.map
// CHECK: %[[ALL:.*]]:4 = nest.recurrent "" steps 3 ins(%[[A:.*]], %[[B:.*]] : tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK-SAME: extras(%[[X:.*]], %[[TWICE]] : tensor<3x2x8xf32>, tensor<3x2x8xf32>)
// CHECK-SAME: attributes {starts = [0.000000e+00 : f32, unit, 1.000000e+00 : f32, unit]}
// CHECK-SAME: next
// CHECK: nest.yield
// CHECK: arith.mulf
// CHECK: nest.yield
// CHECK: %[[USED:.*]] = nest.map "" ins(%[[ALL]]#1
// CHECK: return %[[USED]], %[[ALL]]#3
func.func @both(%x: tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>, tensor<3x2x8xf32>) {
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
  %used = nest.map "" ins(%f#1 : tensor<3x2x8xf32>) outs(%y : tensor<3x2x8xf32>) maps [#x, #x] {
  ^bb0(%v: f32):
    %1 = math.tanh %v : f32
    nest.yield %1 : f32
  } -> tensor<3x2x8xf32>
  %twice = nest.map "" ins(%x : tensor<3x2x8xf32>) outs(%y : tensor<3x2x8xf32>) maps [#x, #x] {
  ^bb0(%v: f32):
    %1 = arith.addf %v, %v : f32
    nest.yield %1 : f32
  } -> tensor<3x2x8xf32>
  %r:2 = nest.recurrent "" steps 3 ins(%b : tensor<8x8xf32>) extras(%twice : tensor<3x2x8xf32>)
      outs(%h, %y : tensor<2x8xf32>, tensor<3x2x8xf32>) maps [#back, #nj, #back] attributes {starts = [1.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.mulf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<2x8xf32>, tensor<3x2x8xf32> loc("RNN \"rnn\" reverse")
  return %used, %r#1 : tensor<3x2x8xf32>, tensor<3x2x8xf32>
}

// -----

#x = affine_map<(t, n, j) -> (t, n, j)>
#nj = affine_map<(t, n, j) -> (n, j)>

// CHECK-LABEL: func.func @chained
// CHECK-COUNT-2: nest.recurrent "" steps 3 ins(%{{[^,]*}} : tensor<8x8xf32>)
func.func @chained(%x: tensor<3x2x8xf32>) -> tensor<3x2x8xf32> {
  %a = nest.weight "a" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %h = tensor.empty() : tensor<2x8xf32>
  %y = tensor.empty() : tensor<3x2x8xf32>
  %f:2 = nest.recurrent "" steps 3 ins(%a : tensor<8x8xf32>) extras(%x : tensor<3x2x8xf32>)
      outs(%h, %y : tensor<2x8xf32>, tensor<3x2x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<2x8xf32>, tensor<3x2x8xf32> loc("RNN \"rnn\"")
  %r:2 = nest.recurrent "" steps 3 ins(%a : tensor<8x8xf32>) extras(%f#1 : tensor<3x2x8xf32>)
      outs(%h, %y : tensor<2x8xf32>, tensor<3x2x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } -> tensor<2x8xf32>, tensor<3x2x8xf32> loc("RNN \"rnn\" reverse")
  return %r#1 : tensor<3x2x8xf32>
}

// -----

#x = affine_map<(t, n, j) -> (t, n, j)>
#back = affine_map<(t, n, j) -> (-t + 2, n, j)>
#nj = affine_map<(t, n, j) -> (n, j)>

// In memory already: they stay as they are
// CHECK-LABEL: func.func @in_memory
// CHECK-COUNT-2: nest.recurrent "" steps 3 ins(%{{[^,]*}} : memref<8x8xf32>)
func.func @in_memory(%x: memref<3x2x8xf32>, %h: memref<2x8xf32>, %y: memref<3x2x8xf32>, %z: memref<3x2x8xf32>) {
  %a = nest.weight "a" : memref<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  nest.recurrent "" steps 3 ins(%a : memref<8x8xf32>) extras(%x : memref<3x2x8xf32>)
      outs(%h, %y : memref<2x8xf32>, memref<3x2x8xf32>) maps [#x, #nj, #x] attributes {starts = [0.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.addf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } loc("RNN \"rnn\"")
  nest.recurrent "" steps 3 ins(%a : memref<8x8xf32>) extras(%x : memref<3x2x8xf32>)
      outs(%h, %z : memref<2x8xf32>, memref<3x2x8xf32>) maps [#back, #nj, #back] attributes {starts = [1.0 : f32, unit]} next {
  ^bb0(%sum: f32, %in: f32, %before: f32, %unused: f32):
    %1 = arith.mulf %sum, %in : f32
    nest.yield %1, %1 : f32, f32
  } loc("RNN \"rnn\" reverse")
  return
}
