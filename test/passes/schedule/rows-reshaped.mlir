// A kept dimension that two reshapes of other shapes bring: joined, they add a dimension of extent 1 only.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// CHECK-LABEL: func.func @reshaped_mean
// CHECK: nest.row {{.*}} ins(%arg0 : tensor<48x128xf32>) outs(%{{.*}} : tensor<48x128xf32>)
// CHECK-NOT: linalg.
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#keep = affine_map<(d0, d1) -> (d0, 0)>
func.func @reshaped_mean(%x: tensor<48x128xf32>) -> tensor<48x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<48xf32>
  %e1 = tensor.empty() : tensor<48x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<48xf32>) -> tensor<48xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<48x128xf32>) outs(%f0 : tensor<48xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<48xf32>
  %a = tensor.expand_shape %s [[0, 1, 2]] output_shape [2, 24, 1] : tensor<48xf32> into tensor<2x24x1xf32>
  %b = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x24x1xf32> into tensor<48x1xf32>
  %r = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<48x128xf32>, tensor<48x1xf32>) outs(%e1 : tensor<48x128xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.subf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<48x128xf32>
  return %r : tensor<48x128xf32>
}
