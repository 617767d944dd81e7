// Several loops along the row become one, and so do the loops over the rows; operands are reshaped.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// CHECK-LABEL: func.func @instance_mean
// CHECK-NOT: linalg.
// CHECK: nest.row {{.*}} ins(%{{.*}} : tensor<6x64xf32>) outs(%{{.*}} : tensor<6x64xf32>)
// CHECK: nest.fold <sum> "total"
// CHECK: arith.divf {{.*}} {nest.name = "mean"}
// CHECK-NEXT: nest.each
// CHECK: tensor.expand_shape %{{.*}} into tensor<2x3x8x8xf32>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @instance_mean(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %e0 = tensor.empty() : tensor<2x3xf32>
  %e1 = tensor.empty() : tensor<2x3x8x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x : tensor<2x3x8x8xf32>) outs(%f0 : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<2x3x8x8xf32>, tensor<2x3xf32>) outs(%e1 : tensor<2x3x8x8xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %sum, %n : f32
    %1 = arith.subf %in, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x8x8xf32>
  return %r : tensor<2x3x8x8xf32>
}
