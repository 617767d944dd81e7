// The input has a buffer behind the first use of memory: the buffers that the translator makes still precede all uses.
// RUN: ml2kokkos %s --emit nest -o - | FileCheck %s
// CHECK-LABEL: func.func @f
// CHECK-DAG: %[[ROOM:.*]] = nest.buffer "room"
// CHECK-DAG: nest.weight "w"
// CHECK: memref.store %{{.*}}, %[[ROOM]][
// CHECK: nest.conv
func.func @f(%x: tensor<1x1x4x1xf32>) -> tensor<1x1x8x1xf32> {
  %w = nest.weight "w" : tensor<1x1x1x3xf32> = dense<[[[[1.0, 2.0, 3.0]]]]> : tensor<1x1x1x3xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<1x1x7x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%room : tensor<1x1x7x1xf32>) -> tensor<1x1x7x1xf32>
  %c = nest.buffer "c" : memref<800x64xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 0, 0] [1, 1, 4, 1] [1, 1, 2, 1] : tensor<1x1x4x1xf32> into tensor<1x1x7x1xf32>
  %out = tensor.empty() : tensor<1x1x8x1xf32>
  %y = nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 1, 0, 2] groups 1
      ins(%spread, %w : tensor<1x1x7x1xf32>, tensor<1x1x1x3xf32>) outs(%out : tensor<1x1x8x1xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x1x8x1xf32>
  return %y : tensor<1x1x8x1xf32>
}
