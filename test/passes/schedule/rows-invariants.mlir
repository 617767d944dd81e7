// RMS norm whose square root an earlier pass has moved into the elementwise operation: it is computed once per row.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// CHECK-LABEL: func.func @rms_norm
// CHECK: nest.row
// CHECK: nest.fold <sum> "squares"
// CHECK: } -> f32
// CHECK-NEXT: arith.divf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[SCALE:.*]] = math.rsqrt
// CHECK-NEXT: nest.each
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#vec = affine_map<(d0, d1, d2) -> (d2)>
func.func @rms_norm(%x: tensor<4x6x64xf32>, %g: tensor<64xf32>) -> tensor<4x6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e0 = tensor.empty() : tensor<4x6xf32>
  %e1 = tensor.empty() : tensor<4x6x64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x6x64xf32>) outs(%f0 : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #vec, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s, %g : tensor<4x6x64xf32>, tensor<4x6xf32>, tensor<64xf32>) outs(%e1 : tensor<4x6x64xf32>) {
  ^bb0(%in: f32, %sum: f32, %gain: f32, %out: f32):
    %0 = arith.divf %sum, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %in, %2 : f32
    %4 = arith.mulf %3, %gain : f32
    linalg.yield %4 : f32
  } -> tensor<4x6x64xf32>
  return %r : tensor<4x6x64xf32>
}
