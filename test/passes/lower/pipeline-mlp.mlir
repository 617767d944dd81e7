// The whole stage on a multi-layer perceptron with a run-time batch: the last kernel writes the caller's memory.
// RUN: ml2kokkos-opt %s --ml2k-lower | FileCheck %s

// CHECK-LABEL: func.func @mlp
// CHECK-SAME:  (%[[X:.*]]: memref<?x8xf32> {nest.name = "x"}, %[[Y:.*]]: memref<?x4xf32> {nest.name = "y", nest.output})
func.func @mlp(%x: tensor<?x8xf32> {nest.name = "x"}) -> (tensor<?x4xf32> {nest.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  // CHECK: nest.weight "fc1.weight"
  %w1 = nest.weight "fc1.weight" : tensor<16x8xf32> = dense<1.0> : tensor<16x8xf32>
  %w2 = nest.weight "fc2.weight" : tensor<4x16xf32> = dense<1.0> : tensor<4x16xf32>
  // CHECK: %[[N:.*]] = memref.dim %[[X]]
  // CHECK: %[[H:.*]] = nest.buffer "fc1"(%[[N]]){{.*}} : memref<?x16xf32>
  // CHECK-NOT: nest.buffer
  %e1 = tensor.empty(%n) : tensor<?x16xf32>
  // CHECK: nest.contract "fc1" {{.*}} outs(%[[H]] : memref<?x16xf32>)
  %h = nest.contract "fc1" [m, n, k] ins(%x, %w1 : tensor<?x8xf32>, tensor<16x8xf32>) outs(%e1 : tensor<?x16xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<?x16xf32>
  %e2 = tensor.empty(%n) : tensor<?x4xf32>
  // CHECK: nest.contract "fc2" {{.*}} ins(%[[H]], {{.*}} outs(%[[Y]] : memref<?x4xf32>)
  %y = nest.contract "fc2" [m, n, k] ins(%h, %w2 : tensor<?x16xf32>, tensor<4x16xf32>) outs(%e2 : tensor<?x4xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<?x4xf32>
  // CHECK-NOT: copy
  // CHECK: return
  return %y : tensor<?x4xf32>
}
