// RUN: ml2kokkos-opt %s --ml2k-idioms | FileCheck %s

#id = affine_map<(a, b) -> (a, b)>

// A partial rotary embedding: what is turned and what is passed on are one operation. The table ends where the turned
// part does, and no element behind it is asked for.
// CHECK: #[[$WRAPPED:.*]] = affine_map<(d0, d1) -> (d0, d1 mod 8)>
// CHECK-LABEL: func.func @partial
// CHECK-SAME: (%[[X:.*]]: tensor<4x32xf32>, %[[C:.*]]: tensor<4x8xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID:.*]], #[[$WRAPPED]], #[[ID]]]
// CHECK-SAME: ins(%[[X]], %[[C]]
// CHECK: ^bb0(%[[V:.*]]: f32, %[[T:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[P:.*]] = arith.mulf %[[V]], %[[T]]
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: %[[F:.*]] = arith.cmpi slt, %[[I]], %{{.*}}
// CHECK: arith.select %[[F]], %[[P]], %[[V]]
// CHECK-NOT: tensor.concat
func.func @partial(%x: tensor<4x32xf32>, %c: tensor<4x8xf32>) -> tensor<4x32xf32> {
  %a = tensor.extract_slice %x[0, 0] [4, 8] [1, 1] : tensor<4x32xf32> to tensor<4x8xf32>
  %b = tensor.extract_slice %x[0, 8] [4, 24] [1, 1] : tensor<4x32xf32> to tensor<4x24xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  %y = tensor.concat dim(1) %t, %b : (tensor<4x8xf32>, tensor<4x24xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// Not the rest of the same rows: a concatenation.
// CHECK-LABEL: func.func @other_part
// CHECK: tensor.concat
func.func @other_part(%x: tensor<4x32xf32>, %c: tensor<4x8xf32>) -> tensor<4x32xf32> {
  %b = tensor.extract_slice %x[0, 0] [4, 24] [1, 1] : tensor<4x32xf32> to tensor<4x24xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %p = arith.mulf %v, %v : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  %y = tensor.concat dim(1) %t, %b : (tensor<4x8xf32>, tensor<4x24xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
