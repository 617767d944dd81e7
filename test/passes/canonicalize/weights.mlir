// Constants become weights; a change of their order is made at translation, scalars go into the code.
// RUN: ml2kokkos-opt %s --ml2k-name-weights --ml2k-inline-scalars --ml2k-fold-weights | FileCheck %s

// CHECK-LABEL: func.func @transposed
// CHECK: %[[W:.*]] = nest.weight "fc.weight" : tensor<3x2xf32> = dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]>
// CHECK: return %[[W]]
func.func @transposed() -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> loc("fc.weight")
  %init = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%init : tensor<3x2xf32>) permutation = [1, 0]
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @halved
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>)
// CHECK: arith.mulf %{{.*}}, %[[HALF]]
func.func @halved(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %init = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%x, %half : tensor<4xf32>, tensor<f32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %1 = arith.mulf %in, %scale : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
