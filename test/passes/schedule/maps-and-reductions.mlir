// Reductions that are not rows, and what is elementwise.
// RUN: ml2kokkos-opt %s --ml2k-fuse-elementwise --ml2k-form-reductions --ml2k-form-maps | FileCheck %s

// The consumer of a global average pool is in the finish block; unit loops vanish.
// CHECK-LABEL: func.func @gap
// CHECK-NOT: linalg.
// CHECK: nest.reduce {{.*}} <sum> from 0.000000e+00 : f32 over [1, 2] ins(%{{.*}} : tensor<1x7x7x512xf32>) extras(%{{.*}} : tensor<512xf32>)
// CHECK: finish
// CHECK: arith.divf
// CHECK: arith.addf
// CHECK-NOT: nest.map

// What a sum starts with counts once.
// CHECK-LABEL: func.func @matmul
// CHECK: nest.reduce {{.*}} over [2] {{.*}} extras(%arg2 : tensor<4x5xf32>)
// CHECK: arith.mulf
// CHECK: finish
// CHECK: arith.addf

// CHECK-LABEL: func.func @maps
// CHECK: nest.map {{.*}} ins(%arg0 : tensor<2x3x4x5xf32>) outs(%{{.*}} : tensor<2x5x4x3xf32>)
// CHECK: nest.map {{.*}} ins(%arg1 : tensor<6xi64>)
// CHECK: nest.index 1
// CHECK: tensor.extract %arg2
// CHECK: tensor.collapse_shape %arg0 {{.*}} into tensor<120xf32>
// CHECK: nest.map {{.*}} outs(%{{.*}} : tensor<120xf32>)
// CHECK: arith.maximumf
// CHECK: nest.map {{.*}} ins(%arg0 : tensor<2x3x4x5xf32>) outs(%{{.*}} : tensor<2x3x2x2xf32>)
// CHECK-NOT: tensor.extract_slice
#in = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#v = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1) -> (d0, d1)>
func.func @gap(%x: tensor<1x7x7x512xf32>, %bias: tensor<512xf32>) -> tensor<1x1x1x512xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 49.0 : f32
  %e = tensor.empty() : tensor<1x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x512xf32>) -> tensor<1x512xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%x : tensor<1x7x7x512xf32>) outs(%f : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1x512xf32>
  %sk = tensor.expand_shape %s [[0], [1, 2, 3]] output_shape [1, 1, 1, 512] : tensor<1x512xf32> into tensor<1x1x1x512xf32>
  %e1 = tensor.empty() : tensor<1x1x1x512xf32>
  %r = linalg.generic {indexing_maps = [#k, #v, #in], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sk, %bias : tensor<1x1x1x512xf32>, tensor<512xf32>) outs(%e1 : tensor<1x1x1x512xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1x1x1x512xf32>
  return %r : tensor<1x1x1x512xf32>
}
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}
func.func @maps(%x: tensor<2x3x4x5xf32>, %i: tensor<6xi64>, %t: tensor<100x8xf32>) -> (tensor<2x5x4x3xf32>, tensor<6x8xf32>, tensor<2x60xf32>, tensor<2x3x2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x4x3xf32>
  %tr = linalg.transpose ins(%x : tensor<2x3x4x5xf32>) outs(%e : tensor<2x5x4x3xf32>) permutation = [0, 3, 2, 1]
  %ge = tensor.empty() : tensor<6x8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<6xi64>) outs(%ge : tensor<6x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %0 = arith.index_cast %in : i64 to index
    %1 = linalg.index 1 : index
    %2 = tensor.extract %t[%0, %1] : tensor<100x8xf32>
    linalg.yield %2 : f32
  } -> tensor<6x8xf32>
  %xe = tensor.empty() : tensor<2x3x4x5xf32>
  %re = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<2x3x4x5xf32>) outs(%xe : tensor<2x3x4x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x4x5xf32>
  %c = tensor.collapse_shape %re [[0], [1, 2, 3]] : tensor<2x3x4x5xf32> into tensor<2x60xf32>
  %sl = tensor.extract_slice %x[0, 0, 1, 0] [2, 3, 2, 2] [1, 1, 1, 2] : tensor<2x3x4x5xf32> to tensor<2x3x2x2xf32>
  return %tr, %g, %c, %sl : tensor<2x5x4x3xf32>, tensor<6x8xf32>, tensor<2x60xf32>, tensor<2x3x2x2xf32>
}
