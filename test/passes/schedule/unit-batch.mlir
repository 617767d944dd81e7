// A layer norm over the pixels of one image behind a product: the mean has a batch of one in front of its rows and columns, which
// are joined with the rows of the product nevertheless. One loop over 64 rows is left, and one kernel.
// RUN: ml2kokkos-opt %s --ml2k-collapse-loops --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @centred
// CHECK-SAME:    (%[[X:.*]]: tensor<64x32xf32>, %[[MEAN:.*]]: tensor<1x8x8xf32>)
// CHECK:       %[[ROWS:.*]] = tensor.collapse_shape %[[MEAN]] {{.*}} : tensor<1x8x8xf32> into tensor<64xf32>
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[ROWS]] :
func.func @centred(%x: tensor<64x32xf32>, %mean: tensor<1x8x8xf32>) -> tensor<1x8x8x32xf32> {
  %image = tensor.expand_shape %x [[0, 1, 2], [3]] output_shape [1, 8, 8, 32] : tensor<64x32xf32> into tensor<1x8x8x32xf32>
  %kept = tensor.expand_shape %mean [[0], [1], [2, 3]] output_shape [1, 8, 8, 1] : tensor<1x8x8xf32> into tensor<1x8x8x1xf32>
  %init = tensor.empty() : tensor<1x8x8x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, 0)>,
                                        affine_map<(n, h, w, c) -> (n, h, w, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%image, %kept : tensor<1x8x8x32xf32>, tensor<1x8x8x1xf32>) outs(%init : tensor<1x8x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1x8x8x32xf32>
  return %r : tensor<1x8x8x32xf32>
}
