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

// A mirrored kernel.
// CHECK-LABEL: func.func @mirrored
// CHECK-NEXT: %[[W:.*]] = nest.weight "conv.weight" : tensor<2x3xf32> = dense<{{\[\[}}6.000000e+00, 4.000000e+00, 2.000000e+00], [5.000000e+00, 3.000000e+00, 1.000000e+00]]>
// CHECK-NEXT: return %[[W]]
func.func @mirrored() -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32> loc("conv.weight")
  %init = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (2 - j, 1 - i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%w : tensor<3x2xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A filter of one element stays where loops would have no other extent.
// CHECK-LABEL: func.func @one_element
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<1x1x5x5xf32>, tensor<1x1x1x1xf32>)
func.func @one_element(%x: tensor<1x1x5x5xf32>, %init: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %w = arith.constant dense<3.0> : tensor<1x1x1x1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, o, p, q, c, r, t) -> (n, c, p * 2 + r, q * 2 + t)>,
                                        affine_map<(n, o, p, q, c, r, t) -> (o, c, r, t)>,
                                        affine_map<(n, o, p, q, c, r, t) -> (n, o, p, q)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x1x5x5xf32>, tensor<1x1x1x1xf32>) outs(%init : tensor<1x1x3x3xf32>) {
  ^bb0(%in: f32, %f: f32, %out: f32):
    %1 = arith.mulf %in, %f : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x1x3x3xf32>
  return %0 : tensor<1x1x3x3xf32>
}

// Gates in another order are one weight, as long as nothing else reads them.
// CHECK-LABEL: func.func @reordered
// CHECK-DAG: nest.weight "lstm.W" : tensor<3x2xf32> = dense<{{\[\[}}5.000000e+00, 6.000000e+00], [1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]>
// CHECK-DAG: nest.weight "other" : tensor<1x2xf32>
// CHECK: tensor.concat dim(0)
// CHECK-NOT: tensor.concat
// CHECK: return
func.func @reordered() -> (tensor<3x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32> loc("lstm.W")
  %last = tensor.extract_slice %w[2, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
  %first = tensor.extract_slice %w[0, 0] [2, 2] [1, 1] : tensor<3x2xf32> to tensor<2x2xf32>
  %0 = tensor.concat dim(0) %last, %first : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %row = arith.constant dense<[[7.0, 8.0]]> : tensor<1x2xf32> loc("other")
  %twice = tensor.concat dim(0) %row, %row : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  return %0, %twice : tensor<3x2xf32>, tensor<2x2xf32>
}

// A weight that has one value for every iteration is that value (`zeros_like`). One that repeats may be a parameter.
// CHECK-LABEL: func.func @uniform
// CHECK-NOT: nest.weight "zeros_like"
// CHECK: nest.weight "bias" : tensor<3xf32> = dense<0.000000e+00>
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>)
func.func @uniform(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zeros = nest.weight "zeros_like" : tensor<2x3xf32> = dense<0.0> : tensor<2x3xf32>
  %bias = nest.weight "bias" : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  %init = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %zeros, %bias : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%a: f32, %zero: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.maximumf %1, %zero : f32
    linalg.yield %2 : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
