// RUN: ml2kokkos-opt %s --ml2k-own-inits | FileCheck %s

#id = affine_map<(a) -> (a)>

// Two kernels that share a tensor.empty, and two loop states that share a fill, get one each.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: %[[E0:.*]] = tensor.empty()
  // CHECK: %[[Z0:.*]] = nest.map "zero" outs(%[[E0]]
  %z = nest.map "zero" outs(%e : tensor<4xf32>) maps [#id] {
    %c = arith.constant 0.0 : f32
    nest.yield %c : f32
  } -> tensor<4xf32>
  // CHECK: %[[E1:.*]] = tensor.empty()
  // CHECK: nest.map "copy" ins(%{{.*}}) outs(%[[E1]]
  %y = nest.map "copy" ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<4xf32>
  // CHECK: %[[E2:.*]] = tensor.empty()
  // CHECK: %[[Z1:.*]] = nest.map "zero_{{....}}" outs(%[[E2]]
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[Z0]], %{{.*}} = %[[Z1]])
  %a, %b = scf.for %i = %c0 to %c1 step %c1 iter_args(%p = %z, %q = %z) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %q, %p : tensor<4xf32>, tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
