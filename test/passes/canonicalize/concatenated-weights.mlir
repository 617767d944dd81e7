// Gates that an exporter sorts at run time are sorted in the constant: the layer has one weight again.
// RUN: ml2kokkos-opt %s --ml2k-fold-weights --ml2k-cleanup | FileCheck %s

// CHECK-LABEL: func.func @gates
// CHECK: %[[W:.*]] = nest.weight "gru.weight" : tensor<1x3x2xf32> =
// CHECK-SAME{LITERAL}: dense<[[[3.000000e+00, 4.000000e+00], [1.000000e+00, 2.000000e+00], [5.000000e+00, 6.000000e+00]]]>
// CHECK-NEXT: return %[[W]]
func.func @gates() -> tensor<1x3x2xf32> {
  %w = nest.weight "gru.weight" : tensor<3x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %r = tensor.extract_slice %w[0, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
  %z = tensor.extract_slice %w[1, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
  %n = tensor.extract_slice %w[2, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
  %0 = tensor.concat dim(0) %z, %r, %n : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [1, 3, 2] : tensor<3x2xf32> into tensor<1x3x2xf32>
  return %1 : tensor<1x3x2xf32>
}

// Along the last dimension, of two weights.
// CHECK-LABEL: func.func @columns
// CHECK: nest.weight "b" : tensor<2x3xf32> =
// CHECK-SAME{LITERAL}: dense<[[1.000000e+00, 3.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00, 6.000000e+00]]>
func.func @columns() -> tensor<2x3xf32> {
  %a = nest.weight "b.x" : tensor<2x1xf32> = dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = nest.weight "b.y" : tensor<2x2xf32> = dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %0 = tensor.concat dim(1) %a, %b : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A weight that is read elsewhere as well would be stored twice.
// CHECK-LABEL: func.func @shared
// CHECK: tensor.concat
func.func @shared() -> (tensor<2x1xf32>, tensor<2x3xf32>) {
  %a = nest.weight "a" : tensor<2x1xf32> = dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = nest.weight "b" : tensor<2x2xf32> = dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %0 = tensor.concat dim(1) %a, %b : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return %a, %0 : tensor<2x1xf32>, tensor<2x3xf32>
}
