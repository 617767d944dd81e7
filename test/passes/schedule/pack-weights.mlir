// A weight is stored once for all kernels that read it in one layout, and once more for those that read it as it is.
// RUN: ml2kokkos-opt %s --ml2k-pack-weights | FileCheck %s

// CHECK-LABEL: func.func @shared
// CHECK: %[[W:.*]] = nest.weight "w" packing <panels>
// CHECK-NOT: nest.weight
// CHECK: nest.contract "first" {{.*}}ins(%{{.*}}, %[[W]] :
// CHECK: nest.contract "second" {{.*}}ins(%{{.*}}, %[[W]] :
func.func @shared(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = nest.weight "w" : tensor<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %first = nest.contract "first" [m, n, k] ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x2xf32>
  %second = nest.contract "second" [m, n, k] ins(%first, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x2xf32>
  return %second : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @also_read
// CHECK: nest.weight "w.panels" packing <panels>
// CHECK: nest.weight "w" : tensor
// CHECK-NOT: nest.weight
// CHECK: return
func.func @also_read(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = nest.weight "w" : tensor<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %first = nest.contract "first" [m, n, k] ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x2xf32>
  %second = nest.contract "second" [m, n, k] ins(%first, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2x2xf32>
  return %second, %w : tensor<2x2xf32>, tensor<2x2xf32>
}
