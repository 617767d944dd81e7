// RUN: ml2kokkos-opt %s --ml2k-concat-in-place --cse | FileCheck %s
// RUN: ml2kokkos-opt %s --ml2k-concat-in-place --one-shot-bufferize --canonicalize | FileCheck %s --check-prefix=MEMORY

// Dense blocks: the second concatenation takes the first as a whole, wherever it stands among the inputs.
// CHECK-LABEL: func.func @dense
// CHECK-SAME:  (%[[A:.*]]: tensor<1x4xf32>, %[[B:.*]]: tensor<1x2xf32>, %[[C:.*]]: tensor<1x3xf32>)
// MEMORY-LABEL: func.func @dense
func.func @dense(%a: tensor<1x4xf32>, %b: tensor<1x2xf32>, %c: tensor<1x3xf32>) -> (tensor<1x6xf32>, tensor<1x9xf32>) {
  // CHECK: %[[AB:.*]] = tensor.concat dim(1) %[[A]], %[[B]]
  // One buffer, and a slice of it for each input.
  // MEMORY: %[[M:.*]] = memref.alloc(){{.*}} : memref<1x6xf32>
  // MEMORY: %[[S:.*]] = memref.subview %[[M]][0, 0] [1, 4] [1, 1]
  // MEMORY: memref.copy %{{.*}}, %[[S]]
  // MEMORY: %[[T:.*]] = memref.subview %[[M]][0, 4] [1, 2] [1, 1]
  // MEMORY: memref.copy %{{.*}}, %[[T]]
  %ab = tensor.concat dim(1) %a, %b : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // CHECK: %[[ALL:.*]] = tensor.concat dim(1) %[[C]], %[[AB]]
  %cab = tensor.concat dim(1) %c, %a, %b : (tensor<1x3xf32>, tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x9xf32>
  // CHECK: return %[[AB]], %[[ALL]]
  return %ab, %cab : tensor<1x6xf32>, tensor<1x9xf32>
}

// Each level takes the one before.
// CHECK-LABEL: func.func @deep
// CHECK-SAME:  (%[[A:.*]]: tensor<1x4xf32>, %[[B:.*]]: tensor<1x2xf32>, %[[C:.*]]: tensor<1x3xf32>)
func.func @deep(%a: tensor<1x4xf32>, %b: tensor<1x2xf32>, %c: tensor<1x3xf32>)
    -> (tensor<1x6xf32>, tensor<1x9xf32>, tensor<1x11xf32>) {
  // CHECK: %[[AB:.*]] = tensor.concat dim(1) %[[A]], %[[B]]
  // CHECK: %[[ABC:.*]] = tensor.concat dim(1) %[[AB]], %[[C]]
  // CHECK: tensor.concat dim(1) %[[ABC]], %[[B]]
  %ab = tensor.concat dim(1) %a, %b : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  %abc = tensor.concat dim(1) %a, %b, %c : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x9xf32>
  %abcb = tensor.concat dim(1) %a, %b, %c, %b
      : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x3xf32>, tensor<1x2xf32>) -> tensor<1x11xf32>
  return %ab, %abc, %abcb : tensor<1x6xf32>, tensor<1x9xf32>, tensor<1x11xf32>
}

// Many that only serve another one are part of that; along another axis they are not.
// CHECK-LABEL: func.func @flat
// CHECK-SAME:  (%[[A:.*]]: tensor<1x1xf32>, %[[D:.*]]: tensor<1x11xf32>)
func.func @flat(%a: tensor<1x1xf32>, %d: tensor<1x11xf32>) -> tensor<2x11xf32> {
  // CHECK-NEXT: %[[ROW:.*]] = tensor.concat dim(1) %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]] :
  // CHECK-NEXT: tensor.concat dim(0) %[[ROW]], %[[D]]
  %v2 = tensor.concat dim(1) %a, %a : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %v3 = tensor.concat dim(1) %v2, %a : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x3xf32>
  %v4 = tensor.concat dim(1) %v3, %a : (tensor<1x3xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %v5 = tensor.concat dim(1) %v4, %a : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x5xf32>
  %v6 = tensor.concat dim(1) %v5, %a : (tensor<1x5xf32>, tensor<1x1xf32>) -> tensor<1x6xf32>
  %v7 = tensor.concat dim(1) %v6, %a : (tensor<1x6xf32>, tensor<1x1xf32>) -> tensor<1x7xf32>
  %v8 = tensor.concat dim(1) %v7, %a : (tensor<1x7xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %v9 = tensor.concat dim(1) %v8, %a : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x9xf32>
  %v10 = tensor.concat dim(1) %v9, %a : (tensor<1x9xf32>, tensor<1x1xf32>) -> tensor<1x10xf32>
  %v11 = tensor.concat dim(1) %v10, %a : (tensor<1x10xf32>, tensor<1x1xf32>) -> tensor<1x11xf32>
  %all = tensor.concat dim(0) %v11, %d : (tensor<1x11xf32>, tensor<1x11xf32>) -> tensor<2x11xf32>
  return %all : tensor<2x11xf32>
}

// Along a run-time dimension the offsets are sums of sizes.
// MEMORY-LABEL: func.func @dynamic
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // MEMORY: %[[N:.*]] = memref.dim
  // MEMORY: %[[M:.*]] = memref.dim
  // MEMORY: %[[S:.*]] = arith.addi %[[N]], %[[M]]
  // MEMORY: memref.alloc(%[[S]]){{.*}} : memref<?x4xf32>
  // MEMORY: memref.subview %{{.*}}[%[[N]], 0]
  %r = tensor.concat dim(0) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
