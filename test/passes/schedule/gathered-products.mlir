// RUN: ml2kokkos-opt %s --ml2k-generalize --ml2k-raise-contractions | FileCheck %s

// Rows of a node for both ends of many edges, beside the edge's own: [h[from], h[to], e] * W
// CHECK-LABEL: func.func @messages
// CHECK-DAG:   %[[W:.*]] = nest.weight "w.gathered" : tensor<2x4xf32> = dense<{{\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00], [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]]>
// CHECK-DAG:   %[[OWN:.*]] = nest.weight "w.own" : tensor<1x2xf32> = dense<{{\[\[}}9.000000e+00, 1.000000e+01]]>
// CHECK:       %[[PRODUCTS:.*]] = nest.contract "contract" [m, n, k] ins(%arg0, {{.*}}outs(%{{.*}} : tensor<3x4xf32>)
// CHECK:       %[[SUMS:.*]] = nest.contract "contract" [m, n, k] ins(%arg3,
// CHECK:       linalg.generic {{.*}}ins(%[[SUMS]] : tensor<8x2xf32>)
// CHECK:         %[[FROM:.*]] = tensor.extract %arg1
// CHECK:         tensor.extract %[[PRODUCTS]][%[[FROM]], %{{.*}}]
// CHECK:         arith.addf
// CHECK:         %[[TO:.*]] = tensor.extract %arg2
// CHECK:         %[[SECOND:.*]] = arith.addi %{{.*}}, %c2
// CHECK:         tensor.extract %[[PRODUCTS]][%[[TO]], %[[SECOND]]]
// CHECK:         arith.addf
func.func @messages(%h: tensor<3x2xf32>, %from: tensor<8xindex>, %to: tensor<8xindex>, %e: tensor<8x1xf32>) -> tensor<8x2xf32> {
  %w = nest.weight "w" : tensor<5x2xf32> = dense<[[1.0, 3.0], [2.0, 4.0], [5.0, 7.0], [6.0, 8.0], [9.0, 10.0]]> : tensor<5x2xf32>
  %rows = tensor.empty() : tensor<8x2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%rows : tensor<8x2xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = tensor.extract %from[%i] : tensor<8xindex>
    %v = tensor.extract %h[%at, %j] : tensor<3x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%rows : tensor<8x2xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = tensor.extract %to[%i] : tensor<8xindex>
    %v = tensor.extract %h[%at, %j] : tensor<3x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  %x = tensor.concat dim(1) %a, %b, %e : (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x5xf32>, tensor<5x2xf32>) outs(%start : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// As many rows as there are: nothing is multiplied twice.
// CHECK-LABEL: func.func @permuted
// CHECK:       tensor.concat
// CHECK:       nest.contract
// CHECK-NOT:   nest.contract
func.func @permuted(%h: tensor<8x2xf32>, %from: tensor<8xindex>, %e: tensor<8x1xf32>) -> tensor<8x2xf32> {
  %w = nest.weight "w" : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32>
  %rows = tensor.empty() : tensor<8x2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%rows : tensor<8x2xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = tensor.extract %from[%i] : tensor<8xindex>
    %v = tensor.extract %h[%at, %j] : tensor<8x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  %x = tensor.concat dim(1) %a, %e : (tensor<8x2xf32>, tensor<8x1xf32>) -> tensor<8x3xf32>
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x3xf32>, tensor<3x2xf32>) outs(%start : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// Positions that the gathers have as inputs
// CHECK-LABEL: func.func @inputs
// CHECK:       %[[PRODUCTS:.*]] = nest.contract {{.*}}outs(%{{.*}} : tensor<3x4xf32>)
// CHECK:       linalg.generic {{.*}}ins(%{{.*}}, %arg1, %arg2 : tensor<8x2xf32>, tensor<8xi64>, tensor<8xi64>)
// CHECK-NEXT:  ^bb0(%{{.*}}: f32, %[[FROM:.*]]: i64, %[[TO:.*]]: i64, %{{.*}}: f32):
// CHECK:         %[[A:.*]] = arith.index_cast %[[FROM]]
// CHECK:         tensor.extract %[[PRODUCTS]][%[[A]], %{{.*}}]
// CHECK:         %[[B:.*]] = arith.index_cast %[[TO]]
// CHECK:         tensor.extract %[[PRODUCTS]][%[[B]], %{{.*}}]
func.func @inputs(%h: tensor<3x2xf32>, %from: tensor<8xi64>, %to: tensor<8xi64>, %e: tensor<8x1xf32>) -> tensor<8x2xf32> {
  %w = nest.weight "w" : tensor<5x2xf32> = dense<[[1.0, 3.0], [2.0, 4.0], [5.0, 7.0], [6.0, 8.0], [9.0, 10.0]]> : tensor<5x2xf32>
  %rows = tensor.empty() : tensor<8x2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%from : tensor<8xi64>) outs(%rows : tensor<8x2xf32>) {
  ^bb0(%in: i64, %out: f32):
    %at = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %h[%at, %j] : tensor<3x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%to : tensor<8xi64>) outs(%rows : tensor<8x2xf32>) {
  ^bb0(%in: i64, %out: f32):
    %at = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %h[%at, %j] : tensor<3x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  %x = tensor.concat dim(1) %a, %b, %e : (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x5xf32>, tensor<5x2xf32>) outs(%start : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
