// The tokens of a vision transformer: the result of a convolution is flattened and transposed back to channels last, with a
// bias between. Both transposes cancel before the second goes on through what reads it.
// RUN: ml2kokkos-opt %s --ml2k-propagate-layout | FileCheck %s
// CHECK-LABEL: func.func @forward
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x4x4x128xf32> into tensor<1x16x128xf32>
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @forward(%x: tensor<1x4x4x128xf32>, %bias: tensor<128xf32>, %pos: tensor<1x16x128xf32>) -> tensor<1x16x128xf32> {
  %e0 = tensor.empty() : tensor<1x128x4x4xf32>
  %0 = linalg.transpose ins(%x : tensor<1x4x4x128xf32>) outs(%e0 : tensor<1x128x4x4xf32>) permutation = [0, 3, 1, 2]
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (b)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0, %bias : tensor<1x128x4x4xf32>, tensor<128xf32>) outs(%e0 : tensor<1x128x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x128x4x4xf32>
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<1x128x4x4xf32> into tensor<1x128x16xf32>
  %e1 = tensor.empty() : tensor<1x16x128xf32>
  %3 = linalg.transpose ins(%2 : tensor<1x128x16xf32>) outs(%e1 : tensor<1x16x128xf32>) permutation = [0, 2, 1]
  %4 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %pos : tensor<1x16x128xf32>, tensor<1x16x128xf32>) outs(%e1 : tensor<1x16x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x16x128xf32>
  return %4 : tensor<1x16x128xf32>
}
