// A transposed convolution as torch-mlir writes it: the image spread into zeros that hold the pads, too, and a kernel that is
// mirrored while the network runs. It is the convolution by phases that ONNX's ConvTranspose is.
// RUN: ml2kokkos-opt %s --ml2k-to-canonical | FileCheck %s
// RUN: ml2kokkos %s --emit=scheduled -o - | FileCheck %s --check-prefix=CONV

// The first element of the kernel was its last one.
// CHECK: nest.weight {{.*}} : tensor<2x1x2x2xf32> = dense<{{\[\[\[\[}}4.000000e+00, 3.000000e+00], [2.000000e+00, 1.000000e+00]]], {{\[\[\[}}8.000000e+00, 7.000000e+00], [6.000000e+00, 5.000000e+00]]]]>
// CHECK: %[[SPREAD:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 0] [1, 1, 4, 5] [1, 1, 2, 2] : tensor<1x1x4x5xf32> into tensor<1x1x7x9xf32>
// CHECK: tensor.pad %[[SPREAD]] low[0, 0, 1, 1] high[0, 0, 1, 1]
// CONV-NOT: tensor.insert_slice
// CONV: nest.conv
// CONV-SAME: transposed
func.func @up(%x: tensor<1x1x4x5xf32>) -> tensor<1x2x8x10xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %kernel = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
  %mirror = tensor.empty() : tensor<2x1x2x2xf32>
  %mirrored = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%mirror : tensor<2x1x2x2xf32>) {
  ^bb0(%out: f32):
    %o = linalg.index 0 : index
    %c = linalg.index 1 : index
    %r = linalg.index 2 : index
    %s = linalg.index 3 : index
    %row = arith.subi %c1, %r : index
    %column = arith.subi %c1, %s : index
    %v = tensor.extract %kernel[%c, %o, %row, %column] : tensor<1x2x2x2xf32>
    linalg.yield %v : f32
  } -> tensor<2x1x2x2xf32>
  %e = tensor.empty() : tensor<1x1x9x11xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x9x11xf32>) -> tensor<1x1x9x11xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 1, 4, 5] [1, 1, 2, 2] : tensor<1x1x4x5xf32> into tensor<1x1x9x11xf32>
  %f = tensor.empty() : tensor<1x2x8x10xf32>
  %start = linalg.fill ins(%zero : f32) outs(%f : tensor<1x2x8x10xf32>) -> tensor<1x2x8x10xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%spread, %mirrored : tensor<1x1x9x11xf32>, tensor<2x1x2x2xf32>) outs(%start : tensor<1x2x8x10xf32>) -> tensor<1x2x8x10xf32>
  return %y : tensor<1x2x8x10xf32>
}
