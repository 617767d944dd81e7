// Named operations, copies in another order, and sums that start from something.
// RUN: ml2kokkos-opt %s --ml2k-generalize | FileCheck %s

// CHECK-LABEL: func.func @copy_is_transpose
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
func.func @copy_is_transpose(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %init = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x3xf32>) outs(%init : tensor<3x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// A product that starts from a bias starts from zero and adds it after.
// CHECK-LABEL: func.func @starts_from_bias
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"reduction"{{.*}} outs(%[[ZERO]] :
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %arg2 :
// CHECK: arith.addf
func.func @starts_from_bias(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Extents at run time come from the product, which the addition reads, too.
// CHECK-LABEL: func.func @starts_from_bias_of_any_size
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}}"reduction"{{.*}} outs(%[[ZEROS]] :
// CHECK: %[[TOTAL:.*]] = linalg.generic {{.*}} ins(%[[PRODUCT]], %arg2 :
// CHECK: arith.addf
// CHECK: return %[[TOTAL]]
func.func @starts_from_bias_of_any_size(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
