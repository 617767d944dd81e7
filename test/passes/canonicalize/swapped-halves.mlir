// Halves that change places, as rotary position embeddings write them, are an index, not copies.
// RUN: ml2kokkos-opt %s --ml2k-idioms --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-DAG: #[[$ROLL:.*]] = affine_map<(d0, d1) -> ((d0 + 3) mod 7, d1)>
// CHECK-DAG: #[[$MAP:map[0-9]*]] = affine_map<(d0, d1) -> (d0, (d1 + 4) mod 8)>
// CHECK-LABEL: func.func @rotated
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$MAP]], {{.*}}ins(%[[X]] : tensor<?x8xf32>)
// CHECK: %[[NEG:.*]] = arith.negf %[[IN:.*]] : f32
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %c4
// CHECK: arith.select %[[FIRST]], %[[NEG]], %[[IN]]
// CHECK-NOT: tensor.concat
func.func @rotated(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %low = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %high = tensor.extract_slice %x[0, 4] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %neg = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%high : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x4xf32>
  %r = tensor.concat dim(1) %neg, %low : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// Parts of two tensors, or in their own order, stay a concatenation.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: tensor.concat
func.func @others(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x6xf32>) {
  %low = tensor.extract_slice %x[0, 0] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
  %high = tensor.extract_slice %y[0, 4] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
  %some = tensor.extract_slice %x[0, 4] [2, 2] [1, 1] : tensor<2x8xf32> to tensor<2x2xf32>
  %a = tensor.concat dim(1) %high, %low : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %b = tensor.concat dim(1) %some, %low : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x6xf32>
  return %a, %b : tensor<2x8xf32>, tensor<2x6xf32>
}

// An image that is rolled by three rows: parts of any length, but in a row, whose parts are copied.
// CHECK-LABEL: func.func @rolled
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$ROLL]], #{{.*}}], {{.*}} ins(%arg0 : tensor<7x4xf32>)
// CHECK: return %[[R]]
func.func @rolled(%x: tensor<7x4xf32>) -> tensor<7x4xf32> {
  %low = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<7x4xf32> to tensor<3x4xf32>
  %high = tensor.extract_slice %x[3, 0] [4, 4] [1, 1] : tensor<7x4xf32> to tensor<4x4xf32>
  %r = tensor.concat dim(0) %high, %low : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<7x4xf32>
  return %r : tensor<7x4xf32>
}

// CHECK-LABEL: func.func @rolled_in_a_row
// CHECK: tensor.concat
func.func @rolled_in_a_row(%x: tensor<4x7xf32>) -> tensor<4x7xf32> {
  %low = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x7xf32> to tensor<4x3xf32>
  %high = tensor.extract_slice %x[0, 3] [4, 4] [1, 1] : tensor<4x7xf32> to tensor<4x4xf32>
  %r = tensor.concat dim(1) %high, %low : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x7xf32>
  return %r : tensor<4x7xf32>
}

// Rows that were rolled are read where they lie by all that work on elements. A product wants them as a copy.
// CHECK-LABEL: func.func @stencil
// CHECK-SAME: %[[U:.*]]: tensor<7x5xf32>
// CHECK-NOT: tensor.concat
// CHECK: linalg.generic {indexing_maps = [#[[$ROLL]], #{{.*}}, #{{.*}}], {{.*}}ins(%[[U]], %[[U]]
// CHECK: linalg.generic {indexing_maps = [#[[$ROLL]], #{{.*}}], {{.*}}ins(%[[U]] :
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @stencil(%u: tensor<7x5xf32>) -> (tensor<7x5xf32>, tensor<7x5xf32>) {
  %head = tensor.extract_slice %u[0, 0] [3, 5] [1, 1] : tensor<7x5xf32> to tensor<3x5xf32>
  %rest = tensor.extract_slice %u[3, 0] [4, 5] [1, 1] : tensor<7x5xf32> to tensor<4x5xf32>
  %up = tensor.concat dim(0) %rest, %head : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%up, %u : tensor<7x5xf32>, tensor<7x5xf32>) outs(%e : tensor<7x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.subf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<7x5xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%up : tensor<7x5xf32>) outs(%e : tensor<7x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<7x5xf32>
  return %d, %s : tensor<7x5xf32>, tensor<7x5xf32>
}
