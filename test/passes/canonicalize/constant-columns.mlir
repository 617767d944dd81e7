// concat(x, t) * W is x * V + t * v: no concatenation, and one row of W behind the product and its bias.
// RUN: ml2kokkos-opt %s --ml2k-fold-weights --ml2k-cleanup | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func.func @time
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x2xf32>
// CHECK-DAG: %[[T:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[BIAS:.*]] = nest.weight "layer.bias"
// CHECK-DAG: %[[V:.*]] = nest.weight "layer.weight" : tensor<2x2xf32> = dense<{{\[\[1.000000e\+00, 2.000000e\+00\], \[3.000000e\+00, 4.000000e\+00\]\]}}>
// CHECK-DAG: %[[ROW:.*]] = nest.weight "layer.2.weight" : tensor<2xf32> = dense<[5.000000e+00, 6.000000e+00]>
// CHECK-NOT: tensor.concat
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[V]] : tensor<?x2xf32>, tensor<2x2xf32>)
// CHECK: %[[BIASED:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[BIAS]]
// CHECK: linalg.generic {{.*}} ins(%[[BIASED]], %[[ROW]]
// CHECK: %[[TERM:.*]] = arith.mulf %{{.*}}, %[[T]]
// CHECK: arith.addf %{{.*}}, %[[TERM]]
func.func @time(%x: tensor<?x2xf32>, %t: tensor<?x1xf32>, %sums: tensor<?x2xf32>, %empty: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %w = nest.weight "layer.weight" : tensor<3x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %b = nest.weight "layer.bias" : tensor<2xf32> = dense<[7.0, 8.0]> : tensor<2xf32>
  %column = linalg.fill ins(%half : f32) outs(%t : tensor<?x1xf32>) -> tensor<?x1xf32>
  %joined = tensor.concat dim(1) %x, %column : (tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%sums : tensor<?x2xf32>) -> tensor<?x2xf32>
  %sum = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%joined, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%zeros : tensor<?x2xf32>) {
  ^bb0(%a: f32, %c: f32, %acc: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %b : tensor<?x2xf32>, tensor<2xf32>) outs(%empty : tensor<?x2xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// The weights are read as a whole, too: they would be stored twice.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK: tensor.concat
func.func @read_elsewhere(%x: tensor<4x2xf32>, %t: tensor<4x1xf32>, %sums: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %w = nest.weight "layer.weight" : tensor<3x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %column = linalg.fill ins(%half : f32) outs(%t : tensor<4x1xf32>) -> tensor<4x1xf32>
  %joined = tensor.concat dim(1) %x, %column : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%sums : tensor<4x2xf32>) -> tensor<4x2xf32>
  %sum = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%joined, %w : tensor<4x3xf32>, tensor<3x2xf32>) outs(%zeros : tensor<4x2xf32>) {
  ^bb0(%a: f32, %c: f32, %acc: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  return %sum, %w : tensor<4x2xf32>, tensor<3x2xf32>
}

// The number is known at run time only: two stages with the same weights.
// CHECK-LABEL: func.func @run_time
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x2xf32>, %[[T:[a-z0-9]*]]: tensor<1x1xf32>
// CHECK-DAG: %[[V:.*]] = nest.weight "layer.weight" : tensor<2x2xf32>
// CHECK-DAG: %[[ROW:.*]] = nest.weight "layer.2.weight" : tensor<2xf32> = dense<[5.000000e+00, 6.000000e+00]>
// CHECK-NOT: tensor.concat
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[V]]
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[ROW]], %[[T]] : tensor<4x2xf32>, tensor<2xf32>, tensor<1x1xf32>)
// CHECK: %[[TERM:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[TERM]]
func.func @run_time(%x: tensor<4x2xf32>, %t: tensor<1x1xf32>, %sums: tensor<4x2xf32>, %column: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "layer.weight" : tensor<3x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %times = linalg.generic {indexing_maps = [affine_map<(m, n) -> (0, n)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<1x1xf32>) outs(%column : tensor<4x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x1xf32>
  %joined = tensor.concat dim(1) %x, %times : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%sums : tensor<4x2xf32>) -> tensor<4x2xf32>
  %sum = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%joined, %w : tensor<4x3xf32>, tensor<3x2xf32>) outs(%zeros : tensor<4x2xf32>) {
  ^bb0(%a: f32, %c: f32, %acc: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  return %sum : tensor<4x2xf32>
}
