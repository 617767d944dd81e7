// A window's taps are not read, but say how far the loops over it reach.
// RUN: ml2kokkos-opt %s --ml2k-form-reductions | FileCheck %s

// CHECK-LABEL: func.func @fold
// CHECK: nest.reduce "{{.*}}" <sum> from 0.000000e+00 : f32 over [1] ins(%arg0, %{{.*}} : tensor<6xf32>, tensor<3xf32>)
func.func @fold(%x: tensor<6xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %taps = tensor.empty() : tensor<3xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, r) -> (i + r)>, affine_map<(i, r) -> (r)>, affine_map<(i, r) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %taps : tensor<6xf32>, tensor<3xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%v: f32, %tap: f32, %acc: f32):
    %sum = arith.addf %acc, %v : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
