// A generic may read one producer through two operands, with extents of 1 by other maps: all are fused, nothing reads itself.
// RUN: ml2kokkos-opt --ml2k-fuse-elementwise %s | FileCheck %s
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
#row = affine_map<(d0, d1, d2, d3) -> (d1)>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#moved = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#only = affine_map<(d0, d1, d2, d3) -> (0, d3, 0, 0)>
func.func @forward(%bias: tensor<6xf32>, %x: tensor<1x1x1x6xf32>) -> tensor<1x1x1x6xf32> {
  %e = tensor.empty() : tensor<1x6x1x1xf32>
  %b = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<6xf32>) outs(%e : tensor<1x6x1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x6x1x1xf32>
  %f = tensor.empty() : tensor<1x1x1x6xf32>
  %y = linalg.generic {indexing_maps = [#all, #moved, #only, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b, %b : tensor<1x1x1x6xf32>, tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) outs(%f : tensor<1x1x1x6xf32>) {
  ^bb0(%in: f32, %first: f32, %second: f32, %out: f32):
    %s = arith.addf %in, %first : f32
    %p = arith.mulf %s, %second : f32
    linalg.yield %p : f32
  } -> tensor<1x1x1x6xf32>
  return %y : tensor<1x1x1x6xf32>
}
