// RUN: ml2kokkos-opt %s --ml2k-concat-in-place --cse | FileCheck %s

// Dense blocks: the second concatenation takes the first as a whole, wherever it stands among the inputs.
// CHECK-LABEL: func.func @dense
// CHECK-SAME:  (%[[A:.*]]: tensor<1x4xf32>, %[[B:.*]]: tensor<1x2xf32>, %[[C:.*]]: tensor<1x3xf32>)
func.func @dense(%a: tensor<1x4xf32>, %b: tensor<1x2xf32>, %c: tensor<1x3xf32>) -> (tensor<1x6xf32>, tensor<1x9xf32>) {
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<1x6xf32>
  // CHECK: %[[A1:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0] [1, 4] [1, 1]
  // CHECK: %[[AB:.*]] = tensor.insert_slice %[[B]] into %[[A1]][0, 4] [1, 2] [1, 1]
  %ab = tensor.concat dim(1) %a, %b : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // CHECK: %[[F:.*]] = tensor.empty() : tensor<1x9xf32>
  // CHECK: %[[C1:.*]] = tensor.insert_slice %[[C]] into %[[F]][0, 0] [1, 3] [1, 1]
  // CHECK: %[[ALL:.*]] = tensor.insert_slice %[[AB]] into %[[C1]][0, 3] [1, 6] [1, 1]
  %cab = tensor.concat dim(1) %c, %a, %b : (tensor<1x3xf32>, tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x9xf32>
  // CHECK: return %[[AB]], %[[ALL]]
  return %ab, %cab : tensor<1x6xf32>, tensor<1x9xf32>
}

// Each level takes the one before.
// CHECK-LABEL: func.func @deep
// CHECK-SAME:  (%[[A:.*]]: tensor<1x4xf32>, %[[B:.*]]: tensor<1x2xf32>, %[[C:.*]]: tensor<1x3xf32>)
func.func @deep(%a: tensor<1x4xf32>, %b: tensor<1x2xf32>, %c: tensor<1x3xf32>)
    -> (tensor<1x6xf32>, tensor<1x9xf32>, tensor<1x11xf32>) {
  // CHECK: %[[AB:.*]] = tensor.insert_slice %[[B]] into
  // CHECK: %[[AB1:.*]] = tensor.insert_slice %[[AB]] into
  // CHECK: %[[ABC:.*]] = tensor.insert_slice %[[C]] into %[[AB1]][0, 6]
  // CHECK: %[[ABC1:.*]] = tensor.insert_slice %[[ABC]] into
  // CHECK: tensor.insert_slice %[[B]] into %[[ABC1]][0, 9]
  %ab = tensor.concat dim(1) %a, %b : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  %abc = tensor.concat dim(1) %a, %b, %c : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x9xf32>
  %abcb = tensor.concat dim(1) %a, %b, %c, %b
      : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x3xf32>, tensor<1x2xf32>) -> tensor<1x11xf32>
  return %ab, %abc, %abcb : tensor<1x6xf32>, tensor<1x9xf32>, tensor<1x11xf32>
}

// Along a run-time dimension the offsets are sums of sizes.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:  (%[[A:.*]]: tensor<?x4xf32>, %[[B:.*]]: tensor<?x4xf32>)
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[A]]
  // CHECK-DAG: %[[M:.*]] = tensor.dim %[[B]]
  // CHECK: %[[S:.*]] = arith.addi
  // CHECK: tensor.empty(%{{.*}}) : tensor<?x4xf32>
  // CHECK: tensor.insert_slice %[[B]] into %{{.*}}[%{{.*}}, 0] [%[[M]], 4] [1, 1]
  %r = tensor.concat dim(0) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
