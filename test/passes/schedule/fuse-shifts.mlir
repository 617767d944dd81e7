// RUN: ml2kokkos-opt %s --ml2k-fuse-elementwise | FileCheck %s

#id = affine_map<(a, b) -> (a, b)>
#column = affine_map<(a, b) -> (b)>
#turned = affine_map<(b, a) -> (a, b)>
#result = affine_map<(b, a) -> (b)>

// The variance of each column and the scaled element both compute the distance from the mean: it is in memory nowhere.
// CHECK-LABEL: func.func @variance
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<200x16xf32>, %[[MEAN:[a-z0-9]*]]: tensor<16xf32>
// CHECK: %[[VARIANCE:.*]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%[[X]], %[[MEAN]]
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[MEAN]], %[[VARIANCE]]
// CHECK: arith.subf
// CHECK-NOT: linalg.generic
func.func @variance(%x: tensor<200x16xf32>, %mean: tensor<16xf32>, %start: tensor<16xf32>) -> tensor<200x16xf32> {
  %e = tensor.empty() : tensor<200x16xf32>
  %d = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<200x16xf32>, tensor<16xf32>) outs(%e : tensor<200x16xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %1 = arith.subf %v, %m : f32
    linalg.yield %1 : f32
  } -> tensor<200x16xf32>
  %s = linalg.generic {indexing_maps = [#turned, #result], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<200x16xf32>) outs(%start : tensor<16xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %1 = arith.mulf %v, %v : f32
    %2 = arith.addf %1, %sum : f32
    linalg.yield %2 : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<200x16xf32>, tensor<16xf32>) outs(%e : tensor<200x16xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %1 = arith.mulf %v, %w : f32
    linalg.yield %1 : f32
  } -> tensor<200x16xf32>
  return %y : tensor<200x16xf32>
}
