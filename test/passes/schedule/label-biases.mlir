// Equal biases without a name, one constant since common subexpressions were joined, lie each with its own weights. What is
// more than a bias, or has a name, stays one.
// RUN: ml2kokkos-opt %s --ml2k-label-kernels | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#n = affine_map<(m, n, k) -> (n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @equal_biases
// CHECK-DAG:     %[[B2:.*]] = nest.weight "linear2.bias" : tensor<3xf32>
// CHECK-DAG:     %[[B1:.*]] = nest.weight "linear1.bias" : tensor<3xf32>
// CHECK-DAG:     %[[S:.*]] = nest.weight "shared" : tensor<3xf32>
// CHECK:         nest.contract "linear1" {{.*}} extras(%[[B1]] : tensor<3xf32>)
// CHECK:         nest.contract "linear2" {{.*}} extras(%[[B2]], %[[S]] : tensor<3xf32>, tensor<3xf32>)
// CHECK:         nest.contract "linear3" {{.*}} extras(%[[S]] : tensor<3xf32>)
func.func @equal_biases(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %b = nest.weight "?" : tensor<3xf32> = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %s = nest.weight "shared" : tensor<3xf32> = dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %v = nest.weight "v" : tensor<3x3xf32> = dense<1.0> : tensor<3x3xf32>
  %w = nest.weight "w" : tensor<3x3xf32> = dense<2.0> : tensor<3x3xf32>
  %u = nest.weight "u" : tensor<3x3xf32> = dense<3.0> : tensor<3x3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %0 = nest.contract "" [m, n, k] ins(%x, %v : tensor<4x3xf32>, tensor<3x3xf32>) extras(%b : tensor<3xf32>)
      outs(%e : tensor<4x3xf32>) maps [#mk, #nk, #n, #mn] epilogue {
  ^bb0(%sum: f32, %bias: f32):
    %t = arith.addf %sum, %bias : f32
    nest.yield %t : f32
  } -> tensor<4x3xf32>
  %1 = nest.contract "" [m, n, k] ins(%0, %w : tensor<4x3xf32>, tensor<3x3xf32>) extras(%b, %s : tensor<3xf32>, tensor<3xf32>)
      outs(%e : tensor<4x3xf32>) maps [#mk, #nk, #n, #n, #mn] epilogue {
  ^bb0(%sum: f32, %bias: f32, %factor: f32):
    %t = arith.addf %sum, %bias : f32
    %r = arith.mulf %t, %factor : f32
    nest.yield %r : f32
  } -> tensor<4x3xf32>
  %2 = nest.contract "" [m, n, k] ins(%1, %u : tensor<4x3xf32>, tensor<3x3xf32>) extras(%s : tensor<3xf32>)
      outs(%e : tensor<4x3xf32>) maps [#mk, #nk, #n, #mn] epilogue {
  ^bb0(%sum: f32, %bias: f32):
    %t = arith.addf %sum, %bias : f32
    nest.yield %t : f32
  } -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}
