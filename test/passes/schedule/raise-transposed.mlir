// A convolution of an image with zeros between its pixels is a transposed one of the image as it is.
// RUN: ml2kokkos-opt %s --ml2k-raise-transposed --split-input-file | FileCheck %s

// Kernel 3, stride 2, padding 1: completed to 4 with zeros, the phases have the taps 0 2 and 1 3, in the order of the pixels.
// CHECK-LABEL: func.func @strided
// CHECK: nest.weight "w" : tensor<2x1x1x2xf32> = dense<{{\[\[\[\[}}0.000000e+00, 2.000000e+00]]], {{\[\[\[}}1.000000e+00, 3.000000e+00]]]]>
// CHECK: nest.conv "conv" transposed strides [1, 2] dilations [1, 1] pads [0, 1, 0, 1] groups 1
// CHECK-SAME: ins(%arg0, %{{.*}} : tensor<1x1x4x1xf32>, tensor<2x1x1x2xf32>) outs(%{{.*}} : tensor<1x1x8x1xf32>)
func.func @strided(%x: tensor<1x1x4x1xf32>) -> tensor<1x1x8x1xf32> {
  %w = nest.weight "w" : tensor<1x1x1x3xf32> = dense<[[[[1.0, 2.0, 3.0]]]]> : tensor<1x1x1x3xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<1x1x7x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%room : tensor<1x1x7x1xf32>) -> tensor<1x1x7x1xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 0, 0] [1, 1, 4, 1] [1, 1, 2, 1] : tensor<1x1x4x1xf32> into tensor<1x1x7x1xf32>
  %out = tensor.empty() : tensor<1x1x8x1xf32>
  %0 = nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 1, 0, 2] groups 1
      ins(%spread, %w : tensor<1x1x7x1xf32>, tensor<1x1x1x3xf32>) outs(%out : tensor<1x1x8x1xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x1x8x1xf32>
  return %0 : tensor<1x1x8x1xf32>
}

// -----

// Heights of the run: the room is 2 * rows - 1 high.
// CHECK-LABEL: func.func @of_the_run
// CHECK: linalg.transpose ins(%arg0 : tensor<1x3x?x4xf32>)
// CHECK: nest.conv "conv" transposed strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1
// CHECK-SAME: tensor<1x?x4x3xf32>, tensor<20x3x1x1xf32>) outs(%{{.*}} : tensor<1x?x8x5xf32>)
func.func @of_the_run(%x: tensor<1x3x?x4xf32>) -> tensor<1x?x8x5xf32> {
  %w = nest.weight "w" : tensor<5x3x2x2xf32> = dense<1.0> : tensor<5x3x2x2xf32>
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c2 : tensor<1x3x?x4xf32>
  %twice = arith.muli %rows, %c2 : index
  %spread_rows = arith.subi %twice, %c1 : index
  %room = tensor.empty(%spread_rows) : tensor<1x3x?x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%room : tensor<1x3x?x7xf32>) -> tensor<1x3x?x7xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 0, 0] [1, 3, %rows, 4] [1, 1, 2, 2] : tensor<1x3x?x4xf32> into tensor<1x3x?x7xf32>
  %init = tensor.empty(%spread_rows) : tensor<1x?x7x3xf32>
  %last = linalg.transpose ins(%spread : tensor<1x3x?x7xf32>) outs(%init : tensor<1x?x7x3xf32>) permutation = [0, 2, 3, 1]
  %out = tensor.empty(%twice) : tensor<1x?x8x5xf32>
  %0 = nest.conv "conv" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%last, %w : tensor<1x?x7x3xf32>, tensor<5x3x2x2xf32>) outs(%out : tensor<1x?x8x5xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x?x8x5xf32>
  return %0 : tensor<1x?x8x5xf32>
}

// -----

// An odd number of results is not two phases of equal size.
// CHECK-LABEL: func.func @odd
// CHECK-NOT: transposed
// CHECK: return
func.func @odd(%x: tensor<1x1x4x1xf32>) -> tensor<1x1x7x1xf32> {
  %w = nest.weight "w" : tensor<1x1x1x3xf32> = dense<1.0> : tensor<1x1x1x3xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x1x7x1xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 0, 0] [1, 1, 4, 1] [1, 1, 2, 1] : tensor<1x1x4x1xf32> into tensor<1x1x7x1xf32>
  %out = tensor.empty() : tensor<1x1x7x1xf32>
  %0 = nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 1, 0, 1] groups 1
      ins(%spread, %w : tensor<1x1x7x1xf32>, tensor<1x1x1x3xf32>) outs(%out : tensor<1x1x7x1xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x1x7x1xf32>
  return %0 : tensor<1x1x7x1xf32>
}

// -----

// Neither is an image between ones, nor one with zeros behind its last pixel.
// CHECK-LABEL: func.func @other_rooms
// CHECK-NOT: transposed
// CHECK: return
func.func @other_rooms(%x: tensor<1x1x4x1xf32>) -> (tensor<1x1x8x1xf32>, tensor<1x1x8x1xf32>) {
  %w = nest.weight "w" : tensor<1x1x1x2xf32> = dense<1.0> : tensor<1x1x1x2xf32>
  %ones = arith.constant dense<1.0> : tensor<1x1x7x1xf32>
  %between = tensor.insert_slice %x into %ones[0, 0, 0, 0] [1, 1, 4, 1] [1, 1, 2, 1] : tensor<1x1x4x1xf32> into tensor<1x1x7x1xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x1x8x1xf32>
  %behind = tensor.insert_slice %x into %zeros[0, 0, 0, 0] [1, 1, 4, 1] [1, 1, 2, 1] : tensor<1x1x4x1xf32> into tensor<1x1x8x1xf32>
  %out = tensor.empty() : tensor<1x1x8x1xf32>
  %0 = nest.conv "between" strides [1, 1] dilations [1, 1] pads [0, 1, 0, 1] groups 1
      ins(%between, %w : tensor<1x1x7x1xf32>, tensor<1x1x1x2xf32>) outs(%out : tensor<1x1x8x1xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x1x8x1xf32>
  %1 = nest.conv "behind" strides [1, 1] dilations [1, 1] pads [0, 1, 0, 0] groups 1
      ins(%behind, %w : tensor<1x1x8x1xf32>, tensor<1x1x1x2xf32>) outs(%out : tensor<1x1x8x1xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x1x8x1xf32>
  return %0, %1 : tensor<1x1x8x1xf32>, tensor<1x1x8x1xf32>
}
